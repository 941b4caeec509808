import { documentedFields } from '../collections/index.ts';
import type { FieldKind } from '../schemas/field-kinds.ts';

/** Why the view may be replaced: its definition has this comment. */
export const MARK = '/* accounting-data-sdk */';

/** A name as SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

interface View {
  readonly name: string;
  readonly table: string;
  readonly collection: string;
  /** In the order of the columns. */
  readonly fields: readonly string[];
}

/** The statement that creates the view of a collection: `tenant`, `id`, and a column for each field. */
export function viewStatement({ name, table, collection, fields }: View): string {
  const kinds = documentedFields(collection);
  const kindOf = (field: string) => (Object.hasOwn(kinds, field) ? kinds[field] : undefined);
  const columns = columnNames(fields).map(
    (column, index) =>
      `${valueIn(fields[index] ?? '', kindOf(fields[index] ?? ''))} AS ${identifier(column)}`,
  );
  // SQLite reads no JSON of more than 1,000 levels: one such record would fail every query.
  const rows = `SELECT tenant, id, iif(json_valid(body), body, NULL) AS body FROM ${identifier(table)} WHERE collection = ${literal(collection)}`;
  return `CREATE VIEW ${identifier(name)} AS ${MARK} SELECT ${['tenant', 'id', ...columns].join(', ')} FROM (${rows})`;
}

/** SQLite compares names without the case of ASCII letters. */
function columnNames(fields: readonly string[]): readonly string[] {
  const taken = new Set(['tenant', 'id']);
  const lower = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return fields.map((field) => {
    let column = field;
    for (let number = 2; taken.has(lower(column)); number++) column = `${field}_${number}`;
    taken.add(lower(column));
    return column;
  });
}

/** The types of JSON that the value of a field may have; the value of any other is null in the view. */
const JSON_TYPES: Partial<Record<FieldKind, readonly string[]>> = {
  boolean: ['true', 'false'],
  integer: ['integer'],
  number: ['integer', 'real'],
  array: ['array'],
};

/**
 * DuckDB parses the definition of a view before SQLite runs it. There `->>` binds more loosely than a comparison, and
 * `NOT GLOB` and `trim` do not survive.
 */
function valueIn(field: string, kind: FieldKind | undefined): string {
  // In a path, SQLite compares such a name with the JSON text instead of the name that it stands for.
  const value = /["\\\p{Cc}]/u.test(field)
    ? `(SELECT value FROM json_each(body) WHERE key = ${literal(field)})`
    : `(body ->> ${literal(`$."${field}"`)})`;
  if (kind === undefined || kind === 'string' || kind === 'timestamp') return value;

  const type = `json_type(body, ${literal(`$."${field}"`)})`;
  if (kind === 'money') {
    const isDecimal = `ltrim(${value}, '-.0123456789') = '' AND rtrim(${value}, '0123456789') <> ${value}`;
    return `CASE WHEN ${type} = 'text' AND ${isDecimal} THEN ${value} END`;
  }
  const types = (JSON_TYPES[kind] ?? []).map(literal).join(', ');
  return `CASE WHEN ${type} IN (${types}) THEN ${value} END`;
}
