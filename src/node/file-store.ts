import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { canLockFiles, lockFile } from '../internal/lock-file.ts';
import { readIfExists, replaceFile, unlessMissing } from '../internal/node/crash-safe-file.ts';
import type { CompleteStore } from '../reading/store.ts';

/**
 * A store in a directory, one small file for each key. After a crash or a loss of power a value is either the old one or
 * the new one, never a part of it: temporary file, fsync, rename, fsync of the directory. The first write creates the
 * directory, which should be on a local disk.
 *
 * ```ts
 * import { fileStore } from 'accounting-data-sdk/node';
 *
 * await sync(client, { store: fileStore('./state'), tenant: 'acme', onBatch });
 * ```
 */
export function fileStore(directory: string | URL): CompleteStore {
  const folder = folderOf(directory);
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
      return readIfExists(file);
    },
    async set(key, value) {
      const file = fileOf(key);
      await clean();
      await mkdir(folder, { recursive: true });
      // Two processes, or two threads of one, may write at the same time.
      await replaceFile(file, value, `${file}.${randomBytes(6).toString('hex')}.tmp`);
    },
    async delete(key) {
      await unlessMissing(rm(fileOf(key)));
    },
    async lock(key) {
      if (!canLockFiles()) return false;
      await mkdir(folder, { recursive: true });
      return lockFile(`${fileOf(key)}.lock`);
    },
  };
}

function folderOf(directory: unknown): string {
  if (typeof directory === 'string' && directory !== '') return directory;
  try {
    return fileURLToPath(directory as URL);
  } catch {
    throw new InvalidInputError('directory', 'must be a path, or a URL that begins with file:');
  }
}

/** File systems allow names of 255 bytes, and a temporary name adds 22. */
const LONGEST_NAME = 233;

/**
 * A name that every file system allows and that no other key has, even if case does not count: `:` becomes `~`, a
 * capital `=` and its small letter, any other special character its bytes.
 */
function fileName(key: string): string {
  if (typeof key !== 'string') throw new InvalidInputError('key', 'must be a string');
  // All lone surrogates are encoded as the same bytes: two such keys would share a file.
  if (/\p{Surrogate}/u.test(key)) throw new InvalidInputError('key', 'must be well-formed Unicode');
  const name = Array.from(key, (char) => {
    if (/[a-z0-9_.-]/.test(char)) return char;
    if (char === ':') return '~';
    if (/[A-Z]/.test(char)) return `=${char.toLowerCase()}`;
    return Array.from(Buffer.from(char), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  }).join('');
  // Not hidden, and not the parent folder.
  const visible = name.replace(/^\./, '%2e');
  if (visible.length <= LONGEST_NAME) return visible;

  // No other name has a `%` without two hexadecimal digits.
  const digest = createHash('sha256').update(key).digest('hex');
  return `${visible.slice(0, LONGEST_NAME - digest.length - 2)}%-${digest}`;
}

/** A process that is killed while it writes leaves its temporary file. A younger one may still be in use. */
const LEFTOVER_AFTER_MS = 3_600_000;

/** Removes what killed processes left behind. A failure is ignored, because the next process tries again. */
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

/** The names of the temporary files of `set`. */
const TEMPORARY = /\.json\.[0-9a-f]{12}\.tmp$/;
