import { type CollectionName, collections } from '../../collections/index.ts';
import { isMoney } from '../../schemas/money.ts';
import type { AccountingRecord } from '../../schemas/record.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { atPrecision, formatTimestamp } from './timestamps.ts';

/** Fields to store, from a request body, a test or a generator. */
export type Fields = Readonly<Record<string, unknown>>;

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
export function hasTimestamps(name: CollectionName, options: ResolvedSandboxOptions): boolean {
  return 'updatedAt' in collections[name].fields || options.timestampsEverywhere;
}

/** The rows of a collection: every documented field, `null` if it is not set, and any others. */
export function rowsOf(name: CollectionName, options: ResolvedSandboxOptions): ToRow {
  const { fields: kinds, segment } = collections[name];
  const blank = Object.fromEntries(Object.keys(kinds).map((field) => [field, null]));
  const amounts = Object.keys(kinds).filter((field) => kinds[field] === 'money');
  const timed = hasTimestamps(name, options);

  return (id, fields, times) => {
    const createdAt = atPrecision(times.createdAt, options.timestamps);
    const modifiedAt = atPrecision(times.modifiedAt, options.timestamps);
    // The id comes last too: the fields may hold another one.
    const record: AccountingRecord = { id, ...blank, ...fields };
    record.id = id;
    for (const field of amounts) {
      record[field] = storedAmount(record[field], `${segment}: ${field}`, options.moneyDigits);
    }
    if (timed) {
      record.createdAt = formatTimestamp(createdAt, options);
      record.updatedAt = formatTimestamp(modifiedAt, options);
    }
    return { id, record, createdAt, modifiedAt };
  };
}

/** An amount, padded to the digits that the service stores. Throws a TypeError unless it is a decimal string. */
function storedAmount(value: unknown, where: string, digits: ResolvedSandboxOptions['moneyDigits']): unknown {
  if (value === null) return null;
  if (!isMoney(value)) throw new TypeError(`${where} is money: a decimal string such as "129.0000".`);
  if (digits === 'as-sent') return value;
  const [whole = '', fraction = ''] = value.split('.');
  const padded = fraction.padEnd(digits, '0');
  return padded === '' ? whole : `${whole}.${padded}`;
}
