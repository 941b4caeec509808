import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isError } from '../internal/realm.ts';
import { causeText } from '../internal/text.ts';
import { CommandFailure, EXIT } from './errors.ts';

/** Reads a file of `by --out`. */
export async function readFileOf(by: string, file: string): Promise<string> {
  return await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw failure(`${file} cannot be read (${error.code}).`, `Write it with ${by} --out.`);
  });
}

/** What the code in a file exports. `other`: what a runtime can read that cannot import TypeScript. */
export async function importFile(file: string, other: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    const code = isError(error) && 'code' in error ? error.code : undefined;
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw failure(
        `Node ${process.version} cannot import ${file}.`,
        `Use Node 22.18 or newer for TypeScript, or ${other}.`,
      );
    }
    throw failure(
      `${file} cannot be imported: ${causeText(error)}.`,
      code === 'ERR_MODULE_NOT_FOUND'
        ? 'Install what it imports, such as with "npm install zod".'
        : 'Correct it. Without "type": "module" in package.json, its name must end with .mts.',
    );
  }
}

function failure(message: string, advice: string): CommandFailure {
  return new CommandFailure(message, { advice, exitCode: EXIT.file });
}
