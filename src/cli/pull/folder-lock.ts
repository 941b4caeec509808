import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { CommandFailure, EXIT } from '../errors.ts';

/**
 * Keeps a second `pull --all` out of a folder. It is the lock of SQLite on an empty database, so that the operating
 * system removes it with a process that is killed. Node before 22.13 has no SQLite: there, nothing is locked.
 */
export class FolderLock {
  readonly #file: string;
  readonly #database: DatabaseSync;

  private constructor(file: string, database: DatabaseSync) {
    this.#file = file;
    this.#database = database;
  }

  static async take(folder: string): Promise<FolderLock | undefined> {
    const sqlite = await import('node:sqlite').catch(() => undefined);
    if (sqlite === undefined) return undefined;

    const file = join(folder, 'pull.lock');
    const database = new sqlite.DatabaseSync(file);
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw new CommandFailure(`${file} cannot be locked: ${(error as Error).message}.`, {
        advice: 'Another pull writes to this folder: wait until it has ended, or name another folder.',
        exitCode: EXIT.file,
      });
    }
    return new FolderLock(file, database);
  }

  [Symbol.dispose](): void {
    // First, so that no process locks a file that is about to go. Windows does not remove an open file: it stays.
    try {
      rmSync(this.#file);
    } catch {}
    this.#database.close();
  }
}
