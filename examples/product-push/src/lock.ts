import { open, readFile, rm } from 'node:fs/promises';

/** Another run is under way. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Keeps a second run out: two of them would both find a product missing and both make it. A run that was killed leaves
 * its lock behind, with the number of a process that is gone: the next one takes it over.
 */
export async function lock(path: string): Promise<AsyncDisposable> {
  const file = await open(path, 'wx').catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    const owner = Number(await readFile(path, 'utf8'));
    if (isRunning(owner)) {
      throw new LockedError(`Another run is under way (process ${owner}). If it is not, delete ${path}.`);
    }
    await rm(path, { force: true });
    return open(path, 'wx');
  });
  await file.writeFile(String(process.pid));
  await file.close();
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

function isRunning(pid: number): boolean {
  // In a container that was started anew, this process may have the number of the one that was killed.
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Of somebody else's process we learn that it is there.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
