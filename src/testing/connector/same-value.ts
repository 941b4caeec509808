import { canonicalValue } from '../../schemas/field-kinds.ts';
import { isMoney, moneyForm } from '../../schemas/money.ts';
import type { Fields } from './timeline.ts';

/** A row of any database, its fields under names that all of them share: without case and `_`, such as `saleprice`. */
export function columnsOf(row: Fields): Fields {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [columnOf(name), value]));
}

export function columnOf(field: string): string {
  return field.toLowerCase().replaceAll('_', '');
}

/** Rows by their id, or by another key: more than one if something is there twice. */
export type Copy = ReadonlyMap<string, readonly Fields[]>;

export function copyOf(rows: readonly Fields[], keyOf = ({ id }: Fields) => String(id)): Copy {
  const copy = new Map<string, readonly Fields[]>();
  for (const row of rows.map(columnsOf)) copy.set(keyOf(row), [...(copy.get(keyOf(row)) ?? []), row]);
  return copy;
}

/** The first field of a record whose value differs in a row of a copy. Fields that the row lacks do not count. */
export function differingField(
  record: Fields,
  row: Fields,
  ignored: readonly string[] = ['id'],
): string | undefined {
  return Object.keys(record).find((field) => {
    const column = columnOf(field);
    const isCompared = !ignored.includes(field) && Object.hasOwn(row, column);
    return isCompared && !isSameValue(record[field], row[column]);
  });
}

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:/;
/** The forms that databases give to true and to false. */
const BOOLEANS: Readonly<Record<string, readonly string[]>> = {
  true: ['true', 't', '1'],
  false: ['false', 'f', '0'],
};
/** A binary number keeps this many decimal digits. */
const EXACT_DIGITS = 15;

/**
 * Whether a copy has the value that the service sent, in any form that databases give it: 1 for true, JSON for an
 * array, a Date for a timestamp, `12.5` for `12.5000`. An amount must have every digit.
 */
export function isSameValue(sent: unknown, copied: unknown): boolean {
  if ((sent ?? null) === (copied ?? null)) return true;
  if (sent == null || copied == null) return false;
  switch (typeof sent) {
    case 'boolean':
      return BOOLEANS[String(sent)]?.includes(String(copied).toLowerCase()) === true;
    case 'number':
      // An empty text is no number, although JavaScript makes 0 of it.
      return typeof copied !== 'object' && `${copied}`.trim() !== '' && Number(copied) === sent;
    case 'string':
      return isSameText(sent, copied);
    default:
      return jsonOf(sent) === jsonOf(copied);
  }
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?$/;

function isSameText(sent: string, copied: unknown): boolean {
  if (sent.includes('.') && isMoney(sent)) {
    const text = String(copied);
    if (typeof copied !== 'number') return isMoney(text) && moneyForm(text) === moneyForm(sent);
    const digits = sent.replaceAll(/\D/g, '').replaceAll(/^0+|0+$/g, '');
    return Number(sent) === copied && digits.length <= EXACT_DIGITS;
  }
  if (TIMESTAMP.test(sent) && (typeof copied === 'string' || copied instanceof Date)) {
    // A database may keep UTC without saying so. A Date of JavaScript would take it for the time of this machine.
    const text =
      typeof copied === 'string' && LOCAL_TIME.test(copied) ? `${copied.replace(' ', 'T')}Z` : copied;
    return new Date(text).getTime() === Date.parse(sent);
  }
  // The id of another record, in a column of integers.
  if (Number.isSafeInteger(copied) || typeof copied === 'bigint') return String(copied) === sent;
  return false;
}

/** A value, or the JSON of one, as JSON with the members of objects in order: databases sort them. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(canonicalValue(undefined, typeof value === 'string' ? JSON.parse(value) : value));
  } catch {
    return undefined;
  }
}
