import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A line of a budget. Fields beside `id`: not shown in the contract; give `schemas.budgetLines` to type them. */
export interface BudgetLine extends AccountingRecord {}

export const budgetLines = readOnly<BudgetLine>('budget-lines');
