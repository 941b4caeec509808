import type { AccountingRecord } from '../schemas/record.ts';
import { bankFeedConnections } from './bank-feed-connections.ts';
import { readOnly } from './define.ts';

/** A bank account with a bank feed. Only `id` is documented: pass `schemas.bankFeedAccounts` to type the other fields. */
export interface BankFeedAccount extends AccountingRecord {}

export const bankFeedAccounts = readOnly<BankFeedAccount>('bank-feed-accounts', {
  parent: bankFeedConnections,
});
