import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectorTests } from 'accounting-data-sdk/testing';

const script = fileURLToPath(new URL('./nightly.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'nightly-'));
const file = join(folder, 'copy.sqlite');
let log = '';

/** Starts the job as a process. */
function run({ baseUrl, apiKey }) {
  const child = spawn(process.execPath, [script, baseUrl, apiKey, file]);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      log += bytes;
    });
  }
  const done = new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(log.slice(-500)))));
  });
  return { done, kill: () => child.kill('SIGKILL') };
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

const cases = connectorTests({
  collections: ['accounts', 'products'],
  run,
  records,
  reset,
  output: () => log,
});
for (const { name, run: play } of cases) test(name, play);
after(() => rmSync(folder, { recursive: true }));
