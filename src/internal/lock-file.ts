import { builtin } from './builtin.ts';

interface NodeFs {
  writeFileSync(file: string, text: string, options: { flag: 'wx' }): void;
  statSync(
    file: string,
    options: { throwIfNoEntry: false },
  ): { readonly ino: number; readonly size: number } | undefined;
  rmSync(file: string): void;
}

interface NodeSqlite {
  readonly DatabaseSync: new (
    file: string,
  ) => {
    exec(sql: string): void;
    close(): void;
  };
}

/** Whether {@link lockFile} locks anything in this runtime. */
export function canLockFiles(): boolean {
  return builtin('node:fs') !== undefined && builtin('node:sqlite') !== undefined;
}

/**
 * Locks a file and returns what releases the lock and removes the file; undefined if it is locked already, by this
 * process or another one. The lock is that of SQLite on an empty database, so the operating system releases it with the
 * process that holds it. Throws for a file that is not empty: it belongs to the user. Without SQLite, as in Node before 22.13, nothing is locked.
 */
export function lockFile(file: string): (() => void) | undefined {
  const fs = builtin<NodeFs>('node:fs');
  const sqlite = builtin<NodeSqlite>('node:sqlite');
  if (fs === undefined || sqlite === undefined) return () => {};

  for (;;) {
    // Never opened and closed otherwise: that would remove the locks that this process has on it.
    try {
      fs.writeFileSync(file, '', { flag: 'wx' });
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
    }
    const { ino: inode, size = 0 } = fs.statSync(file, { throwIfNoEntry: false }) ?? {};
    if (size > 0) {
      const message = `${file} is not empty, so it is not a lock of this package: rename it`;
      throw Object.assign(new Error(message), { code: 'EEXIST', path: file });
    }
    const database = new sqlite.DatabaseSync(file);
    try {
      database.exec('PRAGMA busy_timeout = 0');
      // Not EXCLUSIVE, which fails for each of two that try at once.
      database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      database.close();
      if (isBusy(error)) return undefined;
      throw error;
    }
    // The one that held the lock may have removed the file after this one had opened it.
    if (inode !== undefined && fs.statSync(file, { throwIfNoEntry: false })?.ino === inode) {
      return () => {
        // First, so that no process locks a file that is about to go. Windows does not remove an open file: it stays.
        try {
          if (fs.statSync(file, { throwIfNoEntry: false })?.size === 0) fs.rmSync(file);
        } catch {}
        database.close();
      };
    }
    database.close();
  }
}

/** Code 5 of SQLite. */
function isBusy(error: unknown): boolean {
  return (error as { errcode?: unknown }).errcode === 5 || /database is locked/.test(String(error));
}
