import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A link between a contact of an account and a shopping store. Fields beside `id`: not shown in the contract; give `schemas.accountContactShoppingStores` to type them. */
export interface AccountContactShoppingStore extends AccountingRecord {}

export const accountContactShoppingStores = readOnly<AccountContactShoppingStore>(
  'account-contact-shopping-stores',
);
