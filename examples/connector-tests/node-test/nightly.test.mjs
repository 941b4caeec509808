import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { connectorTests } from 'accounting-data-sdk/testing';

const script = fileURLToPath(new URL('./nightly.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nightly-'));
const file = join(folder, 'copy.sqlite');

/** Runs the job as a process. The key is no argument, because errors show those. */
function run({ baseUrl, apiKey, signal }) {
  const env = { ...process.env, ACCOUNTING_API_KEY: apiKey };
  return promisify(execFile)(process.execPath, [script, baseUrl, file], {
    env,
    signal,
    killSignal: 'SIGKILL',
  });
}

function records(collection) {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('SELECT body FROM accounting_record WHERE collection = ?').all(collection);
    return rows.map(({ body }) => JSON.parse(String(body)));
  } finally {
    database.close();
  }
}

function reset() {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) rmSync(name, { force: true });
}

const cases = connectorTests({ collections: ['accounts', 'products'], run, records, reset });
for (const { name, run: play } of cases) test(name, play);
after(() => rmSync(folder, { recursive: true }));
