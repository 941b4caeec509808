import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A rate agreed with a customer for a project. Fields beside `id`: not shown in the contract; give `schemas.accountCustomerProjectRates` to type them. */
export interface AccountCustomerProjectRate extends AccountingRecord {}

export const accountCustomerProjectRates = readOnly<AccountCustomerProjectRate>(
  'account-customer-project-rates',
);
