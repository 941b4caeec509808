import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** An address of an account. Fields beside `id`: not shown in the contract; give `schemas.accountAddresses` to type them. */
export interface AccountAddress extends AccountingRecord {}

export const accountAddresses = readOnly<AccountAddress>('account-addresses');
