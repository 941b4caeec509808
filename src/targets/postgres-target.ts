import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkMethods, resolved } from '../input/checks.ts';
import { is, type Named, type OptionInputs, option } from '../internal/options.ts';
import type { SyncTarget } from '../sync/target.ts';
import { identifier, literal, postgresColumns } from './columns.ts';
import { Copy } from './copy.ts';
import type { Engine, Write } from './engine.ts';
import { type Dialect, type Statements, statementsIn, TABLES } from './sql.ts';

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
export interface PostgresTargetOptions extends OptionInputs<typeof postgresOptions>, Named {}

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
    setUp: [setUp(schema)],
    narrow: '',
    share: 'FOR SHARE',
    rows: (collection) => `"${schema}".record WHERE collection = ${collection}`,
  };
}

/** `CREATE SCHEMA IF NOT EXISTS` needs the right to create one even if it exists. */
function setUp(schema: string): string {
  return `DO ${literal(`BEGIN
  IF getdatabaseencoding() <> 'UTF8' THEN
    RAISE feature_not_supported USING MESSAGE = 'the database is in ' || getdatabaseencoding() || ', which cannot hold every record';
  END IF;
  IF to_regnamespace('"${schema}"') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
END`)}`;
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
    try {
      return await this.#send(sql, values.map(storable));
    } catch (error) {
      throw codeOf(error) === '42501' ? await this.#withRights(error) : error;
    }
  }

  async #send(sql: string, values: string[] = []): Promise<readonly unknown[]> {
    const result = await this.#connection.query(sql, values);
    const rows = 'rows' in result ? result.rows : result;
    if (!Array.isArray(rows[0])) return rows;
    throw new InvalidInputError(
      'connection',
      "must return each row as an object, not as an array: leave out rowMode: 'array' and values()",
    );
  }

  /** A denied statement, with what the role lacks: PostgreSQL names the object alone. */
  async #withRights(error: unknown): Promise<unknown> {
    const [row] = (await this.#send(lackedRights(this.owner)).catch(() => [])) as {
      lacked?: string | null;
    }[];
    if (!row?.lacked) return error;
    const message = `${(error as Error).message}: the role ${row.lacked}`;
    return Object.assign(new Error(message, { cause: error }), { code: codeOf(error) });
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

  async index(fields: readonly string[]): Promise<ReadonlySet<string>> {
    await this.script(
      fields.map((field) => {
        const text = postgresColumns.indexed(field);
        return `CREATE INDEX IF NOT EXISTS ${identifier(`record_${field}`)} ON "${this.owner}".record (tenant, ${text}) WHERE ${text} IS NOT NULL`;
      }),
    );
    return new Set(fields);
  }

  async replaceView(view: string, select: string, mark: string): Promise<void> {
    // PostgreSQL keeps no SQL comments, and a COMMENT is the user's.
    await this.script([replacement(view, `${select} AND ${literal(mark)} <> ''`)]);
  }

  viewAdvice(view: string, error: unknown): string {
    const code = codeOf(error);
    if (code === '42501') return `Run a sync once as the owner of the schema ${this.owner}.`;
    const drop = `run DROP VIEW ${view} CASCADE and a sync, then create them again`;
    return code === '2BP01'
      ? `Objects of yours depend on it: note their definitions, ${drop}.`
      : `Note what you gave the view, such as rules and triggers, ${drop}.`;
  }

  async write({ tenant, collection, rows, ...more }: Write): ReturnType<Engine['write']> {
    const bodies = rows.map((row) => storable(row.body));
    // Two ids can be one when what cannot be stored is replaced: the last row counts.
    const items = new Map(
      rows.map(
        ({ id, invalid }, at) => [storable(JSON.stringify(id)), [id, bodies[at], `${invalid}`]] as const,
      ),
    );
    const { key, checkpoint, before = '', copy, read = '' } = more;
    const values = [
      tenant,
      collection,
      JSON.stringify([...items.values()]),
      key,
      checkpoint,
      before,
      copy,
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
  const [tenant, collection, rows, key, checkpoint, before, copy, read] = Array.from({ length: 8 }, (_, at) =>
    dialect.param(at + 1),
  ) as [string, string, string, string, string, string, string, string];
  const from = `FROM ${dialect.items(rows)} WHERE EXISTS (SELECT FROM moved) AND item.value ->> 0 NOT IN (${goneIds})`;
  const source = { id: 'item.value ->> 0', body: 'item.value ->> 1', invalid: 'item.value ->> 2', from };
  return `
WITH moved AS (
  ${moveCheckpoint(tenant, key, checkpoint, before, copy)} RETURNING key
), written AS (
  ${writeRecords(source)} RETURNING id
), marked AS (
  ${mark({ ...source, from: `${from} AND ${read} <> ''` }, `nullif(${read}, '')`)}
)
SELECT (SELECT count(*) FROM moved) AS moved, count(*) - count(earlier.id) AS added, count(earlier.id) AS changed
FROM written LEFT JOIN ${dialect.table('record')} AS earlier
  ON earlier.collection = ${collection} AND earlier.tenant = ${tenant} AND earlier.id = written.id`;
}

/**
 * Replaces a view, with all that its owner gave it. PostgreSQL keeps everything but the options in `CREATE OR REPLACE`,
 * and nothing if the view has to be dropped because a column gets another type.
 */
function replacement(view: string, select: string): string {
  const name = literal(view);
  const objects = `SELECT 'pg_class'::regclass, old UNION ALL SELECT 'pg_rewrite'::regclass, oid FROM pg_rewrite WHERE ev_class = old
    UNION ALL SELECT 'pg_trigger'::regclass, oid FROM pg_trigger WHERE tgrelid = old`;
  const described = (catalog: string) => `${catalog} AS given, pg_identify_object(classoid, objoid, objsubid),
    LATERAL (SELECT CASE type WHEN 'view column' THEN 'COLUMN' ELSE upper(type) END AS what) AS named
    WHERE (classoid, objoid) IN (${objects})`;
  const to = `CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END`;
  const grant = (privilege: string) =>
    `format('GRANT %s ON %s TO %s%s', ${privilege}, ${name}, ${to}, CASE WHEN is_grantable THEN ' WITH GRANT OPTION' END)`;
  return `DO ${literal(`DECLARE
  old oid := to_regclass(${name});
  options text := (SELECT ' WITH (' || array_to_string(reloptions, ', ') || ')' FROM pg_class WHERE oid = old);
  definition text := concat('VIEW ', ${name}, options, ' AS ', ${literal(select)});
  kept text[] := ARRAY(
    SELECT format('ALTER VIEW %s OWNER TO %I', ${name}, pg_get_userbyid(relowner)) FROM pg_class
      WHERE oid = old AND pg_get_userbyid(relowner) <> current_user
    UNION ALL SELECT ${grant('privilege_type')} FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
      WHERE oid = old
    UNION ALL SELECT ${grant(`format('%s (%I)', privilege_type, attname)`)} FROM pg_attribute, aclexplode(attacl)
      WHERE attrelid = old
    UNION ALL SELECT format('ALTER VIEW %s ALTER %I SET DEFAULT %s', ${name}, attname, pg_get_expr(adbin, adrelid))
      FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = old
    UNION ALL SELECT pg_get_ruledef(oid) FROM pg_rewrite WHERE ev_class = old AND rulename <> '_RETURN'
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = old
    UNION ALL SELECT format('COMMENT ON %s %s IS %L', what, identity, description) FROM ${described('pg_description')}
    UNION ALL SELECT format('SECURITY LABEL FOR %I ON %s %s IS %L', provider, what, identity, label) FROM ${described('pg_seclabel')});
  columns text := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute WHERE attrelid = old AND attnum > 0);
  line text;
BEGIN
  EXECUTE 'CREATE OR REPLACE ' || definition;
EXCEPTION WHEN invalid_table_definition THEN
  EXECUTE 'DROP VIEW ' || ${name};
  EXECUTE 'CREATE ' || definition;
  -- Fails if its owner renamed a column.
  EXECUTE format('SELECT %s FROM %s LIMIT 0', columns, ${name});
  -- Default privileges are those of a new view.
  FOR line IN SELECT format('REVOKE ALL ON %s FROM %s', ${name}, ${to})
    FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner))) WHERE oid = to_regclass(${name})
  LOOP EXECUTE line; END LOOP;
  FOREACH line IN ARRAY kept LOOP EXECUTE line; END LOOP;
END`)}`;
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

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code;
}

function base64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
