import { execFileSync } from 'node:child_process';

/** The words of a line, as a shell reads them. */
export function words(line: string): string[] {
  if (line === '') return [];
  return execFileSync('bash', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}
