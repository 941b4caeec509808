import { checkOptionNames } from '../errors/check-input.ts';
import { CheckpointError } from '../errors/checkpoint-error.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { lockFile } from '../internal/lock-file.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { SyncTarget, TargetContext, Written } from '../sync/target.ts';
import { identifier, sqliteColumns } from './columns.ts';
import { ALONE, Copy, type Engine, type Write } from './copy.ts';
import { failureKind, outlasting } from './failures.ts';
import { type Dialect, type Statements, statementsIn } from './sql.ts';
import {
  fileExists,
  inodeOf,
  inTransaction,
  openFile,
  type SqliteDatabase,
  type SqliteStatement,
} from './sqlite-database.ts';

/** Options of {@link sqliteTarget}. */
export interface SqliteTargetOptions {
  /** The first part of the names of the tables. Default: `accounting_`. */
  tablePrefix?: string | undefined;
  /** The first part of the names of the views, for a database that has a table `products` of its own. Default: none. */
  viewPrefix?: string | undefined;
}

const SQLITE_OPTIONS: OptionNames<SqliteTargetOptions> = { tablePrefix: true, viewPrefix: true };

const PREFIX = /^[A-Za-z_][A-Za-z0-9_]{0,49}$/;

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
): SyncTarget {
  checkOptionNames(options, SQLITE_OPTIONS, { of: 'sqliteTarget' });
  const { tablePrefix = 'accounting_', viewPrefix = '' } = options;
  for (const [name, prefix] of Object.entries({ tablePrefix, viewPrefix })) {
    if (prefix !== '' && (typeof prefix !== 'string' || !PREFIX.test(prefix))) {
      throw new InvalidInputError(
        name,
        'must be at most 50 letters, digits and "_", not beginning with a digit',
      );
    }
  }
  checkDatabase(database);
  const dialect = dialectOf(tablePrefix, viewPrefix);
  return {
    async open(tenant, context = ALONE) {
      if (typeof database !== 'string') {
        return await Copy.open(new SqliteEngine(database, dialect, { tablePrefix }), tenant, context);
      }
      const { purpose } = context;
      const open = () => openEngine(database, dialect, { tenant, tablePrefix, purpose });
      return await Copy.open(await outlasting(open, context), tenant, context);
    },
  };
}

function checkDatabase(database: string | SqliteDatabase): void {
  if (typeof database === 'string') {
    if (database === '') throw new InvalidInputError('database', 'must not be empty');
    if (database !== ':memory:') return;
    throw new InvalidInputError(
      'database',
      'must not be ":memory:", of which nothing is kept after the sync. Pass new DatabaseSync(":memory:"), which you close',
    );
  }
  if (typeof database?.prepare !== 'function') {
    throw new InvalidInputError('database', 'must be the name of a file or a DatabaseSync');
  }
  if (Array.isArray(database.prepare('SELECT 1 AS one').get())) {
    throw new InvalidInputError('database', 'must not have returnArrays: rows are read by their names');
  }
}

function dialectOf(tablePrefix: string, viewPrefix: string): Dialect {
  return {
    columns: sqliteColumns,
    types: { text: 'TEXT', json: 'TEXT', flag: 'INTEGER', time: 'TEXT' },
    table: (name) => `${tablePrefix}${name}`,
    view: (name) => identifier(`${viewPrefix}${name}`),
    param: (number) => `?${number}`,
    json: (text) => text,
    flag: (text) => `CAST(${text} AS INTEGER)`,
    time: (text) => text,
    items: (text) => `(SELECT value, key + 1 AS position FROM json_each(${text})) AS item`,
    itemText: 'item.value',
    now: `strftime('%Y-%m-%dT%H:%M:%fZ', 'now')`,
    narrow: ' WITHOUT ROWID',
    // SQLite reads no JSON of more than 1,000 levels: one such record would fail every query.
    rows: (collection) =>
      `(SELECT tenant, id, synced_at, iif(json_valid(body), body, NULL) AS body FROM ${tablePrefix}record WHERE collection = ${collection})`,
  };
}

interface EngineOptions {
  readonly tablePrefix: string;
  /** The file and its inode. */
  readonly file?: { readonly name: string; readonly inode: number | undefined };
  readonly close?: () => void;
}

/** Opens a file, with a lock if nothing else may be done with the tenant. */
function openEngine(
  name: string,
  dialect: Dialect,
  options: {
    readonly tenant: string;
    readonly tablePrefix: string;
    readonly purpose: TargetContext['purpose'];
  },
): SqliteEngine {
  const { tenant, tablePrefix, purpose } = options;
  if (purpose !== 'sync' && !fileExists(name))
    throw new InvalidInputError('target', `${name} does not exist`);
  const file = openFile(name);
  let unlock: (() => void) | undefined = () => {};
  try {
    if (purpose === 'sync' || purpose === 'forget') unlock = lockFile(`${name}-lock-${tenant}`);
  } catch (error) {
    file.close();
    if (failureKind(error) === 'away') throw error;
    throw new InvalidInputError('target', (error as Error).message, {}, { cause: error });
  }
  if (unlock === undefined) {
    file.close();
    throw new ConcurrentRunError(`Another sync of ${tenant} writes to ${name}.`, {
      retryable: true,
      hint: 'Run one at a time; other tenants can be synced at the same time.',
    });
  }
  const close = () => {
    file.close();
    unlock();
  };
  return new SqliteEngine(file, dialect, { tablePrefix, file: { name, inode: inodeOf(name) }, close });
}

class SqliteEngine implements Engine {
  readonly dialect: Dialect;
  readonly owner: string;
  readonly nameAdvice = 'Rename it, or pass viewPrefix';
  readonly objectsNamed: string;
  readonly #database: SqliteDatabase;
  readonly #options: EngineOptions;
  readonly #sql: Statements;
  readonly #prepared = new Map<string, SqliteStatement>();

  constructor(database: SqliteDatabase, dialect: Dialect, options: EngineOptions) {
    this.#database = database;
    this.dialect = dialect;
    this.#options = options;
    this.owner = `${options.tablePrefix}record`;
    this.#sql = statementsIn(dialect);
    const viewPrefix = dialect.view('').replaceAll('"', '');
    this.objectsNamed = `SELECT item.value AS name, o.type AS kind, o.sql AS definition
      FROM ${dialect.items('?1')} JOIN sqlite_master AS o ON o.name = '${viewPrefix}' || item.value COLLATE NOCASE`;
  }

  async query(sql: string, values: readonly string[] = []): Promise<readonly unknown[]> {
    return this.#prepare(sql).all(...values);
  }

  async script(statements: readonly string[]): Promise<void> {
    this.#checkFile();
    inTransaction(this.#database, () => {
      for (const sql of statements) this.#database.exec(sql);
    });
  }

  async replaceView({ name, definition, exists }: Parameters<Engine['replaceView']>[0]): Promise<void> {
    const drop = exists ? [`DROP VIEW ${this.dialect.view(name)}`] : [];
    await this.script([...drop, `CREATE ${definition}`]);
  }

  viewAdvice(name: string): string {
    return `Run DROP VIEW ${this.dialect.view(name)}, then a sync.`;
  }

  async write(write: Write): Promise<Written | undefined> {
    const { tenant, collection, rows, key, checkpoint, before, guard, read } = write;
    const { getCheckpoint, setCheckpoint, addRecord, changeRecord, mark } = this.#sql;
    const stored = (name: string) =>
      (this.#prepare(getCheckpoint).get(tenant, name) as { value: string } | undefined)?.value;
    let [added, changed] = [0, 0];
    this.#checkFile();
    const isWritten = inTransaction(this.#database, () => {
      // In the transaction, because a run that read the checkpoint at the same time may have written it since.
      if (stored(key) !== before || stored(guard) === undefined) return false;
      for (const { id, body, invalid } of rows) {
        const values = [tenant, collection, id, body, invalid ? '1' : '0'];
        if (this.#run(addRecord, values)) added += 1;
        else if (this.#run(changeRecord, values)) changed += 1;
        if (read !== undefined) this.#run(mark, [tenant, collection, id, `${read}`]);
      }
      this.#run(setCheckpoint, [tenant, key, checkpoint]);
      return true;
    });
    if (!isWritten) return undefined;
    return { added, changed, unchanged: rows.length - added - changed, replaced: [] };
  }

  close(): void {
    this.#options.close?.();
  }

  /** Whether the statement changed a row. */
  #run(sql: string, values: readonly string[]): boolean {
    const { changes } = this.#prepare(sql).run(...values) as { changes: number | bigint };
    return Number(changes) > 0;
  }

  #prepare(sql: string): SqliteStatement {
    const statement = this.#prepared.get(sql) ?? this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  /** What is written to a file that was deleted is lost without an error. */
  #checkFile(): void {
    const { file } = this.#options;
    if (file === undefined || inodeOf(file.name) === file.inode) return;
    throw new CheckpointError(
      `${file.name} was deleted or replaced during the run. What was written to it is lost.`,
      { hint: 'Run this again.' },
    );
  }
}
