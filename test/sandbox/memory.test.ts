import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('a million records, read and changed, take at most 150 MB', async () => {
  const program = fileURLToPath(new URL('./support/million.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program]);
  const { megabytes } = JSON.parse(stdout) as { megabytes: number };
  expect(megabytes).toBeLessThan(150);
});
