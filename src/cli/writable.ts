import { access, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readIfExists, unlessMissing } from '../internal/node/crash-safe-file.ts';
import { CommandFailure, EXIT } from './errors.ts';

/**
 * The file that a name stands for: a rename would replace a link instead of its target. Its folder is created. Fails if
 * the file cannot be replaced, as far as that shows without writing. Called before the first request, because an error
 * that shows after the last one costs the whole quota again.
 */
export async function writableFile(name: string): Promise<string> {
  const existing = await unlessMissing(stat(name));
  if (existing?.isDirectory()) {
    throw new CommandFailure(`${name} is a folder.`, { advice: 'Name a file.', exitCode: EXIT.file });
  }
  // Such as a pipe.
  if (existing?.isFile() === false) {
    throw new CommandFailure(`${name} is not a regular file.`, {
      advice: 'Leave out --out and redirect standard output instead.',
      exitCode: EXIT.file,
    });
  }
  const file = existing === undefined ? name : await realpath(name);
  if (existing !== undefined) await access(file, constants.W_OK);
  // The new file is written beside the one that it replaces.
  await mkdir(dirname(file), { recursive: true });
  await access(dirname(file), constants.W_OK);
  return file;
}

/**
 * Fails if a file exists that the command did not write, unless `--force` is given. Called before the first request, as
 * {@link writableFile} is.
 */
export async function checkOverwriting(
  name: string,
  how: { by: string; force: true | undefined; isOwn: (text: string) => boolean },
): Promise<void> {
  const text = (await readIfExists(await writableFile(name))) ?? '';
  if (text.trim() === '' || how.force || how.isOwn(text)) return;
  throw new CommandFailure(`${how.by} does not overwrite ${name}: it did not write that file.`, {
    advice: 'Choose another file, or pass --force.',
    exitCode: EXIT.file,
  });
}

/** `--check` has found that the service differs from a file. */
export function changedFrom(file: string, by: string): CommandFailure {
  return new CommandFailure(`The service differs from ${file}.`, {
    advice: `Run ${by} --out, and look at what changes.`,
    exitCode: EXIT.changed,
  });
}
