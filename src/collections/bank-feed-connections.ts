import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A connection to a bank. Only `id` is documented: pass `schemas.bankFeedConnections` to type the other fields. */
export interface BankFeedConnection extends AccountingRecord {}

export const bankFeedConnections = readOnly<BankFeedConnection>('bank-feed-connections');
