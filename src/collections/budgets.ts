import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A budget. Only `id` is documented: pass `schemas.budgets` to type the other fields. */
export interface Budget extends AccountingRecord {}

export const budgets = readOnly<Budget>('budgets');
