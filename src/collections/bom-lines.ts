import type { AccountingRecord } from '../schemas/record.ts';
import { boms } from './boms.ts';
import { readOnly } from './define.ts';

/** A line of a bill of materials. Only `id` is documented: pass `schemas.bomLines` to type the other fields. */
export interface BomLine extends AccountingRecord {}

export const bomLines = readOnly<BomLine>('bom-lines', { parent: boms });
