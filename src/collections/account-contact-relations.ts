import type { AccountingRecord } from '../schemas/record.ts';
import { accounts } from './accounts.ts';
import { readOnly } from './define.ts';

/** A link between an account and a contact. Only `id` is documented: pass `schemas.accountContactRelations` to type the other fields. */
export interface AccountContactRelation extends AccountingRecord {}

export const accountContactRelations = readOnly<AccountContactRelation>('account-contact-relations', {
  parent: accounts,
});
