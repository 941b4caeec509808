import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { lock } from '../../../examples/product-push/src/lock.ts';
import { exportOf, newFolder, numbersOf } from './support/shop.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const main = path('../../../examples/product-push/src/main.ts');
const hooks = path('../../support/from-source.mjs');

/** The program as a process of its own, in a folder of its own. */
function start(folder: string, sandbox: Sandbox | undefined, ...args: string[]) {
  const { NODE_OPTIONS: _options, NODE_V8_COVERAGE: _coverage, ...inherited } = process.env;
  const service =
    sandbox === undefined
      ? { ACCOUNTING_BASE_URL: '', ACCOUNTING_API_KEY: '' }
      : { ACCOUNTING_BASE_URL: sandbox.baseUrl, ACCOUNTING_API_KEY: sandbox.keys.full };
  const env = { ...inherited, ...service };
  const child = spawn(process.execPath, ['--import', hooks, main, ...args], { cwd: folder, env });
  return { child, ended: ended(child) };
}

async function ended(child: ChildProcess) {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output };
}

async function folderWith(csv: string): Promise<string> {
  const folder = await newFolder();
  await writeFile(join(folder, 'products.csv'), csv);
  return folder;
}

test('goes on after it was killed half-way, again and again, and makes each product once', {
  timeout: 60_000,
}, async () => {
  await using sandbox = createSandbox();
  await sandbox.listen();
  const folder = await folderWith(exportOf(40));
  for (const killAt of [5, 17, 29]) {
    const { child, ended } = start(folder, sandbox, 'products.csv');
    const stop = sandbox.onRequest(({ method }) => {
      if (method === 'POST' && sandbox.store.products.count >= killAt) child.kill('SIGKILL');
    });
    expect((await ended).code).toBe(null);
    stop();
  }
  const { code, output } = await start(folder, sandbox, 'products.csv').ended;
  expect(output).toMatch(/\d+ created/);
  expect(code).toBe(0);
  const numbers = sandbox.store.products.all().map(({ productNumber }) => productNumber);
  expect(numbers.sort()).toEqual(numbersOf(40));

  const again = await start(folder, sandbox, 'products.csv').ended;
  expect(again).toEqual({ code: 0, output: '40 unchanged\n' });
  expect(await readdir(folder)).toEqual(['product-push.state.json', 'products.csv']);
});

test('lets no second run in while one is under way', async () => {
  await using sandbox = createSandbox();
  await sandbox.listen();
  const folder = await folderWith('sku\nA');
  await writeFile(join(folder, 'product-push.state.json.lock'), String(process.pid));
  const { code, output } = await start(folder, sandbox, 'products.csv').ended;
  expect(code).toBe(2);
  expect(output).toMatch(/^Another run is under way \(process \d+\)/);
  expect(sandbox.count()).toBe(0);
});

test('takes over the lock of a process that had its own number', async () => {
  const file = join(await newFolder(), 'state.json.lock');
  await writeFile(file, String(process.pid));
  await using _ = await lock(file);
  expect(await readFile(file, 'utf8')).toBe(String(process.pid));
});

test('says by its exit code whether rows need a person, and in a sentence why it could not run', {
  timeout: 60_000,
}, async () => {
  await using sandbox = createSandbox({ requiredFields: ['name'] });
  await sandbox.listen();
  const folder = await folderWith('sku,title\nA,Desk\nB,');
  expect(await start(folder, sandbox, 'products.csv', '--dry-run').ended).toMatchObject({ code: 0 });
  const pushed = await start(folder, sandbox, 'products.csv').ended;
  expect(pushed).toMatchObject({ code: 1, output: expect.stringContaining('column title:') });
  const missing = await start(folder, sandbox, 'nowhere.csv').ended;
  expect(missing).toMatchObject({ code: 2, output: expect.stringMatching(/^ENOENT.*nowhere\.csv.*\n$/) });
  sandbox.revokeKey(sandbox.keys.full);
  const refused = await start(folder, sandbox, 'products.csv').ended;
  expect(refused).toMatchObject({ code: 2, output: expect.stringContaining('401') });
});

test('shows itself on a service in memory', async () => {
  const { code, output } = await start(await newFolder(), undefined).ended;
  expect(code).toBe(0);
  expect(output).toMatch(/A dry run[\s\S]*2 would create\nrequests to write: 0/);
  expect(output).toMatch(/CHAIR-7 +updated +2 .*price 49.0000 → 52.50/);
  expect(output).toMatch(/BIN-1 +failed\n +column status: .*It is "sold out"\./);
  expect(output).toMatch(/The push once more[\s\S]*3 unchanged[\s\S]*requests to write: 1/);
});
