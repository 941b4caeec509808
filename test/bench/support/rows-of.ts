import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Runs a bench that stands on its own; resolves with what it prints. */
export async function printedBy(script: string, ...args: readonly string[]): Promise<string> {
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...args]);
  return stdout;
}
