import type { AccountingRecord } from '../schemas/record.ts';
import { accounts } from './accounts.ts';
import { readOnly } from './define.ts';

/** A link between a contact of an account and a shopping store. Only `id` is documented: pass `schemas.accountContactShoppingStores` to type the other fields. */
export interface AccountContactShoppingStore extends AccountingRecord {}

export const accountContactShoppingStores = readOnly<AccountContactShoppingStore>(
  'account-contact-shopping-stores',
  { parent: accounts },
);
