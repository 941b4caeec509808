import { FIELD_CHECKS, type FieldTable } from './record.ts';

/**
 * A check built from a table of fields: whether a record can be passed on as the same object. Zod, which is the
 * judge, is loaded and asked only about a record that fails it; a property test holds the two to the same answers.
 */
export function quickCheck(fields: FieldTable): (record: Record<string, unknown>) => boolean {
  const checks = Object.entries(fields).map(([name, kind]) => ({ name, fits: FIELD_CHECKS[kind] }));
  return (record) => {
    // An own `__proto__` is nobody's field: Zod drops it.
    if (Object.hasOwn(record, '__proto__')) return false;
    for (const { name, fits } of checks) {
      const value = record[name];
      if (value !== undefined && value !== null && !fits(value)) return false;
    }
    return true;
  };
}
