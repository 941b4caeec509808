import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { builtin } from '../internal/builtin.ts';
import { oneLine } from '../internal/text.ts';

/** What a target needs of a `DatabaseSync` of `node:sqlite`. */
export interface SqliteDatabase {
  /** Runs statements that return nothing. */
  exec(sql: string): void;
  /** Compiles a statement. */
  prepare(sql: string): SqliteStatement;
  /** Closes the file. */
  close(): void;
}

/** A prepared statement of a {@link SqliteDatabase}. */
export interface SqliteStatement {
  /** Runs it, without its rows. */
  run(...values: string[]): unknown;
  /** The first row, or undefined. */
  get(...values: string[]): unknown;
  /** Every row. */
  all(...values: string[]): unknown[];
}

interface NodeSqlite {
  readonly DatabaseSync: new (file: string) => SqliteDatabase;
}

/** Opens a file; creates it if it does not exist. */
export function openFile(file: string): SqliteDatabase {
  const sqlite = builtin<NodeSqlite>('node:sqlite');
  if (sqlite === undefined) {
    throw new InvalidInputError(
      'target',
      'requires node:sqlite, which this runtime does not have. Use Node 22.13 or newer, or another target',
    );
  }
  let database: SqliteDatabase | undefined;
  try {
    database = new sqlite.DatabaseSync(file);
    // The first statement that reads the file. Another process may hold a lock.
    database.exec('PRAGMA busy_timeout = 10000');
    database.exec('PRAGMA journal_mode = WAL');
    // A loss of power may undo the last transactions, whole: rows together with their checkpoint.
    database.exec('PRAGMA synchronous = NORMAL');
    return database;
  } catch (error) {
    database?.close();
    throw new InvalidInputError(
      'target',
      `${file} cannot be opened: ${oneLine((error as Error).message)}`,
      {},
      { cause: error },
    );
  }
}

/** Commits all of the work or none of it. No other connection can write until then. */
export function inTransaction(database: SqliteDatabase, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    // A full disk has already ended the transaction.
    try {
      database.exec('ROLLBACK');
    } catch {}
    throw error;
  }
}
