import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A connection to a bank. Fields beside `id`: not shown in the contract; give `schemas.bankFeedConnections` to type them. */
export interface BankFeedConnection extends AccountingRecord {}

export const bankFeedConnections = readOnly<BankFeedConnection>('bank-feed-connections');
