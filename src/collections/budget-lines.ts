import type { AccountingRecord } from '../schemas/record.ts';
import { budgets } from './budgets.ts';
import { readOnly } from './define.ts';

/** A line of a budget. Only `id` is documented: pass `schemas.budgetLines` to type the other fields. */
export interface BudgetLine extends AccountingRecord {}

export const budgetLines = readOnly<BudgetLine>('budget-lines', { parent: budgets });
