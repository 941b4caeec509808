import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
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
  let cleaning: Promise<void> | undefined;
  const clean = () => {
    cleaning ??= removeLeftovers(folder);
    return cleaning;
  };
  return {
    async get(key) {
      const file = fileOf(key);
      await clean();
      return unlessMissing(readFile(file, 'utf8'));
    },
    async set(key, value) {
      const file = fileOf(key);
      await clean();
      await mkdir(folder, { recursive: true });
      await replace(file, value);
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
  if (typeof key !== 'string') throw new InvalidInputError('key', 'must be a string');
  // A lone surrogate has no bytes of its own: two such keys would share one file.
  if (/\p{Surrogate}/u.test(key)) throw new InvalidInputError('key', 'must be well-formed Unicode');
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

/** A process that was killed while it wrote leaves its temporary file. A younger one may still be in use. */
const LEFTOVER_AFTER_MS = 3_600_000;

/** Removes what killed processes left behind. What goes wrong here is no reason to fail: the next process tries again. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => TEMPORARY.test(each))) {
    const file = join(folder, name);
    const modifiedMs = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    );
    if (modifiedMs < Date.now() - LEFTOVER_AFTER_MS) await rm(file, { force: true }).catch(() => undefined);
  }
}

/** What {@link replace} names its temporary files. */
const TEMPORARY = /\.json\.[0-9a-f]{12}\.tmp$/;

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
