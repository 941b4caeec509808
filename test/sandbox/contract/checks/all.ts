import type { Check } from '../suite/check.ts';
import { authentication, errors } from './errors.ts';
import { filters } from './filters.ts';
import { general } from './general.ts';
import { limits } from './limits.ts';
import { products } from './products.ts';
import { reading } from './reading.ts';
import { creating, updating } from './writing.ts';

/** Every check, in the order of the specification. */
export const checks: readonly Check[] = [
  ...general,
  ...reading,
  ...filters,
  ...products,
  ...creating,
  ...updating,
  ...authentication,
  ...errors,
  ...limits,
];

/** Those of one collection, for what applies to all collections alike. */
export const sample: readonly Check[] = checks.filter(({ segment = 'bom-lines' }) => segment === 'bom-lines');
