import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** A link between an account and a contact. Fields beside `id`: not shown in the contract; give `schemas.accountContactRelations` to type them. */
export interface AccountContactRelation extends AccountingRecord {}

export const accountContactRelations = readOnly<AccountContactRelation>('account-contact-relations');
