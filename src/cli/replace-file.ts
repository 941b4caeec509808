import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Puts a text in place of a file: all of it, or nothing, also when the process or the machine dies meanwhile. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = temporaryOf(file);
  try {
    const handle = await open(temporary, 'w');
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
  await syncDirectory(dirname(file));
}

/** Always the same, so that one which a crash left behind is written over. */
export function temporaryOf(file: string): string {
  return `${file}.tmp`;
}

/** Makes a rename last. Windows cannot open a directory, and does not need to. */
export async function syncDirectory(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The text of a file; undefined where there is none. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
