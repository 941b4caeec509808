import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A budget. Fields beside `id`: not shown in the contract; give `schemas.budgets` to type them. */
export interface Budget extends AccountingRecord {}

export const budgets = readOnly<Budget>('budgets');
