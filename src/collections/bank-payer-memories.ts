import type { AccountingRecord } from '../schemas/record.ts';
import { readOnly } from './define.ts';

/** What is remembered of a payer on a bank statement. Fields beside `id`: not shown in the contract; give `schemas.bankPayerMemories` to type them. */
export interface BankPayerMemory extends AccountingRecord {}

export const bankPayerMemories = readOnly<BankPayerMemory>('bank-payer-memories');
