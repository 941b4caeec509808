import { checks } from './field-kinds.ts';
import type { FieldTable } from './record.ts';

/**
 * A check built from a table of fields: whether a record can be passed on as the same object. Zod decides: it is loaded
 * and called only for a record that fails this check. A property test keeps both consistent.
 *
 * @param fields Undefined: any fields with any values.
 */
export function quickCheck(fields: FieldTable | undefined): (record: Record<string, unknown>) => boolean {
  if (fields === undefined) return (record) => !Object.hasOwn(record, '__proto__');
  const checkOf = new Map(Object.entries(fields).map(([name, kind]) => [name, checks[kind]]));

  // The names and checks of the last record. The records of a list have the same fields in the same order, so that no
  // field has to be looked up.
  let names: readonly string[] = [];
  let checksInOrder: readonly (((value: unknown) => boolean) | undefined)[] = [];
  return (record) => {
    // It must be dropped.
    if (Object.hasOwn(record, '__proto__')) return false;

    let index = 0;
    // In the order of the record: engines read the next field of an object faster than one by name.
    for (const name in record) {
      if (names[index] !== name) {
        names = Object.keys(record);
        checksInOrder = names.map((name) => checkOf.get(name));
      }
      const check = checksInOrder[index++];
      const value = record[name];
      if (value === null || value === undefined) continue;
      if (check !== undefined && !check(value)) return false;
      // Most values are strings.
      if (typeof value !== 'string' && isInfinite(value)) return false;
    }
    return true;
  };
}

/**
 * Whether a value of a parsed JSON text is a number that JavaScript cannot hold, such as `1e400`, or holds one: it would be
 * written as null. So is a value of too many levels.
 */
export function isInfinite(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isInfinite(inner, levels - 1));
}

/** Deeper JSON overflows the stack of what reads, compares and writes records, and SQLite cannot read it. */
export const MOST_LEVELS = 500;

/** Whether a value is nested more deeply than a record may be. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}
