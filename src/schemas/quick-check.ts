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
 * written as null.
 */
export function isInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;

  // A stack of its own, because JSON can be nested more deeply than the engine's allows.
  const open: object[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const inner of Object.values(next) as unknown[]) {
      if (typeof inner === 'number' && !Number.isFinite(inner)) return true;
      if (typeof inner === 'object' && inner !== null) open.push(inner);
    }
  }
  return false;
}
