import { existsSync, readFileSync } from 'node:fs';

/** The lines of a file, each read on its own: a kill may have torn the last. */
export function linesOf(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').filter(Boolean);
}
