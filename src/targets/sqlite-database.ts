import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { builtin } from '../internal/builtin.ts';
import { failureKind, notOpened } from './failures.ts';

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
  readonly DatabaseSync: new (file: string, options?: { readonly readOnly: boolean }) => SqliteDatabase;
}

/**
 * Opens a file; creates it if it does not exist, unless it is only read: then it needs no right to write, and nothing is
 * written beside it. Throws the error of SQLite if another process has locked it.
 */
export function openFile(file: string, readOnly = false): SqliteDatabase {
  const sqlite = builtin<NodeSqlite>('node:sqlite');
  if (sqlite === undefined) {
    throw new InvalidInputError('target', 'node:sqlite is missing from this runtime', {
      hint: 'Use Node 22.13 or newer, or another target.',
    });
  }
  let database: SqliteDatabase | undefined;
  try {
    database = new sqlite.DatabaseSync(file, { readOnly });
    // A lock of another process is waited for without blocking the event loop: see `outlasting`.
    database.exec('PRAGMA busy_timeout = 0');
    if (readOnly) {
      database.exec('SELECT 1 FROM sqlite_master LIMIT 1');
      return database;
    }
    database.exec('PRAGMA journal_mode = WAL');
    // A loss of power may undo the last transactions, whole: rows together with their checkpoint.
    database.exec('PRAGMA synchronous = NORMAL');
    // What is removed or replaced is overwritten in the file too.
    database.exec('PRAGMA secure_delete = ON');
    // Opens the files beside it.
    database.exec('SELECT 1 FROM sqlite_master LIMIT 1');
    return database;
  } catch (error) {
    const reason = systemReason(error, file, readOnly ? 'r' : 'r+');
    database?.close();
    throw failureKind(reason) === 'away' ? reason : notOpened(reason, `${file} cannot be opened`);
  }
}

/** SQLite says only that it cannot open a file, or the journal beside it; the system says why, such as for lack of descriptors. */
export function systemReason(error: unknown, file: string, flags = 'r+'): unknown {
  const fs = builtin<NodeFs>('node:fs');
  if ((error as { errcode?: number }).errcode !== CANNOT_OPEN || fs === undefined) return error;
  const opened: number[] = [];
  try {
    for (let journals = 0; journals < 2; journals++) opened.push(fs.openSync(file, flags));
    return error;
  } catch (reason) {
    return reason;
  } finally {
    for (const descriptor of opened) fs.closeSync(descriptor);
  }
}

/** A code of SQLite. */
const CANNOT_OPEN = 14;

/**
 * Closes a file so that anybody can read it: with write-ahead logging, a reader must be allowed to write. Others that have
 * it open keep it as it is, and the last of them changes it.
 */
export function closeFile(database: SqliteDatabase): void {
  try {
    // Without statistics, a join of two collections may go through all of one for each record of the other.
    database.exec('PRAGMA analysis_limit = 1000; PRAGMA optimize = 0x10002');
    database.exec('PRAGMA journal_mode = DELETE');
  } catch {
    // Locked, or a full disk: the records are written.
  } finally {
    database.close();
  }
}

/** Commits all of the work or none of it. No other connection can write until then. */
export function inTransaction<V>(database: SqliteDatabase, work: () => V): V {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // A full disk has already ended the transaction.
    try {
      database.exec('ROLLBACK');
    } catch {}
    throw error;
  }
}

interface NodeFs {
  openSync(file: string, flags: string): number;
  closeSync(descriptor: number): void;
  statSync(file: string, options: { throwIfNoEntry: false }): { readonly ino: number } | undefined;
}

/** Identifies a file, even if another one has its name later. */
export function inodeOf(file: string): number | undefined {
  return builtin<NodeFs>('node:fs')?.statSync(file, { throwIfNoEntry: false })?.ino;
}

/** Whether there is such a file, as far as the runtime can tell. */
export function fileExists(file: string): boolean {
  return builtin<NodeFs>('node:fs') === undefined || inodeOf(file) !== undefined;
}
