import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connections, hasServer, PostgresServer } from '../../support/postgres-server.ts';
import { read, root, writeCodeBlocks } from './code-blocks.ts';

/** Imports a program of a guide with a sandbox in the environment. Returns what it prints, a line for each call. */
async function printedBy(file: string, sandbox: Sandbox): Promise<string[]> {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.stubEnv('ACCOUNTING_BASE_URL', sandbox.baseUrl);
  vi.stubEnv('ACCOUNTING_API_KEY', sandbox.keys.full);
  await import(/* @vite-ignore */ file);
  const lines = printed.mock.calls.map((values) => values.join(' '));
  printed.mockRestore();
  return lines;
}

/** The file of the program of a guide that contains a text, with a folder of its own in place of those that it names. */
function programOf(guide: string, text: string): { readonly file: string; readonly code: string } {
  const blocks = writeCodeBlocks(`src/guides/${guide}`, `programs-${guide.replace('.md', '')}`);
  const found = blocks.filter(({ code }) => code.includes(text));
  expect(found).toHaveLength(1);
  const [{ file, code } = { file: '', code: '' }] = found;
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const own = code.replaceAll(/'(?:\.\/state|\.push|books\.sqlite)'/g, (name) =>
    JSON.stringify(join(folder, name.replaceAll(/\W/g, ''))),
  );
  writeFileSync(file, `${own}\nexport {};\n`);
  return { file, code };
}

async function listening(options?: Parameters<typeof createSandbox>[0]): Promise<Sandbox> {
  const sandbox = createSandbox(options);
  await sandbox.listen();
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** What the comments behind `console.log` say that it prints. */
const stated = (code: string) =>
  [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, line]) => line);

test.each([
  ['errors.md', 'status: 412'],
  ['syncing.md', 'forget('],
  ['writing.md', 'taxOf('],
])('the program of %s with %s prints what its comments say', async (guide, text) => {
  const { file, code } = programOf(guide, text);
  expect(stated(code).length).toBeGreaterThan(0);
  expect(await printedBy(file, await listening({ records: 40 }))).toEqual(stated(code));
});

test('the program that starts a copy from zero reads everything again', async () => {
  const sandbox = await listening({ records: { accounts: 40 } });
  const { file } = programOf('syncing.md', 'forget(');
  const text = readFileSync(file, 'utf8');
  const counts: number[] = [];
  // The program runs twice with one store, which has a state the second time.
  for (const again of ['-first.ts', '-again.ts']) {
    const own = file.replace(/\.ts$/, again);
    writeFileSync(own, text.replace('console.log(copy.size === records)', 'console.log(copy.size, records)'));
    counts.push(...(await printedBy(own, sandbox)).flatMap((line) => line.split(' ').map(Number)));
  }
  expect(counts).toEqual([40, 40, 40, 40]);
});

test('the program that pushes one product creates it, updates it, and then takes one request and one for the change', async () => {
  const sandbox = await listening({ records: { products: 300 } });
  const { file } = programOf('pushing.md', 'function upsert');
  const printed = await printedBy(file, sandbox);
  expect(printed.map((line) => line.split(' ')[0])).toEqual(['created', 'updated']);
  expect(sandbox.store.products.all().filter(({ name }) => name === 'Big desk')).toHaveLength(1);
  const methods = sandbox.requests.map(
    ({ method, path }) => `${method} ${path.split('/').length > 5 ? 'one' : 'list'}`,
  );
  expect(methods.slice(methods.lastIndexOf('POST list') + 1)).toEqual(['GET one', 'PATCH one']);
});

test('the program for both directions takes over what changed on one side, and neither sends back what it got', async () => {
  const sandbox = await listening({
    fixtures: { products: [{ id: '1', productNumber: 'A', salePrice: '1' }] },
  });
  const { file } = programOf('pushing.md', 'agreed?:');
  writeFileSync(file, readFileSync(file, 'utf8').replace('export {};', 'export { run, shop };'));
  await printedBy(file, sandbox);
  const { run, shop } = (await import(/* @vite-ignore */ file)) as {
    run(): Promise<void>;
    shop: Map<string, { price: string | null }>;
  };
  const sides = () => {
    const theirs = sandbox.store.products.all().map((one) => `${one.productNumber} ${one.salePrice}`);
    const ours = [...shop].map(([number, { price }]) => `${number} ${price === null ? null : Number(price)}`);
    return [theirs, ours, sandbox.journal.length];
  };
  expect(sides()).toEqual([['A 1.0000'], ['A 1'], 0]);

  shop.set('A', { ...shop.get('A'), price: '2.5' });
  shop.set('B', { price: null });
  for (let i = 0; i < 3; i++) await run();
  expect(sides()).toEqual([['A 2.5000', 'B null'], ['A 2.5', 'B null'], 2]);

  sandbox.store.products.update('1', { salePrice: '3' });
  shop.set('B', { ...shop.get('B'), price: '4' });
  for (let i = 0; i < 3; i++) await run();
  expect(sides()).toEqual([['A 3.0000', 'B 4.0000'], ['A 3', 'B 4'], 3]);

  // Both changed it.
  sandbox.store.products.update('1', { salePrice: '5' });
  shop.set('A', { ...shop.get('A'), price: '6' });
  for (let i = 0; i < 2; i++) await run();
  expect(sides()).toEqual([['A 5.0000', 'B 4.0000'], ['A 5', 'B 4'], 3]);
});

test.each([
  ['0 with its report', 0, /"status":"done"/, 'full', undefined],
  ['1 for a key that is rejected', 1, /"causeCode":"unauthenticated"/, 'revoked', undefined],
  ['75 if waiting may help', 75, /"sync_failed"/, 'full', { kind: 'status', status: 503, retryAfter: 9e6 }],
  ['143 after SIGTERM', 143, /stopped by SIGTERM/, 'full', { kind: 'stall' }],
] as const)('the nightly job of the guide exits with %s', async (_, code, said, key, fault) => {
  const sandbox = await listening({ records: { accounts: 5 } });
  const { file } = programOf('running-at-scale.md', 'EX_TEMPFAIL');
  const child = spawn(process.execPath, ['--import', './test/support/from-source.mjs', file], {
    cwd: root,
    env: { ...process.env, ACCOUNTING_BASE_URL: sandbox.baseUrl, ACCOUNTING_API_KEY: sandbox.keys[key] },
  });
  onTestFinished(() => void child.kill());
  let printed = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (part) => (printed += String(part)));
  if (fault !== undefined) sandbox.faults.add(fault, { times: Number.POSITIVE_INFINITY });
  if (code === 143) {
    await expect.poll(() => sandbox.requests.length, { timeout: 30_000 }).toBeGreaterThan(0);
    child.kill('SIGTERM');
  }
  const [exitCode] = await once(child, 'close');
  expect(printed).toMatch(said);
  expect(exitCode).toBe(code);
});

test('the program of the guide to testing sees a 429, and the quota again after a reset', async () => {
  const { file } = programOf('testing.md', "isAccountingError(error, 'rate_limited')");
  expect(await printedBy(file, await listening())).toEqual([]);
});

const [, lock = ''] =
  /^```js\n((?:(?!```).)*function exclusively.*?)^```$/ms.exec(read('src/guides/running-at-scale.md')) ?? [];

/** Runs the program with a lock on a server. `sessions` are its connections, as `pg` has them, which can be lost. */
async function runLocked(folder: string, name: string, sandbox: Sandbox, sessions: EventEmitter[] = []) {
  const open = new Set<{ end(): Promise<void> }>();
  const connect = () => {
    const session = connections(folder, name, 1);
    open.add(session);
    return {
      query: async (sql: string, values?: string[]) => ({ rows: await session.query(sql, values) }),
      release: () => session.end(),
    };
  };
  class Pool {
    readonly #shared = connect();
    readonly query = this.#shared.query;
    on(): void {}
    end(): void {}
    async connect() {
      const session = Object.assign(new EventEmitter(), connect());
      sessions.push(session);
      return session;
    }
  }
  vi.stubGlobal('pg', { Pool });
  const file = `${root}test/package/docs/.generated/programs-lock-${name}.js`;
  writeFileSync(file, lock.replace(/^import pg from 'pg';\n/m, ''));
  try {
    return await printedBy(file, sandbox);
  } finally {
    for (const session of open) await session.end();
  }
}

test.runIf(hasServer)(
  'of several machines with the lock of the guide one syncs, and it stops if it loses the connection of the lock',
  async () => {
    const server = await PostgresServer.start();
    const { folder } = server;
    const sandbox = await listening({ records: { accounts: 5 } });
    const other = connections(folder, 'other', 1);
    try {
      expect(await runLocked(folder, 'alone', sandbox)).toEqual(['synced']);

      await other.query("SELECT pg_advisory_lock(hashtextextended('sync acme', 0))");
      const sent = sandbox.requests.length;
      expect(await runLocked(folder, 'second', sandbox)).toEqual(['another machine syncs it']);
      expect(sandbox.requests.length).toBe(sent);

      await other.query('SELECT pg_advisory_unlock_all()');
      sandbox.faults.add({ kind: 'stall' });
      const sessions: EventEmitter[] = [];
      const run = runLocked(folder, 'lost', sandbox, sessions);
      await expect.poll(() => sandbox.requests.length).toBeGreaterThan(sent);
      sessions[0]?.emit('error', new Error('The connection was lost.'));
      await expect(run).rejects.toThrow('The connection was lost.');
      sandbox.faults.clear();
      expect(await runLocked(folder, 'again', sandbox)).toEqual(['synced']);
    } finally {
      await other.end();
      await server.stop();
    }
  },
);
