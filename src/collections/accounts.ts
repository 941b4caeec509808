import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** An account: a ledger account or relation of the company. Fields beside `id`: not shown in the contract; give `schemas.accounts` to type them. */
export interface Account extends AccountingRecord {}

export const accounts = readOnly<Account>('accounts');
