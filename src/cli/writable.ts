import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { unlessMissing } from '../node/crash-safe-file.ts';
import { CommandFailure, EXIT } from './errors.ts';

/**
 * Fails if a file cannot be written, as far as that shows without writing. Called before the first request, because a
 * misspelt folder that shows after the last one costs the whole quota again.
 */
export async function checkWritable(file: string): Promise<void> {
  const existing = await unlessMissing(stat(file));
  if (existing?.isDirectory()) {
    throw new CommandFailure(`${file} is a folder.`, { advice: 'Name a file.', exitCode: EXIT.file });
  }
  await access(existing === undefined ? dirname(file) : file, constants.W_OK);
}
