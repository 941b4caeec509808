import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompleteStore } from '../sync/store.ts';

/**
 * A store in a directory, one small file for each key. A write is there as a whole or not at all, also after a crash
 * or a loss of power: temporary file, fsync, rename, fsync of the directory. The directory is made when it is first
 * written to, and is to be on a local disk.
 *
 * ```ts
 * import { fileStore } from 'accounting-data-sdk/node';
 *
 * await sync(client, { store: fileStore('./state'), tenant: 'acme', onBatch });
 * ```
 */
export function fileStore(directory: string | URL): CompleteStore {
  const folder = directory instanceof URL ? fileURLToPath(directory) : directory;
  const fileOf = (key: string) => join(folder, `${fileName(key)}.json`);
  return {
    get: (key) => unlessMissing(readFile(fileOf(key), 'utf8')),
    async set(key, value) {
      await mkdir(folder, { recursive: true });
      await replace(fileOf(key), value);
      await syncDirectory(folder);
    },
    async delete(key) {
      await unlessMissing(rm(fileOf(key)));
    },
  };
}

/** File systems take names of 255 bytes, of which a temporary one spends 22 on its ending. */
const LONGEST_NAME = 233;

/**
 * A name that every file system takes and that no other key has, also where case does not count: `:` becomes `~`, a
 * capital `=` and its small letter, anything else out of the ordinary its bytes.
 */
function fileName(key: string): string {
  const name = Array.from(key, (char) => {
    if (/[a-z0-9_.-]/.test(char)) return char;
    if (char === ':') return '~';
    if (/[A-Z]/.test(char)) return `=${char.toLowerCase()}`;
    return Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  }).join('');
  // Nothing hidden, and no way up.
  const visible = name.replace(/^\./, '%2e');
  if (visible.length <= LONGEST_NAME) return visible;

  // `%` and no two digits: no other name holds that.
  const digest = createHash('sha256').update(key).digest('hex');
  return `${visible.slice(0, LONGEST_NAME - digest.length - 2)}%-${digest}`;
}

async function replace(file: string, text: string): Promise<void> {
  // Not the name of the process: two threads of one may write at the same time.
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      await handle.writeFile(text, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes the rename last. Windows cannot open a directory, and does not need to. */
async function syncDirectory(folder: string): Promise<void> {
  if (process.platform === 'win32') return;

  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function unlessMissing<V>(work: Promise<V>): Promise<V | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
