import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { createSandbox } from 'accounting-data-sdk/testing';
import { fromPglite } from 'pg-boss';
import { FAILED, plan, planHourly, type Result, startQueue, work } from '../src/queue.ts';

test('two machines, of which one stops, complete the copies of eight companies; a rejected key is a dead letter', async (t) => {
  const companies = new Map(
    Array.from({ length: 8 }, (_, seed) => [
      `company-${seed}`,
      createSandbox({ seed, records: { accounts: 60 + 2 * seed, products: 40 } }),
    ]),
  );
  const database = await PGlite.create();
  t.after(() => database.close());
  const results: [tenant: string, result: Result][] = [];
  const machine = async () => {
    const boss = await startQueue({ db: fromPglite(database), backend: 'pglite' });
    t.after(() => boss.stop());
    const stop = new AbortController();
    await work(boss, {
      connection: { query: (text: string, values?: string[]) => database.query(text, values) },
      companyOf: async (tenant) =>
        companies.get(tenant)?.clientOptions ?? { ...createSandbox().clientOptions, apiKey: 'revoked' },
      stopAfter: { requests: 30 },
      atOnce: 4,
      signal: stop.signal,
      onJob: (tenant, result) => results.push([tenant, result]),
    });
    return { boss, stop };
  };
  const [first, second] = [await machine(), await machine()];
  const tenants = [...companies.keys(), 'gone'];
  for (let start = 0; start < 3; start += 1) await planHourly(first.boss, async () => tenants);
  assert.equal((await first.boss.getSchedules()).length, 1);
  await plan(
    first.boss,
    tenants.map((tenant) => ({ tenant, mode: 'full' })),
  );
  const withStatus = (status: string) => results.filter(([, result]) => result.status === status);
  while (withStatus('paused').length < 5) await wait(50);
  second.stop.abort();
  await second.boss.stop();
  const synced = () => new Set(withStatus('synced').map(([tenant]) => tenant));
  while (synced().size < companies.size) await wait(50);

  const query = async (text: string) => (await database.query<Record<string, unknown>>(text)).rows;
  const rows = await query(
    "SELECT tenant, collection, body FROM accounting.record WHERE collection IN ('accounts', 'products') ORDER BY synced_at",
  );
  const copied = new Map(
    rows.map(({ tenant, collection, body }) => [
      `${tenant} ${collection} ${(body as { id: string }).id}`,
      body,
    ]),
  );
  const sent = [...companies].flatMap(([tenant, { store }]) =>
    (['accounts', 'products'] as const).flatMap((name) =>
      store[name].all().map((record) => [`${tenant} ${name} ${record.id}`, record] as const),
    ),
  );
  assert.equal(rows.length, sent.length);
  for (const [key, record] of sent) assert.deepEqual(copied.get(key), record);

  while (withStatus('failed').length === 0) await wait(50);
  const [dead] = await query(`SELECT data, source_output AS output FROM pgboss.job WHERE name = '${FAILED}'`);
  assert.deepEqual(dead?.data, { tenant: 'gone', mode: 'full' });
  assert.match(JSON.stringify(dead?.output), /"code":"unauthenticated"/);
});
