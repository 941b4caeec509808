import { FIELD_CHECKS, type FieldTable } from './record.ts';

/**
 * A check built from a table of fields: whether a record can be passed on as the same object. Zod, which is the
 * judge, is loaded and asked only about a record that fails it; a property test holds the two to the same answers.
 */
export function quickCheck(fields: FieldTable): (record: Record<string, unknown>) => boolean {
  const checks = new Map(Object.entries(fields).map(([name, kind]) => [name, FIELD_CHECKS[kind]]));
  return (record) => {
    // An own `__proto__` is nobody's field: Zod drops it.
    if (Object.hasOwn(record, '__proto__')) return false;
    if (checks.size === 0) return true;

    // By the record's own order: engines read the next field of an object faster than one that is asked for by name.
    for (const name in record) {
      const value = record[name];
      if (value !== undefined && value !== null && checks.get(name)?.(value) === false) return false;
    }
    return true;
  };
}
