import { AccountingError } from '../errors/accounting-error.ts';
import { checkOptionNames } from '../errors/check-input.ts';
import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { lockFile } from '../internal/lock-file.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { causeText } from '../internal/text.ts';
import type { Batch } from '../sync/batch.ts';
import type { OpenTarget, SyncTarget } from '../sync/target.ts';
import { failedWrite, KnownFields, MAX_COLUMNS, rowsOf, viewName } from './contents.ts';
import { identifier, MARK, viewStatement } from './sqlite-columns.ts';
import { inTransaction, openFile, type SqliteDatabase } from './sqlite-database.ts';

/** Options of {@link sqliteTarget}. */
export interface SqliteTargetOptions {
  /** The first part of the names of the three tables. Default: `accounting_`. */
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
 * `tenant`, `id` and one column for each field that was ever seen. It requires Node 22.13 or newer, or a runtime that
 * has `node:sqlite` too.
 *
 * @throws When a sync opens it: InvalidInputError if the file cannot be opened or is no database, or if a table or view
 * is not of this package; ConcurrentRunError while another sync of the tenant writes to the same file. In the batch
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
  if (typeof database !== 'string' && typeof database?.prepare !== 'function') {
    throw new InvalidInputError('database', 'must be the name of a file or a DatabaseSync');
  }
  if (database === '') throw new InvalidInputError('database', 'must not be empty');
  return {
    open(tenant) {
      if (typeof database !== 'string') return new SqliteCopy(database, { tenant, tablePrefix, viewPrefix });

      const file = openFile(database);
      let unlock: (() => void) | undefined;
      const close = () => {
        file.close();
        unlock?.();
      };
      try {
        if (database !== ':memory:') unlock = lockTenant(database, tenant);
        return new SqliteCopy(file, { tenant, tablePrefix, viewPrefix, close });
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

/** Keeps a second sync of the tenant out, of this process or another one. */
function lockTenant(copy: string, tenant: string): () => void {
  const unlock = lockFile(`${copy}-lock-${tenant}`);
  if (unlock !== undefined) return unlock;
  throw new ConcurrentRunError(`Another sync of ${tenant} writes to ${copy}.`, {
    retryable: true,
    hint: 'Run one at a time; other tenants can be synced at the same time.',
  });
}

interface CopyOptions {
  readonly tenant: string;
  readonly tablePrefix: string;
  readonly viewPrefix: string;
  readonly close?: () => void;
}

/** The copy of one tenant. */
class SqliteCopy implements OpenTarget {
  readonly #database: SqliteDatabase;
  readonly #options: CopyOptions;
  readonly #statements: Statements;
  readonly #known = new KnownFields();
  /** The collections whose views are as they should be. */
  readonly #viewed = new Set<string>();
  /** The checkpoints that this run has read or written. */
  readonly #checkpoints = new Map<string, string | undefined>();
  readonly close: () => void;

  constructor(database: SqliteDatabase, options: CopyOptions) {
    this.#database = database;
    this.#options = options;
    try {
      this.#statements = prepare(database, options.tablePrefix);
    } catch (error) {
      throw new InvalidInputError(
        'target',
        `a table with the prefix "${options.tablePrefix}" cannot be used: ${causeText(error)}`,
        {},
        { cause: error },
      );
    }
    this.close = options.close ?? (() => {});
  }

  readonly store = {
    get: (key: string): string | undefined => {
      const value = this.#storedCheckpoint(key);
      this.#checkpoints.set(key, value);
      return value;
    },
  };

  /** Writes records and checkpoint in one transaction. */
  onBatch(batch: Batch<{ id: string }>): void {
    const { collection, key, checkpoint, records } = batch;
    const { tenant } = this.#options;
    const rows = rowsOf(batch);
    const unknown = this.#known.unknown(collection, records);
    let columns: readonly string[] = [];
    this.#write(() => {
      this.#claim(key);
      if (unknown.length > 0 || !this.#viewed.has(collection))
        columns = this.#updateView(collection, unknown);
      for (const { id, body } of rows) this.#statements.upsert.run(tenant, collection, id, body);
      this.#statements.setCheckpoint.run(key, checkpoint);
    });
    // Only now: what was rolled back must be done again.
    this.#viewed.add(collection);
    this.#known.add(collection, columns);
    this.#checkpoints.set(key, checkpoint);
  }

  onDelete(ids: readonly string[], collection: string): void {
    this.#write(() => {
      for (const id of ids) this.#statements.remove.run(this.#options.tenant, collection, id);
    });
  }

  *localIds(collection: string): Generator<string> {
    for (let after = ''; ; ) {
      const rows = this.#statements.ids.all(this.#options.tenant, collection, after);
      const ids = (rows as { id: string }[]).map(({ id }) => id);
      yield* ids;
      after = ids.at(-1) ?? '';
      if (after === '') return;
    }
  }

  #storedCheckpoint(key: string): string | undefined {
    return (this.#statements.getCheckpoint.get(key) as { value: string } | undefined)?.value;
  }

  /** In the transaction, because a run that read the checkpoint at the same time may have written it since. */
  #claim(key: string): void {
    if (this.#storedCheckpoint(key) === this.#checkpoints.get(key)) return;
    throw new ConcurrentRunError(
      `Another sync of ${this.#options.tenant} wrote the checkpoint ${key} at the same time.`,
      { retryable: true, hint: 'Run one at a time.' },
    );
  }

  #write(work: () => void): void {
    try {
      inTransaction(this.#database, work);
    } catch (error) {
      throw error instanceof AccountingError ? error : failedWrite(error);
    }
  }

  /** Remembers new fields and gives the view a column for each. Returns those of every process. */
  #updateView(collection: string, unknown: readonly string[]): readonly string[] {
    const { addField, fields } = this.#statements;
    for (const name of unknown) addField.run(collection, name);
    const names = (fields.all(collection) as { name: string }[]).map(({ name }) => name);
    const { tablePrefix, viewPrefix } = this.#options;
    const name = `${viewPrefix}${viewName(collection)}`;
    const wanted = viewStatement({ name, table: `${tablePrefix}record`, collection, fields: names });
    const existing = this.#statements.object.get(name) as { type: string; sql: string } | undefined;
    if (existing?.sql === wanted) return names;
    if (existing !== undefined && !(existing.type === 'view' && existing.sql.includes(MARK))) {
      throw new InvalidInputError(
        'target',
        `${name} is a ${existing.type} that this package did not create. Rename it, or pass viewPrefix`,
      );
    }
    if (existing !== undefined) this.#database.exec(`DROP VIEW ${identifier(name)}`);
    this.#database.exec(wanted);
    return names;
  }
}

type Statements = ReturnType<typeof prepare>;

/** Creates the tables and prepares every statement. Throws if a table has another shape. */
function prepare(database: SqliteDatabase, prefix: string) {
  inTransaction(database, () =>
    database.exec(`
      CREATE TABLE IF NOT EXISTS ${prefix}record (
        tenant TEXT NOT NULL, collection TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (collection, tenant, id));
      CREATE TABLE IF NOT EXISTS ${prefix}checkpoint (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS ${prefix}field (
        collection TEXT NOT NULL, name TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (collection, name));
    `),
  );
  return {
    upsert: database.prepare(
      `INSERT INTO ${prefix}record (tenant, collection, id, body) VALUES (?, ?, ?, ?)
        ON CONFLICT (collection, tenant, id) DO UPDATE SET body = excluded.body WHERE body <> excluded.body`,
    ),
    remove: database.prepare(`DELETE FROM ${prefix}record WHERE tenant = ? AND collection = ? AND id = ?`),
    ids: database.prepare(
      `SELECT id FROM ${prefix}record WHERE tenant = ? AND collection = ? AND id > ? ORDER BY id LIMIT 10000`,
    ),
    getCheckpoint: database.prepare(`SELECT value FROM ${prefix}checkpoint WHERE key = ?`),
    setCheckpoint: database.prepare(
      `INSERT INTO ${prefix}checkpoint (key, value) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    ),
    addField: database.prepare(
      `INSERT OR IGNORE INTO ${prefix}field (collection, name, position)
        SELECT ?1, ?2, coalesce(max(position), 0) + 1 FROM ${prefix}field WHERE collection = ?1`,
    ),
    fields: database.prepare(
      `SELECT name FROM ${prefix}field WHERE collection = ? ORDER BY position LIMIT ${MAX_COLUMNS}`,
    ),
    object: database.prepare('SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE'),
  };
}
