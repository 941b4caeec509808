import { type CollectionName, collections } from '../../collections/index.ts';
import { isMoney } from '../../schemas/money.ts';
import type { AccountingRecord } from '../../schemas/record.ts';
import type { Fields } from '../fixtures.ts';
import type { CollectionOptions } from '../options.ts';
import { atPrecision, formatTimestamp } from './timestamps.ts';

/** The two timestamps of a record, in ms since the epoch. */
export interface Times {
  readonly createdAt: number;
  /** What `updatedSince` compares, whether or not the record shows it. */
  readonly modifiedAt: number;
}

/** A stored record. Never changed: a write stores a new row. */
export interface Row extends Times {
  readonly id: string;
  readonly record: Readonly<AccountingRecord>;
}

/** Turns fields into a row, in the form in which the service stores and shows them. */
export type ToRow = (id: string, fields: Fields, times: Times) => Row;

/** Whether the records of a collection have `createdAt` and `updatedAt`. */
export function hasTimestamps(name: CollectionName, options: CollectionOptions): boolean {
  return 'updatedAt' in collections[name].fields || options.timestampsEverywhere;
}

/** The rows of a collection: every documented field, `null` if it is not set, and any others. */
export function rowsOf(name: CollectionName, options: CollectionOptions): ToRow {
  const { fields: kinds } = collections[name];
  const blank = Object.fromEntries(Object.keys(kinds).map((field) => [field, null]));
  const amounts = Object.keys(kinds).filter((field) => kinds[field] === 'money');
  const timed = hasTimestamps(name, options);

  return (id, fields, times) => {
    const createdAt = atPrecision(times.createdAt, options.timestamps);
    const modifiedAt = atPrecision(times.modifiedAt, options.timestamps);
    // The id comes last too: the fields may hold another one. That of a fixture may be a number.
    const record: AccountingRecord = { id, ...blank, ...fields };
    record.id = typeof fields.id === 'number' && String(fields.id) === id ? (fields.id as never) : id;
    for (const field of amounts) record[field] = storedAmount(record[field], options.moneyDigits);
    if (timed) {
      record.createdAt = formatTimestamp(createdAt, options);
      record.updatedAt = formatTimestamp(modifiedAt, options);
    }
    return { id, record, createdAt, modifiedAt };
  };
}

/** An amount, padded to the digits that the service stores. A fixture may hold another value, which stays as it is. */
function storedAmount(value: unknown, digits: CollectionOptions['moneyDigits']): unknown {
  if (digits === 'as-sent' || !isMoney(value)) return value;
  const [whole = '', fraction = ''] = value.split('.');
  const padded = fraction.padEnd(digits, '0');
  return padded === '' ? whole : `${whole}.${padded}`;
}
