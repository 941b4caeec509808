import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format } from 'node:util';
import { toDecimal } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const { argv } = process;
const root = process.cwd();
let sandbox: Sandbox;
let folder: string;
let runs = 0;

beforeEach(async () => {
  sandbox = createSandbox({ records: 420, seed: 7, requiredFields: ['name'], allowedStatuses: ['active'] });
  await sandbox.listen();
  vi.stubEnv('ACCOUNTING_BASE_URL', sandbox.baseUrl);
  vi.stubEnv('ACCOUNTING_API_KEY', sandbox.keys.full);
  folder = await mkdtemp(join(tmpdir(), 'recipe-'));
  process.chdir(folder);
});
afterEach(async () => {
  process.argv = argv;
  process.exitCode = undefined;
  process.chdir(root);
  await sandbox.close();
  await rm(folder, { recursive: true });
});

/** Runs a recipe to its end and returns what it printed. */
async function run(name: string, args: readonly string[] = [], exitCode?: number): Promise<string> {
  let printed = '';
  const exited = new Error('The recipe called process.exit.');
  vi.spyOn(console, 'log').mockImplementation((...values) => {
    printed += `${format(...values)}\n`;
  });
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += text;
    return true;
  });
  vi.spyOn(process, 'exit').mockImplementation(() => {
    throw exited;
  });
  const complained = vi.spyOn(console, 'error');
  process.argv = ['node', `${name}.ts`, ...args];
  runs += 1;
  await import(/* @vite-ignore */ `./${name}.ts?run=${runs}`).catch((error: unknown) => {
    if (error !== exited) throw error;
  });
  expect(complained).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  expect(process.exitCode).toBe(exitCode);
  return printed;
}

test('list-and-filter counts changed products, a range of accounts and all budget lines', async () => {
  const { accounts, budgetLines, products } = sandbox.store;
  const changed = products.all().filter(({ updatedAt = '' }) => `${updatedAt}` >= '2024-01-01').length;
  const between = accounts.ids().filter((id) => Number(id) > 10 && Number(id) <= 20);
  const printed = await run('list-and-filter');
  expect(printed).toContain(`${changed} products changed since 2024\n`);
  expect(printed).toContain(`accounts 11 to 20: ${between.join(' ')}\n`);
  expect(printed).toContain(`${budgetLines.count} budget lines\n`);
});

test('create-product creates one product for one key, and explains a rejected draft', async () => {
  const before = sandbox.store.products.count;
  const printed = await run('create-product');
  expect(printed.split('\n').slice(0, 2)).toEqual(['created Desk', 'created Desk']);
  expect(printed).toMatch(/correct the row: name: /);
  expect(sandbox.store.products.count).toBe(before + 1);
});

test('many-companies syncs every company that it can', async () => {
  const companies = [
    { tenant: 'acme', apiKey: sandbox.keys.full },
    { tenant: 'bolt', apiKey: sandbox.keys.revoked },
    { tenant: 'crane', apiKey: sandbox.keys.full, baseUrl: 'nowhere' },
    { tenant: 'delta', apiKey: sandbox.keys.otherCompany },
  ];
  await writeFile(join(folder, 'companies.json'), JSON.stringify(companies));
  const printed = await run('many-companies', ['companies.json']);
  expect(printed).toContain('acme: 420 records\n');
  expect(printed).toMatch(/^bolt: sync_failed: /m);
  expect(printed).toMatch(/^crane: invalid_input: /m);
  expect(printed).toMatch(/^delta: \d+ records$/m);
});

test('export-csv writes every product and adds up the prices exactly', async () => {
  sandbox.store.products.insert({ name: 'A "quoted", name', salePrice: '12345678901234567.8901' });
  const printed = await run('export-csv', ['out.csv']);
  const lines = (await readFile(join(folder, 'out.csv'), 'utf8')).trimEnd().split('\r\n');
  expect(lines).toHaveLength(sandbox.store.products.count + 1);
  expect(lines.at(-1)).toContain('"A ""quoted"", name",12345678901234567.8901');
  const total = sandbox.store.products
    .all()
    .reduce((sum, { salePrice }) => sum.plus(toDecimal(salePrice as string | null) ?? 0), toDecimal('0'));
  expect(printed).toContain(`add up to ${total.toFixed(4)}\n`);
});

test('web-route maps errors to statuses, and stops when the browser disconnects', async () => {
  let printed = '';
  vi.spyOn(console, 'log').mockImplementation((text) => {
    printed += `${text}\n`;
  });
  // What the operator sees.
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.stubEnv('PORT', '0');
  const listen = vi.spyOn(Server.prototype, 'listen');
  await import('./web-route.ts');
  const [server] = listen.mock.contexts as Server[];
  try {
    const url = /^http:\/\/localhost:(\d+)\/products\/1$/m;
    await expect.poll(() => printed).toMatch(url);
    const [, port] = url.exec(printed) ?? [];
    const get = (id: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}/products/${id}`, init);
    expect((await get('1')).status).toBe(200);
    expect((await get('999999')).status).toBe(404);
    expect((await get('%20..')).status).toBe(404);
    expect((await get('%E0%A4')).status).toBe(400);
    expect((await get('1?from=search')).status).toBe(200);
    const requests = sandbox.requests.length;
    expect((await fetch(`http://127.0.0.1:${port}/favicon.ico`)).status).toBe(404);
    expect(sandbox.requests.length).toBe(requests);

    sandbox.faults.next({ kind: 'status', status: 451 });
    expect((await get('1')).status).toBe(502);

    sandbox.faults.next({ kind: 'stall' });
    const leave = new AbortController();
    const before = sandbox.requests.length;
    const left = get('1', { signal: leave.signal }).catch(() => 'left');
    await expect.poll(() => sandbox.requests.length).toBe(before + 1);
    leave.abort();
    expect(await left).toBe('left');
    await expect.poll(() => printed).toContain('the browser disconnected\n');
  } finally {
    server?.close();
  }
});

test('singer-tap describes every field, and resumes from its state', async () => {
  const parse = (printed: string) =>
    printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  await writeFile(join(folder, 'config.json'), JSON.stringify({ baseUrl: sandbox.baseUrl }));
  const config = ['--config', 'config.json'];
  const first = parse(await run('singer-tap', config));
  const { accounts, products } = sandbox.store;
  const recordsOf = (stream: string) =>
    first.filter((message) => message.type === 'RECORD' && message.stream === stream);
  expect([recordsOf('accounts').length, recordsOf('products').length]).toEqual([
    accounts.count,
    products.count,
  ]);
  for (const stream of ['accounts', 'products']) {
    const { schema } = first.find((message) => message.type === 'SCHEMA' && message.stream === stream);
    const fields = recordsOf(stream)
      .slice(0, 100)
      .flatMap(({ record }) => Object.keys(record));
    expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining([...new Set(fields)]));
  }
  expect(first.filter(({ type }) => type === 'ACTIVATE_VERSION')).toHaveLength(2);

  await writeFile(join(folder, 'state.json'), JSON.stringify(first.at(-1).value));
  sandbox.store.accounts.insert({ name: 'New' });
  const second = parse(await run('singer-tap', [...config, '--state', 'state.json']));
  const records = second.filter(({ type }) => type === 'RECORD');
  expect(records.map(({ record }) => record.name)).toEqual(['New']);
  expect(second.filter(({ type }) => type === 'ACTIVATE_VERSION')).toEqual([]);

  // Without a state, what was deleted is not part of the new version.
  sandbox.store.accounts.delete('1');
  const third = parse(await run('singer-tap', config));
  const inThird = third.filter(({ type, stream }) => type === 'RECORD' && stream === 'accounts');
  expect(inThird.map(({ record }) => record.id)).not.toContain('1');
  const activated = third.find(({ type, stream }) => type === 'ACTIVATE_VERSION' && stream === 'accounts');
  expect(inThird.every(({ version }) => version === activated.version)).toBe(true);
  expect(activated.version).toBeGreaterThan(records[0].version);

  const { streams } = JSON.parse(await run('singer-tap', [...config, '--discover']));
  expect(streams.map(({ stream }: { stream: string }) => stream)).toEqual(['accounts', 'products']);
});

test('product-push pushes the export of a shop, and sends nothing the second time', async () => {
  const first = await run('product-push/src/main', [], 1);
  expect(first).toContain('DESK-160: created');
  expect(first).toContain('SHELF-3: rows[3].salePrice: is not a decimal with a point');
  expect(first).toContain('MAT-10: duplicate');
  expect(first).toMatch(/BIN-1: .*422/);
  expect(first).toContain('created: 5');
  sandbox.clearLogs();
  expect(await run('product-push/src/main', [], 1)).toContain('unchanged: 5');
  expect(sandbox.journal).toEqual([]);
});
