import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A bill of materials. Fields beside `id`: not shown in the contract; give `schemas.boms` to type them. */
export interface Bom extends AccountingRecord {}

export const boms = readOnly<Bom>('boms');
