import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replaces a file as a whole: whoever is killed in between leaves the old one behind, never half of a new one. */
export async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    await file.writeFile(text);
    // On the disk before it takes the old one's place, or a power cut leaves an empty file.
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/** The new name is on the disk once the folder is. Some systems cannot open folders; they do this by themselves. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined);
  try {
    await folder?.sync();
  } catch {
    // The same systems again.
  } finally {
    await folder?.close();
  }
}
