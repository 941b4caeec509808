import { isMoney } from './money.ts';

/** A record of which only the identifier is documented (contract: Conventions, Identifier). Every field sent is kept. */
export interface AccountingRecord {
  /** The identifier. A string whose form the contract does not show. */
  id: string;
  [field: string]: unknown;
}

/** What the contract says of a field. `money` is a decimal string; the elements of an `array` are not shown. */
export type FieldKind = 'string' | 'money' | 'boolean' | 'integer' | 'number' | 'array';

/** The documented fields of a record beside `id`, by name. */
export type FieldTable = Readonly<Record<string, FieldKind>>;

/** Whether a value that is neither `null` nor `undefined` is of a kind. */
export function fits(kind: FieldKind, value: unknown): boolean {
  switch (kind) {
    case 'string':
      return typeof value === 'string';
    case 'money':
      return isMoney(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
  }
}
