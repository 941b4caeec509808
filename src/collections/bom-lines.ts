import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A line of a bill of materials. Fields beside `id`: not shown in the contract; give `schemas.bomLines` to type them. */
export interface BomLine extends AccountingRecord {}

export const bomLines = readOnly<BomLine>('bom-lines');
