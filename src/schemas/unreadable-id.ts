import { idOf, isObject } from './validate.ts';

/** Members that services have in place of `id`. */
const OTHER_NAME = /^[@_]?(?:id|uuid|guid|key)$/i;

/** Why the id of a row cannot be read, for messages; undefined if it can. */
export function unreadableId(row: unknown): string | undefined {
  if (idOf(row) !== undefined) return undefined;
  if (!isObject(row)) return `the row is ${formOf(row)}`;
  if (Object.hasOwn(row, 'id')) return `id is ${formOf(row.id)}`;
  const other = Object.keys(row).find((name) => OTHER_NAME.test(name));
  return other === undefined ? 'id is missing' : `id is missing, but there is ${JSON.stringify(other)}`;
}

function formOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (value === '') return 'an empty string';
  if (Array.isArray(value)) return 'an array';
  if (typeof value !== 'number') return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
  return numberId(value);
}

/** What an id is that came as a number. Only some can be read, with an option. */
export function numberId(value: number): string {
  if (Number.isSafeInteger(value))
    return `the JSON number ${value}; for integer ids, pass ids: 'numbers' to createClient`;
  return Number.isFinite(value) && !Number.isInteger(value)
    ? `the JSON number ${value}`
    : 'a JSON number above 2^53, whose digits JavaScript has lost: only a string can hold it';
}

/** With `ids: 'numbers'`: an integer id becomes its decimal string, in the row itself. */
export function withStringId(row: unknown): void {
  if (isObject(row) && Number.isSafeInteger(row.id)) row.id = String(row.id);
}
