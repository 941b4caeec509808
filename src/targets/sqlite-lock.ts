import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { builtin, type SqliteDatabase } from './sqlite-database.ts';

interface NodeFs {
  writeFileSync(file: string, text: string, options: { flag: 'wx' }): void;
  statSync(file: string, options: { throwIfNoEntry: false }): { readonly ino: number } | undefined;
  rmSync(file: string): void;
}

/**
 * Keeps a second sync of a tenant out, of this process or another one. The lock is that of SQLite on an empty database
 * beside the file, so the operating system removes it with the process that holds it.
 */
export class TenantLock {
  readonly #file: string;
  readonly #database: SqliteDatabase;

  private constructor(file: string, database: SqliteDatabase) {
    this.#file = file;
    this.#database = database;
  }

  static take(copy: string, tenant: string): TenantLock {
    const file = `${copy}-lock-${tenant}`;
    const { writeFileSync, statSync } = builtin<NodeFs>('node:fs');
    const { DatabaseSync } = builtin<{ DatabaseSync: new (file: string) => SqliteDatabase }>('node:sqlite');
    for (;;) {
      // Never opened and closed otherwise: that would remove the locks that this process has on it.
      try {
        writeFileSync(file, '', { flag: 'wx' });
      } catch (error) {
        if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
      }
      const before = statSync(file, { throwIfNoEntry: false })?.ino;
      const database = new DatabaseSync(file);
      try {
        database.exec('PRAGMA busy_timeout = 0');
        database.exec('BEGIN EXCLUSIVE');
      } catch (error) {
        database.close();
        if (!isBusy(error)) throw error;
        throw new ConcurrentRunError(
          `Another sync of ${tenant} writes to ${copy}. Run one at a time; other tenants can be synced meanwhile.`,
          { retryable: true },
          { cause: error },
        );
      }
      // The one that held the lock removed the file after this one had opened it.
      if (before !== undefined && statSync(file, { throwIfNoEntry: false })?.ino === before) {
        return new TenantLock(file, database);
      }
      database.close();
    }
  }

  release(): void {
    try {
      // Windows does not remove a file that is open: it stays.
      builtin<NodeFs>('node:fs').rmSync(this.#file);
    } catch {}
    this.#database.close();
  }
}

/** Code 5 of SQLite. */
function isBusy(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === 5 || /database is locked/.test(String(error));
}
