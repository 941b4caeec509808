import { type CollectionName, collections } from '../../collections/index.ts';
import { isMoney } from '../../schemas/money.ts';
import type { AccountingRecord } from '../../schemas/record.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Row } from './row.ts';
import { atPrecision, showInstant } from './timestamps.ts';

/** Fields to store, as read from a body or given by an author. */
export type Fields = Readonly<Record<string, unknown>>;

/** The two instants of a record; ms since the epoch. */
export interface Times {
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** Turns fields into a row, in the form in which the service stores and shows it. */
export type Shape = (id: string, fields: Fields, times: Times) => Row;

/** Whether the records of a collection carry `createdAt` and `updatedAt`. */
export function showsTimes(name: CollectionName, options: ResolvedSandboxOptions): boolean {
  return 'updatedAt' in collections[name].fields || options.timestampsEverywhere;
}

/** An amount, filled up to the digits of the books. Throws a TypeError where it is no decimal string. */
function amount(value: unknown, where: string, digits: ResolvedSandboxOptions['moneyDigits']): unknown {
  if (value === null) return null;
  if (!isMoney(value)) throw new TypeError(`${where} is money: a decimal string such as "129.0000".`);
  if (digits === 'as-sent') return value;
  const [whole = '', fraction = ''] = value.split('.');
  const filled = fraction.padEnd(digits, '0');
  return filled === '' ? whole : `${whole}.${filled}`;
}

/** The shape of a collection: every documented field, `null` where it is not set, and any others. */
export function shapeOf(name: CollectionName, options: ResolvedSandboxOptions): Shape {
  const { fields: kinds, segment } = collections[name];
  const blank = Object.fromEntries(Object.keys(kinds).map((field) => [field, null]));
  const amounts = Object.keys(kinds).filter((field) => kinds[field] === 'money');
  const timed = showsTimes(name, options);

  return (id, fields, times) => {
    const createdAt = atPrecision(times.createdAt, options.timestamps);
    const modifiedAt = atPrecision(times.modifiedAt, options.timestamps);
    const record: AccountingRecord = { id, ...blank, ...fields };
    // Whatever the fields say: a record is known by the id it is stored under.
    record.id = id;
    for (const field of amounts) {
      record[field] = amount(record[field], `${segment}: ${field}`, options.moneyDigits);
    }
    if (timed) {
      record.createdAt = showInstant(createdAt, options);
      record.updatedAt = showInstant(modifiedAt, options);
    }
    return { id, record, createdAt, modifiedAt };
  };
}
