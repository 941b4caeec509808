import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** An account: a customer or supplier, as far as is known. Only `id` is documented: pass `schemas.accounts` to type the other fields. */
export interface Account extends AccountingRecord {}

export const accounts = readOnly<Account>('accounts');
