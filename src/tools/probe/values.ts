import type { Row } from '../list-body.ts';
import { idFromReference } from '../reference.ts';
import { type Finding, known, unknown } from './finding.ts';

/**
 * Whether fields without a value are sent as `null` or omitted. A record without a field that others have shows it
 * only if no record has a `null` at all.
 */
export function nullFieldsOf(rows: readonly Row[]): Finding<'sent' | 'omitted'> {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const withNull = names.find((name) => rows.some((row) => row[name] === null));
  if (withNull !== undefined) return known('sent', `${withNull} is null in some of ${rows.length} records`);

  const omitted = names.filter((name) => rows.some((row) => !Object.hasOwn(row, name)));
  return omitted.length === 0
    ? unknown(`every field has a value in each of ${rows.length} records`)
    : known('omitted', `no field is null, and ${omitted[0]} is missing from some of ${rows.length} records`);
}

/** Fields whose values are IRIs of other records. */
export function iriFieldsOf(rows: readonly Row[]): Finding<readonly string[]> {
  if (rows.length === 0) return unknown('there is no record to look at');

  const fields = new Set<string>();
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      const values: readonly unknown[] = Array.isArray(value) ? value : [value];
      if (!name.startsWith('@') && values.some((one) => idFromReference(one) !== undefined)) fields.add(name);
    }
  }
  return known([...fields].sort(), `in ${rows.length} records`);
}
