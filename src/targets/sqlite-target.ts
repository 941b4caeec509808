import { CheckpointError } from '../errors/checkpoint-error.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { resolved } from '../input/checks.ts';
import { lockFile } from '../internal/lock-file.ts';
import { is, type Named, type OptionInputs, option } from '../internal/options.ts';
import { isPromise } from '../internal/realm.ts';
import type { TargetContext } from '../sync/target.ts';
import { type Fields, identifier, indexedColumn, indexedFields, literal, sqliteColumns } from './columns.ts';
import { Copy } from './copy.ts';
import { type DatabaseTarget, QUIET, tenantsIn } from './database-target.ts';
import type { Engine, Write } from './engine.ts';
import { failed, failureKind, notOpened, outlasting, reasonOf } from './failures.ts';
import { type Dialect, type Statements, statementsIn } from './sql.ts';
import {
  closeFile,
  fileExists,
  inodeOf,
  inTransaction,
  openFile,
  type SqliteDatabase,
  type SqliteStatement,
  systemReason,
} from './sqlite-database.ts';

const namePrefix = is.check<string>(
  'at most 50 letters, digits and "_", not beginning with a digit',
  (prefix) => prefix === '' || (is.string.allows(prefix) && /^[A-Za-z_][A-Za-z0-9_]{0,49}$/.test(prefix)),
);

const sqliteOptions = {
  /** The first part of the names of the tables. Default: `accounting_`. */
  tablePrefix: option(namePrefix, 'accounting_'),
  /** The first part of the names of the views, for a database that has a table `products` of its own. Default: none. */
  viewPrefix: option(namePrefix, ''),
};

/** Options of {@link sqliteTarget}. */
export interface SqliteTargetOptions extends OptionInputs<typeof sqliteOptions>, Named {}

/**
 * A copy in SQLite, for the option `target` of `sync`: a file, created if it does not exist, or a `DatabaseSync` of
 * `node:sqlite`. A file is opened in WAL mode by each sync and closed at its end. A database of the caller stays open,
 * with the settings that it has.
 *
 * ```ts
 * await sync(createClient(), { tenant: 'acme', target: sqliteTarget('books.sqlite') });
 * ```
 * The records are in `accounting_record`. Each collection has a view, such as `products` and `bank_feed_accounts`, with
 * `tenant`, `id`, `synced_at` and one column for each field that is documented, named by a Zod schema of the client, or was
 * ever seen; an amount has two, `salePrice` as a number and `salePriceText`. `sync_status` says how far each collection is.
 * It requires Node 22.13 or newer, or a runtime that has `node:sqlite` too. A database that another process has locked is
 * waited for, for `maxOutageMs` of the sync.
 *
 * @throws At once: InvalidInputError for `:memory:`, of which nothing would be kept, and for a `DatabaseSync` with
 * `returnArrays`. When a sync opens it: InvalidInputError if the file cannot be opened or is no database, or if a table or
 * view is not of this package; ConcurrentRunError while another sync of the tenant writes to the same file. In the batch
 * that could not be written: CheckpointError, with the error of SQLite as its cause.
 */
export function sqliteTarget(
  database: string | SqliteDatabase,
  options: SqliteTargetOptions = {},
): DatabaseTarget {
  const { tablePrefix, viewPrefix } = resolved(sqliteOptions, options, { of: 'sqliteTarget' });
  checkDatabase(database);
  return {
    async tenants() {
      if (typeof database === 'string' && !fileExists(database)) return [];
      // Another company may be written meanwhile.
      return await outlasting(
        () => {
          const opened = typeof database === 'string' ? openToRead(database) : { database };
          return tenantsIn(new SqliteEngine(opened, tablePrefix, viewPrefix));
        },
        { ...QUIET },
      ).catch((error: unknown) => {
        throw failed(error);
      });
    },
    async open(tenant, context) {
      const opened =
        typeof database === 'string'
          ? await outlasting(() => openLocked(database, tenant, context.purpose), context)
          : { database };
      return await Copy.open(new SqliteEngine(opened, tablePrefix, viewPrefix), tenant, context);
    },
  };
}

function checkDatabase(database: string | SqliteDatabase): void {
  if (typeof database === 'string') {
    if (database === '') throw new InvalidInputError('database', 'must not be empty');
    if (database !== ':memory:') return;
    throw new InvalidInputError(
      'database',
      'must not be ":memory:": nothing would be left after the sync. Pass a DatabaseSync of ":memory:" and close it yourself',
    );
  }
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw new InvalidInputError(
      'database',
      'must be the name of a file, or have prepare and exec that do their work at once, as DatabaseSync of node:sqlite and Database of libsql have them',
    );
  }
  if (Array.isArray(firstRow(database))) {
    throw new InvalidInputError('database', 'must not have returnArrays: rows are read by their names');
  }
}

/** A row by a numbered parameter, which every statement of a copy has. */
function firstRow(database: SqliteDatabase): unknown {
  try {
    const row = database.prepare('SELECT ?1 AS one').get('1');
    if (row !== undefined && !isPromise(row)) return row;
  } catch (error) {
    const reason = reasonOf(error);
    throw new InvalidInputError(
      'database',
      `must run SELECT ?1 with one value, as DatabaseSync of node:sqlite does: ${reason}`,
      {},
      { cause: error },
    );
  }
  throw new InvalidInputError(
    'database',
    'must return rows, not promises: pass a DatabaseSync of node:sqlite',
  );
}

function dialectOf(tablePrefix: string, viewPrefix: string): Dialect {
  return {
    columns: sqliteColumns,
    types: { text: 'TEXT', json: 'TEXT', flag: 'INTEGER', time: 'TEXT' },
    cast: (text, type) => (type === 'flag' ? `CAST(${text} AS INTEGER)` : text),
    table: (name) => `${tablePrefix}${name}`,
    view: (name) => identifier(`${viewPrefix}${name}`),
    param: (number) => `?${number}`,
    items: (text) => `(SELECT value, key + 1 AS position FROM json_each(${text})) AS item`,
    itemText: 'item.value',
    now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
    setUp: [],
    narrow: ' WITHOUT ROWID',
    share: '',
    rows: (collection) => `(SELECT * FROM ${tablePrefix}record WHERE collection = ${collection})`,
  };
}

/** A file, opened with a lock if nothing else may be done with the tenant. */
function openLocked(name: string, tenant: string, purpose: TargetContext['purpose']): OpenedDatabase {
  if (purpose !== 'sync' && !fileExists(name))
    throw new InvalidInputError('target', `${name} does not exist`, {
      hint: 'Check its name. The first sync into it creates the file.',
    });
  if (purpose === 'verify') return openToRead(name);
  const database = openFile(name);
  try {
    const unlock = purpose === 'sync' || purpose === 'forget' ? lockTenant(name, tenant) : undefined;
    const close = () => {
      closeFile(database);
      unlock?.();
    };
    return { database, close, file: { name, inode: inodeOf(name) } };
  } catch (error) {
    database.close();
    throw error;
  }
}

function openToRead(name: string): OpenedDatabase {
  const database = openFile(name, true);
  return { database, close: () => database.close() };
}

/** Returns what releases the lock. */
function lockTenant(name: string, tenant: string): () => void {
  const file = `${name}-lock-${tenant}`;
  let unlock: (() => void) | undefined;
  try {
    unlock = lockFile(file);
  } catch (error) {
    const reason = systemReason(error, file);
    throw failureKind(reason) === 'away' ? reason : notOpened(reason, `${name} cannot be locked`);
  }
  if (unlock !== undefined) return unlock;
  throw new ConcurrentRunError(`Another sync of ${tenant} writes to ${name}.`, 'running');
}

/** A database of the caller, or a file of this run. */
interface OpenedDatabase {
  readonly database: SqliteDatabase;
  readonly file?: { readonly name: string; readonly inode: number | undefined };
  readonly close?: () => void;
}

const PARAMETERS = ['?1', '?2', '?3', '?4', '?5'] as const;

class SqliteEngine implements Engine {
  readonly sql: Statements;
  readonly owner: string;
  readonly marked: string;
  readonly maxIndexedBytes = Number.POSITIVE_INFINITY;
  readonly nameAdvice = 'Rename it, or pass viewPrefix';
  readonly viewPrefix: string;
  readonly objectsNamed: string;
  readonly #opened: OpenedDatabase;
  readonly #write: Readonly<Record<'turn' | 'move' | 'put' | 'mark', string>>;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(opened: OpenedDatabase, tablePrefix: string, viewPrefix: string) {
    this.#opened = opened;
    this.viewPrefix = viewPrefix;
    const dialect = dialectOf(tablePrefix, viewPrefix);
    this.sql = statementsIn(dialect);
    this.owner = `${tablePrefix}record`;
    this.marked = this.owner;
    const [tenant, copy, id, body, invalid] = PARAMETERS;
    const row = { id, body, invalid, from: 'WHERE true' };
    this.#write = {
      turn: this.sql.takeTurn(tenant, copy, { opened: '?3', run: '?4' }),
      move: this.sql.setCheckpoints(tenant, '?2', 'true'),
      put: this.sql.writeRecords(row),
      mark: this.sql.mark(row, '?4'),
    };
    this.objectsNamed = `SELECT item.value AS name, o.type AS kind, o.sql AS definition
      FROM ${dialect.items('?1')} JOIN sqlite_master AS o ON o.name = '${viewPrefix}' || item.value COLLATE NOCASE`;
  }

  async query(sql: string, values: readonly string[] = []): Promise<readonly unknown[]> {
    return this.#prepare(sql).all(...values);
  }

  async script(statements: readonly string[]): Promise<void> {
    this.#inTransaction(() => {
      for (const sql of statements) this.#opened.database.exec(sql);
    });
  }

  async index(fields: Fields): ReturnType<Engine['index']> {
    const indexed = indexedFields(fields);
    const columns = (await this.query(`SELECT name FROM pragma_table_xinfo('${this.owner}')`)) as {
      name: string;
    }[];
    const names = new Set(columns.map(({ name }) => name));
    let failure: unknown;
    try {
      // An index of an expression is not used by a join with a view; that of a column is.
      for (const field of indexed) {
        const column = indexedColumn(field);
        // Names that differ only in the case of letters are one.
        if ([...names].some((name) => name.toLowerCase() === column.toLowerCase())) continue;
        const text = sqliteColumns.text(sqliteColumns.parts(field));
        await this.script([
          `ALTER TABLE ${this.owner} ADD COLUMN ${identifier(column)} TEXT AS (${text})`,
          `CREATE INDEX ${identifier(`${this.owner}_${column}`)} ON ${this.owner} (${identifier(column)}, tenant) WHERE ${identifier(column)} IS NOT NULL`,
        ]);
        names.add(column);
      }
    } catch (error) {
      failure = error;
    }
    return { indexed: new Set(indexed.filter((field) => names.has(indexedColumn(field)))), failure };
  }

  async shownFields(_view: string, fields: Fields): Promise<Fields> {
    return fields;
  }

  async replaceView(view: string, select: string, mark: string): Promise<void> {
    // A trigger of the user goes with its view.
    const triggers = await this.query(
      `SELECT sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ${literal(view.slice(1, -1))} COLLATE NOCASE`,
    );
    const kept = (triggers as { sql: string }[]).map(({ sql }) => sql);
    // Behind SELECT, and on one line: Drizzle reads the definition by a regular expression.
    const definition = select.replace('SELECT', `SELECT ${mark}`);
    await this.script([`DROP VIEW IF EXISTS ${view}`, `CREATE VIEW ${view} AS ${definition}`, ...kept]);
  }

  isPostponed(error: unknown): boolean {
    return failureKind(error) === 'never';
  }

  async advice(view: string | undefined): Promise<string> {
    return view === undefined ? '' : `Run DROP VIEW ${this.sql.view(view)}, then a sync.`;
  }

  async write({ tenant, collection, rows: all, read, ...more }: Write): ReturnType<Engine['write']> {
    const { checkpoints, turn, copy } = more;
    const { move, put, mark } = this.#write;
    return this.#inTransaction(() => {
      // Not by `run`: libsql ends no statement that returns rows before all are read, and could not commit.
      const taken = this.#prepare(this.#write.turn).all(tenant, copy, turn.opened, turn.run);
      if (taken.length === 0) return undefined;
      this.#run(move, tenant, JSON.stringify(checkpoints));
      const gone = this.#prepare(this.sql.goneIds).all(tenant, collection) as { id: string }[];
      const goneIds = new Set(gone.map(({ id }) => id));
      const rows = all.filter(({ id }) => !goneIds.has(id));
      const ids = JSON.stringify(rows.map(({ id }) => id));
      const known = this.#prepare(this.sql.countRecords).get(tenant, collection, ids) as { count: number };
      let written = 0;
      for (const { id, body, invalid } of rows) {
        written += this.#run(put, tenant, collection, id, body, invalid ? '1' : '0');
        if (read !== undefined) this.#run(mark, tenant, collection, id, `${read}`);
      }
      const added = rows.length - Number(known.count);
      return { added, changed: written - added, replaced: [] };
    });
  }

  close(): void {
    this.#opened.close?.();
  }

  /** Returns how many rows the statement changed. */
  #run(sql: string, ...values: readonly string[]): number {
    return Number((this.#prepare(sql).run(...values) as { changes: number | bigint }).changes);
  }

  #prepare(sql: string): SqliteStatement {
    const statement = this.#prepared.get(sql) ?? this.#opened.database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #inTransaction<V>(work: () => V): V {
    const { database, file } = this.#opened;
    // What is written to a file that was deleted is lost without an error.
    if (file !== undefined && inodeOf(file.name) !== file.inode) {
      throw new CheckpointError(
        `${file.name} was deleted or replaced during the run. What was written to it is lost.`,
        { hint: 'Run this again.' },
      );
    }
    return inTransaction(database, work);
  }
}
