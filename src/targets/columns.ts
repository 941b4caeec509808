import { type FieldKind, fieldKinds, type JsonType } from '../schemas/field-kinds.ts';

/** What is known of a field: its kind, or that it has texts that are too long for an index. */
export type ColumnKind = FieldKind | 'long';

/** Fields of a collection that were seen, or that the documentation or a schema names. One without a kind is text. */
export type Fields = ReadonlyMap<string, ColumnKind | undefined>;

/** A column of a view: its name and its value, as an expression on the column `body`. */
interface Column {
  readonly name: string;
  readonly expression: string;
}

/** The most columns of a view. PostgreSQL and SQLite have limits of 1,600 and 2,000; `body` has every field anyway. */
export const MAX_COLUMNS = 1_500;

/** PostgreSQL cuts a name at 63 bytes, and two could become one. Leaves space for `_1500`. */
const MAX_NAME_BYTES = 58;

/** Columns of the table of records that every view has, before those of the fields. */
export const OWN_COLUMNS = ['tenant', 'id', 'synced_at'];

/** They, and names that SQLite replaces by others: fields of these names get `_2`. */
const TAKEN = [...OWN_COLUMNS, 'true', 'false'];

/** How a database writes the parts of a column's expression. */
export interface ColumnSyntax {
  /** The JSON type of a field, its value as text, and its JSON text. */
  parts(field: string): FieldParts;
  /** What its `type` says for each type of JSON. */
  readonly types: Readonly<Record<JsonType, readonly string[]>>;
  readonly kinds: Readonly<Record<FieldKind, KindColumns>>;
  /** The value of a field of no kind as text. */
  text(parts: FieldParts): string;
  /** The text of a field with an index, or of one that has lost it because its texts are too long. */
  indexed(field: string, isLong: boolean): string;
}

/** The columns of a field of a kind. */
interface KindColumns {
  /** The types of JSON that it has, if they are others than that of the kind. */
  readonly json?: readonly JsonType[];
  /** The value, if it is of the kind's JSON type. */
  value(parts: FieldParts): string;
  /** A second column, if the value loses something. */
  readonly beside?: { readonly suffix: string; value(parts: FieldParts): string };
}

const asItIs: KindColumns = { value: ({ value }) => value };

interface FieldParts {
  readonly type: string;
  readonly value: string;
  readonly json: string;
}

/** The most fields with an index: each costs time for every record that is written. */
const MAX_INDEXED = 30;

/** Whether a field names another record, such as `accountId`. */
export function isReference(name: string, kind: ColumnKind | undefined): boolean {
  return (kind ?? 'string') === 'string' && /^[A-Za-z]\w{0,40}(?:Id|_id)$/.test(name);
}

/** The fields that name other records. */
export function referencesIn(fields: Fields): readonly string[] {
  return [...fields].flatMap(([name, kind]) => (isReference(name, kind) ? [name] : []));
}

/** Those of them that are indexed, so that joins by them take no time. */
export function indexedFields(fields: Fields): readonly string[] {
  return referencesIn(fields).slice(0, MAX_INDEXED);
}

/**
 * The columns of a view, in the order of the fields. A value of another type than that of its column is null there;
 * indexed fields are text.
 */
export function columnsOf(
  fields: Fields,
  syntax: ColumnSyntax,
  indexed: ReadonlySet<string>,
): readonly Column[] {
  const taken = new Set(TAKEN);
  const columns: Column[] = [];
  for (const [name, kind] of fields) {
    const column = columnName(name, taken);
    if (kind === 'long' || indexed.has(name)) {
      columns.push({ name: column, expression: syntax.indexed(name, kind === 'long') });
      continue;
    }
    const parts = syntax.parts(name);
    columns.push({ name: column, expression: expressionOf(kind, parts, syntax) });
    const beside = kind && syntax.kinds[kind].beside;
    if (beside === undefined) continue;
    columns.push({ name: columnName(`${name}${beside.suffix}`, taken), expression: beside.value(parts) });
  }
  return columns.slice(0, MAX_COLUMNS);
}

function expressionOf(kind: FieldKind | undefined, parts: FieldParts, syntax: ColumnSyntax): string {
  if (kind === undefined) return syntax.text(parts);
  const { json = [fieldKinds[kind].json], value } = syntax.kinds[kind];
  const types = json.flatMap((type) => syntax.types[type]).map((type) => literal(type));
  return `CASE WHEN ${parts.type} IN (${types.join(', ')}) THEN ${value(parts)} END`;
}

/** Timestamps that a collection may have whatever its documentation says. */
const TIMESTAMP_FIELDS = ['createdAt', 'updatedAt'];

/** Whether a timestamp of a record is neither null nor a moment. */
export function hasUnreadableDate(syntax: ColumnSyntax): string {
  const unreadable = TIMESTAMP_FIELDS.map((name) => {
    const parts = syntax.parts(name);
    return `${parts.type} <> 'null' AND ${expressionOf('timestamp', parts, syntax)} IS NULL`;
  });
  return `(${unreadable.join(' OR ')}) IS TRUE`;
}

/** A day and a time with its offset, or seconds or milliseconds since 1970. That the day exists, the database knows. */
const MOMENT =
  /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?(?:[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)$|^\d{9,13}$/;

/** The first value of a record's timestamps that is neither null nor a moment. */
export function unreadableDateIn(record: object, name: string): unknown {
  const value = (record as Readonly<Record<string, unknown>>)[name] ?? undefined;
  return value === undefined || MOMENT.test(String(value)) ? undefined : value;
}

/** A name that no other column has. Databases compare names without the case of ASCII letters. */
function columnName(field: string, taken: Set<string>): string {
  // No name contains NUL.
  const base = beginning(field.replaceAll('\0', '\ufffd')) || '_';
  const lower = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  let name = base;
  for (let number = 2; taken.has(lower(name)); number++) name = `${base}_${number}`;
  taken.add(lower(name));
  return name;
}

/** As many whole characters as a name has bytes for. */
function beginning(text: string): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(MAX_NAME_BYTES));
  return text.slice(0, read);
}

const DIGITS = `'0123456789'`;

/** An amount without its digits at the end is empty, `-`, or an integer with a point. */
const IS_AMOUNT_IN_SQLITE = onOneLine`CASE WHEN head IN ('', '-') THEN length(v) - length(head) BETWEEN 1 AND 18
  ELSE length(v) - length(head) BETWEEN 1 AND 8 AND length(head) - length(whole) = 1
    AND rtrim(whole, ${DIGITS}) IN ('', '-') AND length(whole) - length(rtrim(whole, ${DIGITS})) BETWEEN 1 AND 18 END`;

/**
 * In every SQLite since 3.31: an older one cannot open the file of a newer one whose views use `->>`. DuckDB parses the
 * definition of a view before SQLite runs it. There `GLOB`, `trim` and `count(*)` do not survive, and `date` has one
 * argument.
 */
export const sqliteColumns: ColumnSyntax = {
  parts(field) {
    // In a path, SQLite compares such a name with the JSON text instead of the name that it stands for.
    if (/["\\\p{Cc}]/u.test(field)) {
      const member = (what: string) =>
        `(SELECT ${what} FROM json_each(body) WHERE key = ${literal(field, ' || char(0) || ')})`;
      const json = member(`CASE WHEN type IN ('true', 'false') THEN type ELSE CAST(value AS TEXT) END`);
      return { type: member('type'), value: member('value'), json };
    }
    const path = literal(`$."${field}"`);
    return {
      type: `json_type(body, ${path})`,
      value: `json_extract(body, ${path})`,
      // A list of values keeps the JSON of each: [true,null].
      json: `substr(rtrim(json_extract(body, ${path}, '$[0]'), ',nul]'), 2)`,
    };
  },
  types: {
    string: ['text'],
    boolean: ['true', 'false'],
    integer: ['integer'],
    number: ['integer', 'real'],
    array: ['array'],
  },
  kinds: {
    string: asItIs,
    boolean: asItIs,
    integer: {
      value: ({ value }) =>
        `CASE WHEN ${value} BETWEEN -999999999999999999 AND 999999999999999999 THEN ${value} END`,
    },
    number: asItIs,
    array: asItIs,
    money: {
      value: ({ value }) => `CAST(${amountIn(value)} AS REAL)`,
      beside: {
        suffix: 'Text',
        value: ({ type, value }) => `CASE WHEN ${type} = 'text' THEN ${amountIn(value)} END`,
      },
    },
    timestamp: {
      json: ['string', 'integer'],
      // `zone` is what SQLite reads, `middle` what stands between minutes and offset, of which milliseconds are kept: none
      // is rounded up. `+0 days` turns a day that the month does not have into one of the next month.
      value: ({ value }) => onOneLine`(SELECT CASE
  WHEN rtrim(v, ${DIGITS}) = '' AND length(v) BETWEEN 9 AND 13
    THEN strftime('%Y-%m-%dT%H:%M:%fZ', v / CASE WHEN length(v) > 11 THEN 1000.0 ELSE 1 END, 'unixepoch')
  WHEN glob('[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9][Tt ][0-2][0-9]:[0-5][0-9]*', v) AND v >= '0001'
    AND strftime('%Y-%m-%d', substr(v, 1, 10), '+0 days') = substr(v, 1, 10) AND substr(v, 12, 2) < '24'
    AND (middle = '' OR glob(':[0-5][0-9]', middle) OR glob(':[0-5][0-9].[0-9]*', middle)
      AND rtrim(middle, ${DIGITS}) = substr(middle, 1, 4))
  THEN strftime('%Y-%m-%dT%H:%M:%fZ', substr(v, 1, 10) || 'T' || substr(v, 12, 5) || substr(middle, 1, 7) || zone) END
FROM (SELECT v, zone, substr(v, 17, length(v) - 16 - cut - (substr(v, -cut - 1, 1) = ' ')) AS middle
FROM (SELECT v, CASE cut WHEN 1 THEN 'Z' WHEN 3 THEN substr(v, -3) || ':00' WHEN 5 THEN substr(v, -5, 3) || ':' || substr(v, -2)
  ELSE substr(v, -6) END AS zone, cut
FROM (SELECT v, CASE WHEN glob('*[Zz]', v) THEN 1 WHEN glob('*[+-][0-1][0-9]:[0-5][0-9]', v) THEN 6
  WHEN glob('*[+-][0-1][0-9][0-5][0-9]', v) THEN 5 WHEN glob('*[+-][0-1][0-9]', v) THEN 3 END AS cut
FROM (SELECT CASE WHEN substr(v, -3) IN ('UTC', 'GMT') THEN substr(v, 1, length(v) - 3) || 'Z' ELSE v END AS v
FROM (SELECT ${value} AS v))))))`,
    },
  },
  text: ({ type, value, json }) =>
    `CASE WHEN ${type} IN ('true', 'false', 'integer', 'real') THEN ${json} ELSE ${value} END`,
  indexed: (field) => identifier(indexedColumn(field)),
};

/** The generated column of a field in the table of records. */
export function indexedColumn(field: string): string {
  return `text_${field}`;
}

function amountIn(value: string): string {
  return onOneLine`(SELECT CASE WHEN ${IS_AMOUNT_IN_SQLITE} THEN v END
FROM (SELECT v, head, rtrim(head, '.') AS whole FROM (SELECT v, rtrim(v, ${DIGITS}) AS head FROM (SELECT ${value} AS v))))`;
}

const AMOUNT = '^-?[0-9]{1,18}([.][0-9]{1,8})?$';
const INTEGER = '^-?[0-9]{1,18}$';

/** Days that exist: 31 days, 30 days, February, and its 29th in leap years. */
const DAY =
  '[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29';
const TIME =
  '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]+)?)? ?([Zz]|UTC|GMT|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)';
const TIMESTAMP = `^(?!0000)(${DAY})[Tt ]${TIME}$`;

/** The longest text that is indexed in PostgreSQL, in bytes: a row of an index has at most 2,704. */
export const MAX_INDEXED_BYTES = 1_000;

export const postgresColumns: ColumnSyntax = {
  parts(field) {
    const name = literal(field.replaceAll('\0', '\ufffd'));
    return { type: `jsonb_typeof(body -> ${name})`, value: `(body ->> ${name})`, json: `(body -> ${name})` };
  },
  types: {
    string: ['string'],
    boolean: ['boolean'],
    integer: ['number'],
    number: ['number'],
    array: ['array'],
  },
  kinds: {
    string: asItIs,
    boolean: { value: ({ value }) => `${value}::boolean` },
    integer: { value: ({ value }) => `CASE WHEN ${value} ~ '${INTEGER}' THEN ${value}::bigint END` },
    number: { value: ({ value }) => `${value}::numeric` },
    array: { value: ({ json }) => json },
    money: { value: ({ value }) => `CASE WHEN ${value} ~ '${AMOUNT}' THEN ${value}::numeric END` },
    timestamp: {
      json: ['string', 'integer'],
      // PostgreSQL would round what is behind the microseconds.
      value: ({
        value,
      }) => `CASE WHEN ${value} ~ '${TIMESTAMP}' THEN regexp_replace(${value}, '(?<=[.][0-9]{6})[0-9]+', '')::timestamptz
  WHEN ${value} ~ '^[0-9]{9,13}$' THEN to_timestamp(${value}::numeric / CASE WHEN length(${value}) > 11 THEN 1000 ELSE 1 END) END`,
    },
  },
  text: ({ value }) => value,
  // As ids are: an index of another collation would be of no use to a join with them. Longer texts fit into no index.
  indexed(field, isLong) {
    const { value } = postgresColumns.parts(field);
    const short = `CASE WHEN octet_length(${value}) <= ${MAX_INDEXED_BYTES} THEN ${value} END`;
    return `(${isLong ? value : short} COLLATE "C")`;
  },
};

/** SQL on one line, however the source is written. Values stay as they are. */
export function onOneLine(parts: TemplateStringsArray, ...values: readonly string[]): string {
  const lines = parts.map((part) => part.replaceAll(/\s*\n\s*/g, ' '));
  return lines.reduce((before, part, at) => `${before}${values[at - 1]}${part}`);
}

/** A name as SQL. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as SQL. `nul` stands between its parts if it contains NUL, which ends a statement. */
export function literal(text: string, nul = ''): string {
  return text
    .split('\0')
    .map((part) => `'${part.replaceAll("'", "''")}'`)
    .join(nul);
}

/** The name of a collection's view: `bank_feed_accounts` for `bankFeedAccounts`. */
export function viewName(collection: string): string {
  return collection.replaceAll(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}
