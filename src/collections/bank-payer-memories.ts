import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** What the service remembers of a payer on bank statements. Only `id` is documented: pass `schemas.bankPayerMemories` to type the other fields. */
export interface BankPayerMemory extends AccountingRecord {}

export const bankPayerMemories = readOnly<BankPayerMemory>('bank-payer-memories');
