import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { monotonicMs } from '../monotonic-clock.ts';
import { sleep } from '../sleep.ts';

/**
 * Replaces a file: it then holds all of the text or none of it, even if the process or the machine dies. Its
 * permissions stay as they are. A crash can leave the temporary file behind. Under its default name the next call overwrites it, so processes that write at
 * the same time need names of their own.
 */
export async function replaceFile(file: string, text: string, temporary = temporaryOf(file)): Promise<void> {
  const permissions = (await unlessMissing(stat(file)))?.mode;
  await writeWhole(temporary, text, permissions && permissions & 0o777);
  try {
    await renameOver(temporary, file);
  } catch (error) {
    await removeAfterFailure(temporary);
    throw error;
  }
  await syncFolder(file);
}

/** How long a scanner may hold a file. */
const HELD_MS = 2_000;

/** On Windows a virus scanner or an indexer may hold a file for a moment, and a rename over it fails for as long. */
async function renameOver(temporary: string, file: string): Promise<void> {
  for (const from = monotonicMs(); ; await sleep(50, undefined)) {
    try {
      await rename(temporary, file);
      return;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      const mayBeHeld = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(code);
      if (!mayBeHeld || monotonicMs() - from >= HELD_MS) throw error;
    }
  }
}

/** Writes a file that no program reads yet, and makes it durable. Removes it if it cannot be written. */
export async function writeWhole(
  file: string,
  content: string | AsyncIterable<string>,
  mode?: number,
): Promise<void> {
  try {
    const handle = await createFile(file, mode);
    try {
      await handle.writeFile(content, 'utf8');
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    await removeAfterFailure(file);
    throw error;
  }
}

/** What failed first is the reason to report. */
async function removeAfterFailure(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}

/**
 * Creates a file under a name that others can guess. What a crash left there is removed, and so is a link, because
 * writing through it would reach its target. Rejects if another program creates it in between. A random name would be
 * no safer, because a program that may write to the folder can list it, and each crash would leave one more file.
 */
export async function createFile(file: string, mode?: number): Promise<FileHandle> {
  await rm(file, { force: true });
  const handle = await open(file, 'wx', mode);
  try {
    // Exactly these, whatever the umask says.
    if (mode !== undefined) await handle.chmod(mode);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The name of the temporary file, unless another is given. */
export function temporaryOf(file: string): string {
  return `${file}.tmp`;
}

/** Makes a rename or a new file in the folder of this file durable. Windows cannot open a folder, and need not. */
export async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return;

  const handle = await open(dirname(file), 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function readIfExists(file: string): Promise<string | undefined> {
  return unlessMissing(readFile(file, 'utf8'));
}

export async function unlessMissing<V>(work: Promise<V>): Promise<V | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
