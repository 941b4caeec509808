import { canonicalValue } from '../../schemas/field-kinds.ts';
import { isMoney, moneyForm } from '../../schemas/money.ts';
import type { Fields } from './timeline.ts';

/** The first field of a copied record whose value differs from the service's. Fields that the copy lacks do not count. */
export function differingField(record: Fields, copied: Fields): string | undefined {
  if (record === copied) return undefined;
  const columns = new Map(Object.entries(copied).map(([name, value]) => [columnOf(name), value]));
  return Object.keys(record).find((field) => {
    const column = columnOf(field);
    return column !== 'id' && columns.has(column) && !isSameValue(record[field], columns.get(column));
  });
}

/** The value of a field in a copy. */
export function copiedValue(copied: Fields, field: string): unknown {
  return Object.entries(copied).find(([name]) => columnOf(name) === columnOf(field))?.[1];
}

/** Databases fold the case of names, and many schemas write `sale_price`. */
function columnOf(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
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
      return typeof copied !== 'object' && Number(copied) === sent;
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
