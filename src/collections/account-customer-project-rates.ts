import type { AccountingRecord } from '../schemas/record.ts';
import { accounts } from './accounts.ts';
import { readOnly } from './define.ts';

/** A rate agreed with a customer for a project. Only `id` is documented: pass `schemas.accountCustomerProjectRates` to type the other fields. */
export interface AccountCustomerProjectRate extends AccountingRecord {}

export const accountCustomerProjectRates = readOnly<AccountCustomerProjectRate>(
  'account-customer-project-rates',
  { parent: accounts },
);
