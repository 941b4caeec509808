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

/** For each kind: whether a value that is neither `null` nor `undefined` fits. */
export const FIELD_CHECKS: Readonly<Record<FieldKind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  money: isMoney,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  array: Array.isArray,
};
