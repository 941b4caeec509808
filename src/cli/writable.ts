import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandFailure } from './command.ts';
import { EXIT } from './exit-codes.ts';

/**
 * Fails where a file cannot be written, for as far as that shows without writing. Asked before the service is: to hear
 * of a misspelt folder after the last request would cost the whole budget again.
 */
export async function checkWritable(file: string): Promise<void> {
  const there = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (there?.isDirectory() === true) {
    throw new CommandFailure(`${file} is a folder.`, { advice: 'Name a file.', exitCode: EXIT.file });
  }
  await access(there === undefined ? dirname(file) : file, constants.W_OK);
}
