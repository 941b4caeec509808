import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';
import { products } from './products.ts';

/** A bill of materials. Only `id` is documented: pass `schemas.boms` to type the other fields. */
export interface Bom extends AccountingRecord {}

export const boms = readOnly<Bom>('boms', { parent: products });
