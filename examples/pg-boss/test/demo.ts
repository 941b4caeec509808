import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test('shows itself without anything to set up', async () => {
  const { DATABASE_URL: _url, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [main], { env });
  assert.match(stdout, /^12 jobs; once more: 0 new ones\n/);
  for (const tenant of ['acme', 'bolt', 'crane']) {
    assert.ok(stdout.includes(`${tenant}: 450 records in the copy\n`), stdout);
  }
});
