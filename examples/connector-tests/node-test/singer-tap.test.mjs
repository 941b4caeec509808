import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { connectorTests } from 'accounting-data-sdk/testing';

const tap = fileURLToPath(new URL('../../singer-tap.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'singer-'));
const [config, stateFile] = ['config.json', 'state.json'].map((name) => join(folder, name));

/** A Singer target in memory: what the tap prints before a STATE is written together with it. */
let copy = new Map();
let state = {};
let isRunning = false;

function write(messages) {
  for (const { type, stream, record, version } of messages) {
    const records = copy.get(stream) ?? new Map();
    copy.set(stream, records);
    if (type === 'RECORD') records.set(record.id, { record, version });
    if (type !== 'ACTIVATE_VERSION') continue;
    for (const [id, row] of records) if (row.version !== version) records.delete(id);
  }
}

async function run({ baseUrl, apiKey, signal }) {
  // As Meltano does: of two runs at once, each would delete the records that the other one wrote.
  if (isRunning) throw new Error('The tap is running.');
  isRunning = true;
  // The options for the cases `no records` and `odd records`.
  const options = { afterLastPage: 'not_found', validation: 'off' };
  writeFileSync(config, JSON.stringify({ baseUrl, apiKey, ...options }));
  writeFileSync(stateFile, JSON.stringify(state));
  const args = [tap, '--config', config, '--state', stateFile];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let messages = [];
  let errors = '';
  child.stderr.on('data', (bytes) => {
    errors += bytes;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    messages.push(message);
    if (message.type !== 'STATE') return;
    write(messages);
    messages = [];
    state = message.value;
  });
  // A kill is an error, too.
  child.once('error', () => {});
  await new Promise((resolve, reject) => {
    child.once('close', (code) => {
      isRunning = false;
      if (code === 0) resolve();
      else reject(new Error(errors.slice(-500)));
    });
  });
}

const cases = connectorTests({
  collections: ['accounts', 'products'],
  run,
  records: (collection) => [...(copy.get(collection)?.values() ?? [])].map(({ record }) => record),
  reset: () => {
    copy = new Map();
    state = {};
  },
  expected: {
    'deleted records': 'a list of changes shows no deletions',
    'one forbidden collection': 'a tap ends at the first stream that fails',
  },
});
for (const { name, run: play } of cases) test(name, play);
after(() => rmSync(folder, { recursive: true }));
