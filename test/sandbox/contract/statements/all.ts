import { endpoints } from './endpoints.ts';
import type { Sections } from './entry.ts';
import { EVERY_FIELD, SET_FIELD } from './names.ts';
import { resources } from './resources.ts';
import { rules } from './rules.ts';

/** The whole contract, statement by statement, in its order. */
export const coverage: Sections = { ...resources, ...endpoints, ...rules };

/** The rows of the product table: one check looks at every field's presence and type, one sets them all. */
export const PRODUCT_ROW: readonly string[] = [EVERY_FIELD, SET_FIELD];
