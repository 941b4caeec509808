import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { type CollectionName, createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { fromPglite } from 'pg-boss';
import { plan, startQueue, work } from '../src/queue.ts';

const NAMES = ['accounts', 'products'] as const satisfies readonly CollectionName[];

test('two machines complete the copies of twenty companies, in jobs of at most 30 requests', async () => {
  const companies = new Map(
    Array.from({ length: 20 }, (_, seed) => [
      `company-${seed}`,
      createSandbox({ seed, records: { accounts: 60 + 2 * seed, products: 40 } }),
    ]),
  );
  const database = await PGlite.create();
  const results: { tenant: string; paused: boolean }[] = [];
  const machine = async () => {
    const boss = await startQueue({ db: fromPglite(database), backend: 'pglite' });
    await work(boss, {
      connection: { query: (text, values) => database.query(text, values) },
      clientOf: (tenant) => createClient(companies.get(tenant)?.clientOptions),
      stopAfter: { requests: 30 },
      atOnce: 4,
      onJob: (tenant, { paused, problem }) => {
        assert.equal(problem, undefined);
        results.push({ tenant, paused });
      },
    });
    return boss;
  };
  const first = await machine();
  const machines = [first, await machine()];
  for (const tenant of companies.keys()) await plan(first, tenant);
  const done = () => new Set(results.filter(({ paused }) => !paused).map(({ tenant }) => tenant));
  while (done().size < companies.size) await wait(100);
  assert.ok(
    results.some(({ paused }) => paused),
    'no job was paused',
  );
  await Promise.all(machines.map((boss) => boss.stop({ graceful: false })));

  const { rows } = await database.query<{ key: string; body: object }>(
    `SELECT tenant || ' ' || collection || ' ' || id AS key, body FROM accounting.record
      WHERE collection IN ('accounts', 'products')`,
  );
  const copied = new Map(rows.map(({ key, body }) => [key, body]));
  const sent = [...companies].flatMap(([tenant, { store }]) =>
    NAMES.flatMap((name) =>
      store[name].all().map((record) => [`${tenant} ${name} ${record.id}`, record] as const),
    ),
  );
  assert.equal(copied.size, sent.length);
  for (const [key, record] of sent) assert.deepEqual(copied.get(key), record);
  await database.close();
});
