import { checkMethods, resolved } from '../input/checks.ts';
import { is, type OptionInputs, option } from '../internal/options.ts';
import type { SyncTarget } from '../sync/target.ts';
import { identifier, literal, postgresColumns } from './columns.ts';
import { Copy } from './copy.ts';
import type { Engine, Write } from './engine.ts';
import { type Dialect, type Statements, statementsIn } from './sql.ts';

/**
 * A connection to PostgreSQL, or a pool: of `pg`, or PGlite. For postgres.js:
 * `{ query: (text, values) => sql.unsafe(text, values) }`.
 */
export interface PostgresConnection {
  /** Sends one statement. Resolves to its rows, or to an object with them. */
  query(text: string, values?: string[]): PromiseLike<PostgresResult>;
}

/** What a query resolves to. */
export type PostgresResult = { readonly rows: readonly unknown[] } | readonly unknown[];

const postgresOptions = {
  /** The schema of tables and views: lower-case letters, digits and `_`. Default: `accounting`. */
  schema: option(
    is.check<string>(
      'at most 50 lower-case letters, digits and "_", not beginning with a digit',
      (schema) => is.string.allows(schema) && /^[a-z_][a-z0-9_]{0,49}$/.test(schema),
    ),
    'accounting',
  ),
};

/** Options of {@link postgresTarget}. */
export interface PostgresTargetOptions extends OptionInputs<typeof postgresOptions> {}

/**
 * A copy in PostgreSQL 13 or newer, for the option `target` of `sync`. The connection stays open.
 *
 * ```ts
 * await sync(createClient(), { tenant: 'acme', target: postgresTarget(new pg.Pool()) });
 * ```
 * The records are in `accounting.record`. Each collection has a view, such as `accounting.products` and
 * `accounting.bank_feed_accounts`, with `tenant`, `id`, `synced_at` and one column for each field that is documented, named
 * by a Zod schema of the client, or was ever seen. `accounting.sync_status` says how far each collection is. A batch and
 * its checkpoint are one statement, so that a pool is enough: no transaction has to stay on one connection. Statements
 * are repeated while the database is away, for `maxOutageMs` of the sync.
 *
 * @throws When a sync opens it: InvalidInputError if the tables cannot be created, or have another shape. In the batch
 * that could not be written: CheckpointError, with the error of the driver as its cause, or ConcurrentRunError if
 * another sync of the tenant wrote at the same time.
 */
export function postgresTarget(
  connection: PostgresConnection,
  options: PostgresTargetOptions = {},
): SyncTarget {
  const { schema } = resolved(postgresOptions, options, { of: 'postgresTarget' });
  checkMethods(connection, 'connection', ['query']);
  return { open: (tenant, context) => Copy.open(new PostgresEngine(connection, schema), tenant, context) };
}

const TYPES = { text: 'text COLLATE "C"', json: 'jsonb', flag: 'boolean', time: 'timestamptz' } as const;

function dialectOf(schema: string): Dialect {
  return {
    columns: postgresColumns,
    types: TYPES,
    cast: (text, type) => `CAST(${text} AS ${TYPES[type]})`,
    table: (name) => `"${schema}".${name}`,
    view: (name) => `"${schema}".${identifier(name)}`,
    param: (number) => `CAST($${number} AS text)`,
    items: (text) => `jsonb_array_elements(CAST(${text} AS jsonb)) WITH ORDINALITY AS item (value, position)`,
    itemText: `item.value #>> '{}'`,
    now: 'now()',
    setUp: [`CREATE SCHEMA IF NOT EXISTS "${schema}"`],
    narrow: '',
    share: 'FOR SHARE OF g',
    rows: (collection) => `"${schema}".record WHERE collection = ${collection}`,
  };
}

class PostgresEngine implements Engine {
  readonly sql: Statements;
  readonly owner: string;
  readonly nameAdvice = 'Rename it, or pass another schema';
  readonly objectsNamed: string;
  readonly #connection: PostgresConnection;
  readonly #lock: string;
  readonly #write: string;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    const dialect = dialectOf(schema);
    this.sql = statementsIn(dialect);
    this.owner = schema;
    // One lock for all changes of the schema: two processes may begin at the same time.
    this.#lock = `SELECT pg_advisory_xact_lock(hashtextextended('accounting-data-sdk ${schema}', 0))`;
    this.objectsNamed = `SELECT relname AS name,
      CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END AS kind,
      CASE relkind WHEN 'v' THEN substring(pg_get_viewdef(oid) FROM '/[*] accounting-data-sdk [^*]*[*]/') END AS definition FROM pg_class WHERE relnamespace = to_regnamespace('"${schema}"')
      AND relname IN (SELECT ${dialect.itemText} FROM ${dialect.items(dialect.param(1))})`;
    this.#write = writeStatement(this.sql, dialect);
  }

  async query(sql: string, values: readonly string[] = []): Promise<readonly unknown[]> {
    const result = await this.#connection.query(sql, values.map(storable));
    return 'rows' in result ? result.rows : result;
  }

  /**
   * A DO block is a transaction on whatever connection. It has no parameters, so each statement is written in Base64, of
   * which no character can end a literal, or the block.
   */
  async script(statements: readonly string[]): Promise<void> {
    // Otherwise a backslash in a name could end its literal.
    const lines = ['SET LOCAL standard_conforming_strings = on', this.#lock, ...statements].map(
      (sql) => `EXECUTE convert_from(decode('${base64(sql)}', 'base64'), 'UTF8');`,
    );
    await this.query(`DO $accounting$ BEGIN ${lines.join('\n')} END $accounting$`);
  }

  async replaceView(view: string, select: string, mark: string): Promise<void> {
    // PostgreSQL keeps no SQL comments, and a COMMENT is the user's.
    const definition = `VIEW ${view} AS ${select} AND ${literal(mark)} <> ''`;
    try {
      // Keeps the rights on the view, and views that the user made of it.
      await this.script([`CREATE OR REPLACE ${definition}`]);
    } catch (error) {
      if (codeOf(error) !== '42P16') throw error;
      const kept = (await this.query(keptWithView(view))) as { sql: string }[];
      await this.script([`DROP VIEW ${view}`, `CREATE ${definition}`, ...kept.map(({ sql }) => sql)]);
    }
  }

  viewAdvice(view: string, error: unknown): string {
    return codeOf(error) === '2BP01'
      ? `Views of yours are built on it: note their definitions, run DROP VIEW ${view} CASCADE and a sync, then create them again.`
      : `Run a sync once as the owner of the schema ${this.owner}.`;
  }

  async write({ tenant, collection, rows, ...more }: Write): ReturnType<Engine['write']> {
    const bodies = rows.map((row) => storable(row.body));
    // Two ids can be one when NUL is replaced: the last row counts.
    const items = new Map(
      rows.map(({ id, invalid }, at) => [storable(id), [storable(id), bodies[at], `${invalid}`]] as const),
    );
    const { key, checkpoint, before = '', guard, read = '' } = more;
    const values = [
      tenant,
      collection,
      JSON.stringify([...items.values()]),
      key,
      checkpoint,
      before,
      guard,
      `${read}`,
    ];
    const [row] = (await this.query(this.#write, values)) as { [name: string]: unknown }[];
    if (Number(row?.moved) !== 1) return undefined;
    const replaced = rows.filter(({ body }, at) => bodies[at] !== body).map(({ id }) => id);
    return { added: Number(row?.added), changed: Number(row?.changed), replaced };
  }

  /** The connection is the caller's. */
  close(): void {}
}

/**
 * Moves the checkpoint of a batch and, if that could be moved, writes its records and marks them. The last SELECT sees the
 * records as they were before: `xmax`, which tells new rows too, cannot be read from a table in partitions.
 */
function writeStatement(
  { moveCheckpoint, writeRecords, mark, goneIds }: Statements,
  dialect: Dialect,
): string {
  const [tenant, collection, rows, key, checkpoint, before, guard, read] = Array.from(
    { length: 8 },
    (_, at) => dialect.param(at + 1),
  ) as [string, string, string, string, string, string, string, string];
  const from = `FROM ${dialect.items(rows)} WHERE EXISTS (SELECT FROM moved) AND item.value ->> 0 NOT IN (${goneIds})`;
  const source = { id: 'item.value ->> 0', body: 'item.value ->> 1', invalid: 'item.value ->> 2', from };
  return `
WITH moved AS (
  ${moveCheckpoint(tenant, key, checkpoint, before, guard)} RETURNING key
), written AS (
  ${writeRecords(source)} RETURNING id
), marked AS (
  ${mark({ ...source, from: `${from} AND ${read} <> ''` }, `nullif(${read}, '')`)}
)
SELECT (SELECT count(*) FROM moved) AS moved, count(*) - count(earlier.id) AS added, count(earlier.id) AS changed
FROM written LEFT JOIN ${dialect.table('record')} AS earlier
  ON earlier.collection = ${collection} AND earlier.tenant = ${tenant} AND earlier.id = written.id`;
}

/** Statements that give a view, when it was created again, the owner, rights and comment that it has. */
function keptWithView(view: string): string {
  const given = (privilege: string) => `format('GRANT %s ON %s TO %s%s', ${privilege}, ${literal(view)},
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
    CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)`;
  const old = `to_regclass(${literal(view)})`;
  return `SELECT format('ALTER VIEW %s OWNER TO %I', ${literal(view)}, pg_get_userbyid(relowner)) AS sql
    FROM pg_class WHERE oid = ${old} AND pg_get_userbyid(relowner) <> current_user
  UNION ALL SELECT ${given('privilege_type')} FROM pg_class, aclexplode(relacl)
    WHERE oid = ${old} AND grantee <> relowner
  UNION ALL SELECT ${given(`privilege_type || ' (' || quote_ident(attname) || ')'`)} FROM pg_attribute, aclexplode(attacl)
    WHERE attrelid = ${old}
  UNION ALL SELECT format('COMMENT ON VIEW %s IS %L', ${literal(view)}, obj_description(${old}, 'pg_class'))
    WHERE obj_description(${old}, 'pg_class') IS NOT NULL`;
}

/** JSON without NUL and halves of surrogate pairs, which PostgreSQL does not store. */
function storable(text: string): string {
  const json = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  if (!json.includes('\\u')) return json;
  // After an even number of backslashes, `\u0000` begins with an escaped backslash and is text.
  return json.replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/g, '$1\ufffd');
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

function base64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
