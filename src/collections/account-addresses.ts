import type { AccountingRecord } from '../schemas/record.ts';
import { accounts } from './accounts.ts';
import { readOnly } from './define.ts';

/** An address of an account. Only `id` is documented: pass `schemas.accountAddresses` to type the other fields. */
export interface AccountAddress extends AccountingRecord {}

export const accountAddresses = readOnly<AccountAddress>('account-addresses', { parent: accounts });
