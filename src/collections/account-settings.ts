import type { AccountingRecord } from '../schemas/record.ts';
import { accounts } from './accounts.ts';
import { readOnly } from './define.ts';

/** A setting of an account. Only `id` is documented: pass `schemas.accountSettings` to type the other fields. */
export interface AccountSetting extends AccountingRecord {}

export const accountSettings = readOnly<AccountSetting>('account-settings', { parent: accounts });
