import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** The lines of a file, each read on its own: a kill may have torn the last. */
export function linesOf(file: string): string[] {
  if (!existsSync(file)) return [];
  const bytes = readFileSync(file);
  const text = file.endsWith('.gz') ? gunzipSync(bytes).toString() : bytes.toString();
  return text.split('\n').filter(Boolean);
}
