import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A setting of an account. Fields beside `id`: not shown in the contract; give `schemas.accountSettings` to type them. */
export interface AccountSetting extends AccountingRecord {}

export const accountSettings = readOnly<AccountSetting>('account-settings');
