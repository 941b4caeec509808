import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../src/database.ts';
import { SyncQueue } from '../src/queue.ts';
import { Companies, copied } from './support/books.ts';
import { startPostgres } from './support/postgres.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const records = { accounts: 300, products: 60, budgets: 60, budgetLines: 60 };

test('processes that are killed and replaced leave a correct copy', async (t) => {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') {
    t.diagnostic(`Not tried: ${postgres}.`);
    return;
  }
  await using server = postgres;
  const books = new Companies({
    acme: { seed: 1, pageSize: 10, records },
    bolt: { seed: 2, pageSize: 10, records },
  });
  const folder = await mkdtemp(join(tmpdir(), 'pg-boss-test-'));
  const file = join(folder, 'companies.json');
  await Promise.all([...books.sandboxes.values()].map((sandbox) => sandbox.listen()));
  await writeFile(
    file,
    JSON.stringify(books.tenants.map((tenant) => ({ tenant, ...connection(books, tenant) }))),
  );

  const database = await openDatabase(server.url);
  const { tenants } = books;
  const queue = await SyncQueue.start({
    database,
    tenants: () => tenants,
    clientOf: books.clientOf,
    heartbeatSeconds: 10,
  });
  await queue.plan();

  const machine = () =>
    spawn(process.execPath, [main, file], {
      // It plans nothing by itself while this test looks on.
      env: {
        ...process.env,
        DATABASE_URL: server.url,
        HEARTBEAT_SECONDS: '10',
        AT_ONCE: '1',
        PLAN: '0 0 1 1 *',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  // Each dies in the middle of the largest list of a company.
  for (const tenant of tenants) {
    const doomed = machine();
    const exit = once(doomed, 'exit');
    const sandbox = books.of(tenant);
    const before = sandbox.count();
    const stop = sandbox.onRequest(() => {
      if (sandbox.count() - before === 12) doomed.kill('SIGKILL');
    });
    assert.deepEqual(await exit, [null, 'SIGKILL']);
    stop();
  }
  for (const { store } of books.sandboxes.values()) store.accounts.update('1', { name: 'Changed meanwhile' });

  const heirs = [machine(), machine()];
  while ((await queue.open()) > 0) await wait(100);
  assert.equal((await queue.ended()).length, 8);
  // What changed while a run was under way is what the next one brings.
  await queue.plan();
  while ((await queue.open()) > 0) await wait(100);
  assert.deepEqual(await copied(database), books.records());

  const exits = heirs.map((heir) => once(heir, 'exit'));
  for (const heir of heirs) heir.kill('SIGTERM');
  assert.deepEqual(await Promise.all(exits), [
    [0, null],
    [0, null],
  ]);
  await queue.stop();
  await database.close();
  await Promise.all([...books.sandboxes.values()].map((sandbox) => sandbox.close()));
  await rm(folder, { recursive: true });
});

function connection(books: Companies, tenant: string) {
  const { baseUrl, apiKey } = books.of(tenant).clientOptions;
  return { baseUrl, apiKey };
}
