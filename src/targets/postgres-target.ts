import { checkMethods, resolved } from '../input/checks.ts';
import { is, type Named, type OptionInputs, option } from '../internal/options.ts';
import {
  columnsOf,
  type Fields,
  identifier,
  indexedFields,
  literal,
  MAX_INDEXED_BYTES,
  postgresColumns,
  referencesIn,
} from './columns.ts';
import { Copy } from './copy.ts';
import { type DatabaseTarget, QUIET, tenantsIn } from './database-target.ts';
import { sqlStateOf } from './driver-error.ts';
import type { Engine, Write } from './engine.ts';
import { failed, failureKind, type Patience, reasonOf } from './failures.ts';
import {
  endOf,
  type PostgresConnection,
  PostgresSession,
  type Session,
  sessionText,
} from './postgres-session.ts';
import { type Dialect, type Statements, statementsIn, TABLES } from './sql.ts';

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
export interface PostgresTargetOptions extends OptionInputs<typeof postgresOptions>, Named {}

/**
 * A copy in PostgreSQL 13 or newer, for the option `target` of `sync`. The connection stays open.
 *
 * ```ts
 * const pool = new pg.Pool();
 * pool.on('error', console.error); // without it, a lost connection ends the process
 * await sync(createClient(), { tenant: 'acme', target: postgresTarget(pool) });
 * ```
 * The records are in `accounting.record`. Each collection has a view, such as `accounting.products` and
 * `accounting.bank_feed_accounts`, with `tenant`, `id`, `synced_at` and one column for each field that is documented, named
 * by a Zod schema of the client, or was ever seen. `accounting.sync_status` says how far each collection is. A batch and
 * its checkpoint are one statement, so that a pool is enough: no transaction has to stay on one connection. Statements
 * are repeated while the database is away, and wait for locks of other sessions, for `maxOutageMs` of the sync; changes of
 * views and indexes wait 2 s, and are then left to the next sync. An abort ends the statement on the server.
 *
 * @throws When a sync opens it: InvalidInputError if the tables cannot be created, or have another shape. In the batch
 * that could not be written: CheckpointError, with the error of the driver as its cause, or ConcurrentRunError if
 * another sync of the tenant wrote at the same time.
 */
export function postgresTarget(
  connection: PostgresConnection,
  options: PostgresTargetOptions = {},
): DatabaseTarget {
  const { schema } = resolved(postgresOptions, options, { of: 'postgresTarget' });
  checkMethods(connection, 'connection', ['query']);
  return {
    open: (tenant, context) => Copy.open(new PostgresEngine(connection, schema, context), tenant, context),
    async tenants() {
      try {
        return await tenantsIn(new PostgresEngine(connection, schema, QUIET));
      } catch (error) {
        throw failed(error);
      }
    },
  };
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
    setUp: [setUp(schema)],
    narrow: '',
    share: 'FOR SHARE',
    rows: (collection) => `"${schema}".record WHERE collection = ${collection}`,
  };
}

/**
 * `CREATE SCHEMA IF NOT EXISTS` needs the right to create one even if it exists. `to_regnamespace` would say what the session
 * has cached before it waited for another one that creates the schema.
 */
function setUp(schema: string): string {
  return `DO ${literal(`BEGIN
  IF getdatabaseencoding() <> 'UTF8' THEN
    RAISE feature_not_supported USING MESSAGE = 'the database is in ' || getdatabaseencoding() || ', which cannot hold every record';
  END IF;
  IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN CREATE SCHEMA "${schema}"; END IF;
END`)}`;
}

class PostgresEngine implements Engine {
  readonly sql: Statements;
  readonly owner: string;
  // Whatever the schema is called: a view has the tables of its own, even after either was renamed.
  readonly marked = 'record';
  readonly maxIndexedBytes = MAX_INDEXED_BYTES;
  readonly nameAdvice = 'Rename it, or pass another schema';
  readonly viewPrefix = '';
  readonly objectsNamed: string;
  readonly #session: PostgresSession;
  readonly #table: string;
  readonly #lock: string;
  readonly #write: string;

  constructor(connection: PostgresConnection, schema: string, context: Patience) {
    this.#session = new PostgresSession(connection, context);
    const dialect = dialectOf(schema);
    this.sql = statementsIn(dialect);
    this.owner = schema;
    this.#table = dialect.table('record');
    // One lock for all changes of the schema: two processes may begin at the same time.
    this.#lock = `SELECT pg_advisory_xact_lock(hashtextextended('accounting-data-sdk ${schema}', 0))`;
    this.objectsNamed = `SELECT relname AS name,
      CASE relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END AS kind,
      CASE relkind WHEN 'v' THEN substring(pg_get_viewdef(oid) FROM '/[*] accounting-data-sdk [^*]*[*]/') END AS definition FROM pg_class WHERE relnamespace = to_regnamespace('"${schema}"')
      AND relname IN (SELECT ${dialect.itemText} FROM ${dialect.items(dialect.param(1))})`;
    this.#write = writeStatement(this.sql, dialect);
  }

  async query(sql: string, values: readonly string[] = []): Promise<readonly unknown[]> {
    try {
      return await this.#session.send(sql, values.map(storable));
    } catch (error) {
      throw sqlStateOf(error) === '42501' ? await this.#withRights(error) : error;
    }
  }

  /** A denied statement, with what the role lacks: PostgreSQL names the object alone. */
  async #withRights(error: unknown): Promise<unknown> {
    const [row] = (await this.#session.send(lackedRights(this.owner)).catch(() => [])) as {
      lacked?: string | null;
    }[];
    if (!row?.lacked) return error;
    const message = `${reasonOf(error)}: the role ${row.lacked}`;
    return Object.assign(new Error(message, { cause: error }), { code: '42501' });
  }

  /**
   * A DO block is a transaction on whatever connection. It has no parameters, so each statement is written in Base64, of
   * which no character can end a literal, or the block. Readers that come later queue behind one that waits for a lock,
   * so none waits for long.
   */
  async script(statements: readonly string[]): Promise<void> {
    // Otherwise a backslash in a name could end its literal.
    const first = [
      'SET LOCAL standard_conforming_strings = on',
      // No reader queues behind it, but another sync that holds it may wait for a lock itself.
      `SET LOCAL lock_timeout = ${5 * LOCK_TIMEOUT_MS}`,
      this.#lock,
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
    ];
    const lines = [...first, ...statements].map(
      (sql) => `EXECUTE convert_from(decode('${base64(sql)}', 'base64'), 'UTF8');`,
    );
    await this.query(`DO $accounting$ BEGIN ${lines.join('\n')} END $accounting$`);
  }

  async index(fields: Fields): ReturnType<Engine['index']> {
    // Each column that names other records has the text of an index, because its collation could not change later.
    const indexed = new Set(referencesIn(fields));
    const names = JSON.stringify(indexedFields(fields).map(indexName));
    try {
      // Not IF NOT EXISTS alone, which locks the table first.
      const existing = await this.query(
        `SELECT indexname AS name FROM pg_indexes WHERE schemaname = '${this.owner}'
        AND indexname IN (SELECT value #>> '{}' FROM jsonb_array_elements(CAST(CAST($1 AS text) AS jsonb)) AS item (value))`,
        [names],
      );
      const found = new Set((existing as { name: string }[]).map(({ name }) => name));
      const missing = indexedFields(fields).filter((field) => !found.has(indexName(field)));
      const statements = missing.map((field) => {
        const text = postgresColumns.indexed(field, false);
        return `CREATE INDEX IF NOT EXISTS ${identifier(indexName(field))} ON ${this.#table} (tenant, ${text}) WHERE ${text} IS NOT NULL`;
      });
      if (statements.length > 0) await this.script(statements);
      return { indexed };
    } catch (failure) {
      return { indexed, failure };
    }
  }

  async shownFields(view: string, fields: Fields): Promise<Fields> {
    const columns = columnsOf(fields, postgresColumns, new Set());
    if (columns.length === 0) return fields;
    const rows = await this.query(
      `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = to_regclass(CAST($1 AS text)) AND attnum > 0 AND atttypid = 'text'::regtype`,
      [this.sql.view(view)],
    );
    const texts = new Set((rows as { name: string }[]).map(({ name }) => name));
    return new Map(
      [...fields].map(([name, kind], at) => {
        const isText = kind === undefined || kind === 'string' || kind === 'long';
        return [name, !isText && texts.has(columns[at]?.name ?? '') ? undefined : kind];
      }),
    );
  }

  async replaceView(view: string, select: string, mark: string): Promise<void> {
    // PostgreSQL keeps no SQL comments, and a COMMENT is the user's.
    await this.script([replacement(view, `${select} AND ${literal(mark)} <> ''`)]);
  }

  isPostponed(error: unknown): boolean {
    return isLocked(error) || failureKind(error) === 'never';
  }

  async advice(name: string | undefined, error: unknown): Promise<string> {
    if (sqlStateOf(error) === '42501') return `Run a sync once as the owner of the schema ${this.owner}.`;
    if (isLocked(error)) return await this.#endOfLock(name === undefined ? this.#table : this.sql.view(name));
    if (name === undefined) return '';
    const view = this.sql.view(name);
    return `Note what you gave the view, and what depends on it, run DROP VIEW ${view} CASCADE and a sync, then create that again.`;
  }

  /** What ends the locks on a relation. */
  async #endOfLock(relation: string): Promise<string> {
    const held = await this.#session
      .send(
        `SELECT DISTINCT pid, application_name AS name, state FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE relation = to_regclass(CAST($1 AS text)) AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND granted AND pid <> pg_backend_pid() AND NOT starts_with(query, '/* accounting-data-sdk') ORDER BY pid LIMIT 3`,
        [relation],
      )
      .catch(() => []);
    const sessions = held as Session[];
    if (sessions.length === 0) return '';
    const ends = sessions.map(endOf).join('; ');
    return `It is in use by ${sessions.map(sessionText).join(', ')}: end its transaction, or run ${ends}.`;
  }

  async write({ tenant, collection, rows, ...more }: Write): ReturnType<Engine['write']> {
    const bodies = rows.map((row) => storable(row.body));
    const { checkpoints, turn, copy, read = '' } = more;
    const records = JSON.stringify(rows.map(({ id, invalid }, at) => [id, bodies[at], `${invalid}`]));
    const entries = JSON.stringify(checkpoints);
    const values = [tenant, collection, records, entries, turn.opened, turn.run, copy, `${read}`];
    const [row] = (await this.query(this.#write, values)) as { [name: string]: unknown }[];
    if (Number(row?.turns) !== 1) return undefined;
    const replaced = rows.filter(({ body }, at) => bodies[at] !== body).map(({ id }) => id);
    return { added: Number(row?.added), changed: Number(row?.changed), replaced };
  }

  /** The connection is the caller's. */
  close(): void {
    this.#session.close();
  }
}

/**
 * Takes a turn and, if the run has one, writes checkpoints and records, and marks these. The last SELECT sees the
 * records as they were before: `xmax`, which tells new rows too, cannot be read from a table in partitions.
 */
function writeStatement(
  { takeTurn, setCheckpoints, writeRecords, mark, goneIds }: Statements,
  dialect: Dialect,
): string {
  const [tenant, collection, rows, entries, opened, run, copy, read] = Array.from({ length: 8 }, (_, at) =>
    dialect.param(at + 1),
  ) as [string, string, string, string, string, string, string, string];
  const hasTurn = 'EXISTS (SELECT FROM turn)';
  const from = `FROM ${dialect.items(rows)} WHERE ${hasTurn} AND item.value ->> 0 NOT IN (${goneIds})`;
  const source = { id: 'item.value ->> 0', body: 'item.value ->> 1', invalid: 'item.value ->> 2', from };
  return `
WITH turn AS (
  ${takeTurn(tenant, copy, { opened, run })}
), moved AS (
  ${setCheckpoints(tenant, entries, hasTurn)}
), written AS (
  ${writeRecords(source)} RETURNING id
), marked AS (
  ${mark({ ...source, from: `${from} AND ${read} <> ''` }, `nullif(${read}, '')`)}
)
SELECT (SELECT count(*) FROM turn) AS turns, count(*) - count(earlier.id) AS added, count(earlier.id) AS changed
FROM written LEFT JOIN ${dialect.table('record')} AS earlier
  ON earlier.collection = ${collection} AND earlier.tenant = ${tenant} AND earlier.id = written.id`;
}

/**
 * Creates or replaces a view. PostgreSQL keeps grants, owner, comments, rules, triggers and what depends on the view, but
 * its options only if they are written again: without security_invoker, row level security would end.
 */
function replacement(view: string, select: string): string {
  const name = literal(view);
  const options = `SELECT ' WITH (' || array_to_string(reloptions, ', ') || ')' FROM pg_class WHERE oid = to_regclass(${name})`;
  const definition = `concat('CREATE OR REPLACE VIEW ', ${name}, (${options}), ' AS ', ${literal(select)})`;
  return `DO ${literal(`BEGIN EXECUTE ${definition}; END`)}`;
}

/** How long a change of the schema waits for a lock. */
const LOCK_TIMEOUT_MS = 2_000;

/** Whether another session holds a lock, for longer than a change of the schema waits. */
function isLocked(error: unknown): boolean {
  return sqlStateOf(error) === '55P03';
}

function indexName(field: string): string {
  return `record_${field}`;
}

/** What a role needs and lacks: rights on the database to create the schema, on the schema, on the tables that exist. */
function lackedRights(schema: string): string {
  const rights = (list: string, allowed: string) =>
    `unnest(string_to_array('${list}', ' ')) AS lacks WHERE NOT ${allowed}`;
  return `WITH own AS (SELECT oid FROM pg_namespace WHERE nspname = '${schema}'),
    copied AS (SELECT oid, relname FROM pg_class WHERE relnamespace IN (SELECT oid FROM own)
      AND relname IN (${Object.keys(TABLES).map((name) => literal(name))}))
  SELECT format('%I lacks ', current_user) || string_agg(lacked, ', ') AS lacked FROM (
    SELECT format('CREATE on the database %I', current_database()) AS lacked
      WHERE NOT EXISTS (SELECT FROM own) AND NOT has_database_privilege(current_database(), 'CREATE')
    UNION ALL SELECT lacks || ' on the schema ${schema}'
      FROM own, ${rights('USAGE CREATE', `has_schema_privilege(oid, lacks)`)}
      AND (lacks = 'USAGE' OR NOT EXISTS (SELECT FROM copied))
    UNION ALL SELECT lacks || CASE count(*) WHEN 1 THEN ' on the table ' ELSE ' on the tables ' END
        || string_agg('${schema}.' || relname, ', ' ORDER BY relname)
      FROM (SELECT relname, string_agg(lacks, ', ') AS lacks FROM copied,
        ${rights('SELECT INSERT UPDATE DELETE', `has_table_privilege(oid, lacks)`)} GROUP BY relname) AS each GROUP BY lacks
  ) AS rights`;
}

/** JSON without NUL and halves of surrogate pairs, which PostgreSQL does not store. */
function storable(text: string): string {
  const json = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  if (!json.includes('\\u')) return json;
  // After an even number of backslashes, `\u0000` begins with an escaped backslash and is text.
  return json.replaceAll(/(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/g, '$1\ufffd');
}

function base64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
