import type { Fields } from './timeline.ts';

/** The first field of a copied record whose value differs from the service's. Fields that the copy lacks do not count. */
export function differingField(record: Fields, copied: Fields): string | undefined {
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

const DECIMAL = /^-?\d+\.\d+$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:/;
/** A binary number keeps this many decimal digits. */
const EXACT_DIGITS = 15;

/**
 * Whether a copy has the value that the service sent, in any form that databases give it: 1 for true, JSON for an
 * array, a Date for a timestamp, `12.5` for `12.5000`. An amount must have every digit.
 */
export function isSameValue(sent: unknown, copied: unknown): boolean {
  if (sent === copied) return true;
  if (sent === null || sent === undefined) return copied === null || copied === undefined;
  if (copied === null || copied === undefined) return false;
  switch (typeof sent) {
    case 'boolean':
      return ['true', 't', '1'].includes(String(copied).toLowerCase()) === sent && isBoolean(copied);
    case 'number':
      return ['number', 'string', 'bigint'].includes(typeof copied) && Number(copied) === sent;
    case 'string':
      return isSameText(sent, copied);
    default:
      return isSameJson(sent, copied);
  }
}

function isBoolean(value: unknown): boolean {
  return ['true', 'false', 't', 'f', '1', '0'].includes(String(value).toLowerCase());
}

function isSameText(sent: string, copied: unknown): boolean {
  if (DECIMAL.test(sent)) {
    const digits = canonical(sent);
    if (typeof copied !== 'number') return canonical(String(copied)) === digits;
    return Number(sent) === copied && digits.replaceAll(/\D/g, '').replace(/^0+/, '').length <= EXACT_DIGITS;
  }
  if (TIMESTAMP.test(sent) && (typeof copied === 'string' || copied instanceof Date)) {
    return new Date(copied).getTime() === Date.parse(sent);
  }
  return false;
}

/** An amount without zeros that do not count. */
function canonical(amount: string): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)0*(\d*)\.?(\d*?)0*$/.exec(amount) ?? [];
  if (whole === '' && fraction === '') return /^-?[0.]+$/.test(amount) ? '0' : amount;
  return `${sign}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}

function isSameJson(sent: unknown, copied: unknown): boolean {
  if (typeof copied !== 'string') return sorted(sent) === sorted(copied);
  try {
    return sorted(sent) === sorted(JSON.parse(copied));
  } catch {
    return false;
  }
}

/** As JSON with the names of objects in order: databases sort them. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
