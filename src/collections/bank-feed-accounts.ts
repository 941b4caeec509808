import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A bank account that is fed into the books. Fields beside `id`: not shown in the contract; give `schemas.bankFeedAccounts` to type them. */
export interface BankFeedAccount extends AccountingRecord {}

export const bankFeedAccounts = readOnly<BankFeedAccount>('bank-feed-accounts');
