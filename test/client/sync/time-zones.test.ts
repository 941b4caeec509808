import { type Batch, changes, createClient, memoryStore, type Store, sync } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { collect } from './books.ts';

const HOUR = 3_600_000;
const START = '2026-01-31T15:00:00Z';
const nothing = () => undefined;

/** A service in New York whose date filter ignores offsets. Products show timestamps, accounts do not. */
function inNewYork(options: SandboxOptions = {}) {
  const sandbox = createSandbox({
    timeZone: 'America/New_York',
    dateFilter: 'local',
    timestamps: 'offset',
    clock: START,
    ...options,
  });
  const client = createClient(sandbox.clientOptions);
  const bounds = () => sandbox.requests.flatMap(({ query }) => query.updatedSince ?? []);
  return { sandbox, client, bounds };
}

describe('the bound of an incremental run', () => {
  test('is written an hour below the lowest offset that the service shows', async () => {
    const { sandbox, client, bounds } = inNewYork();
    sandbox.store.products.insert({ id: '1' });
    const options = { store: memoryStore(), tenant: 'acme' };
    await collect(changes(client.products, options));
    sandbox.clock.advance(HOUR);
    sandbox.store.products.update('1', { name: 'Desk' });
    const report = await collect(changes(client.products, options));
    expect(report).toMatchObject({ mode: 'incremental', records: 1, staleRecords: 0 });
    expect(bounds()).toEqual(expect.arrayContaining([expect.stringMatching(/^2026-01-31T08:5.:..-06:00$/)]));
  });

  test('does not change for a service that shows no offset', async () => {
    const { sandbox, client, bounds } = inNewYork({ timestamps: 'seconds', dateFilter: 'utc' });
    sandbox.store.products.insert({ id: '1' });
    const store = new Map<string, string>();
    for (let run = 0; run < 2; run++) await collect(changes(client.products, { store, tenant: 'acme' }));
    expect([...new Set(bounds())]).toEqual([expect.stringMatching(/Z$/)]);
    expect([...store.keys()]).toEqual(['accounting-data-sdk:acme:products']);
  });

  test('re-reads at most two hours in New York, and counts no such record as stale', async () => {
    const { sandbox, client } = inNewYork();
    for (let minutes = 240; minutes > 0; minutes -= 10) {
      sandbox.clock.set(Date.parse(START) - minutes * 60_000);
      sandbox.store.products.insert({});
    }
    sandbox.clock.set(START);
    const options = { store: memoryStore(), tenant: 'acme', lookbackMs: 0 };
    await collect(changes(client.products, options));
    const report = await collect(changes(client.products, options));
    expect(report).toMatchObject({ records: 6, staleRecords: 0 });
  });
});

test.each([
  ['a schema that drops the timestamps', z.object({ id: z.string() })],
  ['a schema that turns them into dates', z.looseObject({ id: z.string(), updatedAt: z.coerce.date() })],
])('the bound is written for the offset of the service under %s', async (_, schema) => {
  const { sandbox } = inNewYork();
  const client = createClient({ ...sandbox.clientOptions, schemas: { products: schema } });
  sandbox.store.products.insert({ id: '1' });
  const options = { store: memoryStore(), tenant: 'acme' };
  await collect(changes(client.products, options));
  sandbox.clock.advance(HOUR);
  sandbox.store.products.update('1', { name: 'Desk' });
  await expect(collect(changes(client.products, options))).resolves.toMatchObject({ records: 1 });
});

const stores: readonly (readonly [string, (states: Map<string, string>) => Store])[] = [
  ['a store', (states) => states],
  ['a store with get alone', (states) => ({ get: (key) => states.get(key) })],
];

describe.each(stores)('in %s the offset of a service', (_, storeOf) => {
  test('is remembered for collections whose records show no timestamps', async () => {
    const { sandbox, client } = inNewYork();
    sandbox.store.products.insert({});
    sandbox.store.accounts.insert({ id: '1' });
    const states = new Map<string, string>();
    const run = async () =>
      sync(client, {
        store: storeOf(states),
        tenant: 'acme',
        collections: ['accounts', 'products'],
        onBatch: ({ key, checkpoint }) => states.set(key, checkpoint),
      });
    await run();
    sandbox.clock.advance(24 * HOUR);
    await run();
    sandbox.clock.advance(24 * HOUR);
    sandbox.store.accounts.update('1', { name: 'Kas' });
    await expect(run()).resolves.toMatchObject({ records: 1 });
  });

  test('is known from the checkpoint of a run that was interrupted', async () => {
    const { sandbox, client, bounds } = inNewYork({ pageSize: 5 });
    for (let n = 0; n < 20; n++) sandbox.store.products.insert({});
    sandbox.store.accounts.insert({ id: '1' });
    const states = new Map<string, string>();
    const options = { store: storeOf(states), tenant: 'acme' };
    const onBatch = ({ key, checkpoint }: Batch<{ id: string }>) => states.set(key, checkpoint);
    await sync(client, { ...options, collections: ['accounts'], onBatch });
    let batches = 0;
    const failing = (batch: Batch<{ id: string }>) => {
      if (++batches === 2) throw new Error('full');
      onBatch(batch);
    };
    await caught(sync(client, { ...options, collections: ['products'], onBatch: failing }));
    sandbox.clock.advance(HOUR);
    sandbox.store.accounts.update('1', { name: 'Kas' });
    sandbox.clearLogs();
    await sync(client, { ...options, collections: ['accounts', 'products'], onBatch });
    expect(bounds()[0]).toMatch(/-06:00$/);
  });

  test('is the lowest of all runs, even after the service showed a higher one', async () => {
    // Two hours of daylight saving time are more than the hour by which a bound allows for it.
    const { sandbox, client } = inNewYork({ timeZone: 'Antarctica/Troll' });
    sandbox.store.products.insert({ id: '1' });
    const states = new Map<string, string>();
    const run = () =>
      sync(client, {
        store: storeOf(states),
        tenant: 'acme',
        lookbackMs: 0,
        collections: ['products'],
        onBatch: ({ key, checkpoint }) => states.set(key, checkpoint),
      });
    await run();
    sandbox.clock.set('2026-07-01T15:00:00Z');
    sandbox.store.products.insert({ id: '2' });
    await run();
    sandbox.clock.set('2026-11-30T15:00:00Z');
    await run();
    sandbox.clock.advance(HOUR / 6);
    sandbox.store.products.update('1', { name: 'in winter' });
    await expect(run()).resolves.toMatchObject({ records: 1 });
  });

  test('that becomes known late makes collections read everything that they may have missed', async () => {
    const { sandbox, client } = inNewYork();
    sandbox.store.accounts.insert({ id: '1' });
    const states = new Map<string, string>();
    const run = async (collections: readonly ('accounts' | 'products')[]) =>
      sync(client, {
        store: storeOf(states),
        tenant: 'acme',
        collections,
        onBatch: ({ key, checkpoint }) => states.set(key, checkpoint),
      });
    // Nothing shows an offset yet: the bound is in UTC, and the service does not find the change.
    for (let day = 0; day < 3; day++) {
      await run(['accounts']);
      sandbox.store.accounts.update('1', { name: `change ${day}` });
      sandbox.clock.advance(HOUR);
    }
    await expect(run(['accounts'])).resolves.toMatchObject({ records: 0 });
    sandbox.store.products.insert({});
    const { collections } = await run(['accounts', 'products']);
    expect(collections.map(({ records }) => records)).toEqual([expect.any(Number), 1]);
    const after = await run(['accounts', 'products']);
    const { mode, records } = after.collections[0] ?? {};
    const wasRead = collections[0]?.mode === 'full' ? collections[0].records : records;
    expect([mode, collections[0]?.mode]).toContain('full');
    expect(wasRead).toBe(1);
  });
});

describe('a first run with a start of its own', () => {
  test('repeats its first request in the offset that the first records show', async () => {
    const { sandbox, client, bounds } = inNewYork();
    for (let hour = 0; hour < 12; hour++) {
      sandbox.store.products.insert({ id: String(hour + 1) });
      sandbox.clock.advance(HOUR);
    }
    const seen = new Set<string>();
    const options = { store: memoryStore(), tenant: 'acme', updatedSince: START };
    const report = await collect(changes(client.products, options), ({ records }) => {
      for (const { id } of records) seen.add(id);
    });
    expect(seen.size).toBe(12);
    expect(report).toMatchObject({ mode: 'incremental', status: 'done' });
    expect(new Set(bounds())).toEqual(new Set([START, '2026-01-31T09:00:00-06:00']));
  });
});

describe('a store that has one place for every key', () => {
  test('keeps the state of its one collection', async () => {
    const { sandbox, client } = inNewYork();
    sandbox.store.products.insert({ id: '1' });
    let latest: string | undefined;
    const store: Store = {
      get: () => latest,
      set: (_key, value) => {
        latest = value;
      },
    };
    const options = { store, tenant: 'acme' };
    await collect(changes(client.products, options));
    for (let day = 0; day < 3; day++) {
      sandbox.clock.advance(24 * HOUR);
      sandbox.store.products.update('1', { name: `change ${day}` });
      await expect(collect(changes(client.products, options))).resolves.toMatchObject({
        mode: 'incremental',
        records: 1,
      });
    }
    expect(JSON.parse(latest ?? '')).toMatchObject({ offset: -300, scope: expect.any(String) });
  });
});

describe('serviceTimeZone', () => {
  test('decides for a service that shows no offset', async () => {
    const { sandbox, client, bounds } = inNewYork({ timestamps: 'seconds' });
    sandbox.store.accounts.insert({ id: '1' });
    const options = { store: memoryStore(), tenant: 'acme', serviceTimeZone: 'America/New_York' };
    await collect(changes(client.accounts, options));
    sandbox.clock.advance(HOUR);
    sandbox.store.accounts.update('1', { name: 'Kas' });
    await expect(collect(changes(client.accounts, options))).resolves.toMatchObject({ records: 1 });
    expect(bounds().at(-1)).toMatch(/-06:00$/);
  });

  test('given after runs whose bounds were too late makes the next run read everything', async () => {
    const { sandbox, client } = inNewYork({ timestamps: 'seconds' });
    sandbox.store.accounts.insert({ id: '1' });
    const options = { store: memoryStore(), tenant: 'acme' };
    await collect(changes(client.accounts, options));
    sandbox.clock.advance(HOUR);
    sandbox.store.accounts.update('1', { name: 'Kas' });
    await expect(collect(changes(client.accounts, options))).resolves.toMatchObject({ records: 0 });
    const repaired = await collect(
      changes(client.accounts, { ...options, serviceTimeZone: 'America/New_York' }),
    );
    expect(repaired).toMatchObject({ mode: 'full', records: 1 });
  });

  test('that does not exist is rejected by name', async () => {
    const { client } = inNewYork();
    const options = {
      store: memoryStore(),
      tenant: 'acme',
      serviceTimeZone: 'Mars/Olympus',
      onBatch: nothing,
    };
    expect(await caught(sync(client, options))).toMatchObject({
      code: 'invalid_input',
      argument: 'serviceTimeZone',
    });
  });
});

describe('a run that was interrupted', () => {
  test('resumes with the same bound', async () => {
    const { sandbox, client, bounds } = inNewYork({ pageSize: 5 });
    const insertMany = (count: number) => {
      for (let n = 0; n < count; n++) sandbox.store.products.insert({});
    };
    insertMany(10);
    const options = { store: memoryStore(), tenant: 'acme' };
    await collect(changes(client.products, options));
    sandbox.clock.advance(HOUR);
    insertMany(30);
    sandbox.clearLogs();
    let batches = 0;
    for await (const { records } of changes(client.products, options)) {
      if (records.length > 0 && ++batches === 3) break;
    }
    sandbox.clock.advance(HOUR);
    const report = await collect(changes(client.products, options));
    expect(report).toMatchObject({ resumed: true, mode: 'incremental' });
    expect(new Set(bounds()).size).toBe(1);
  });

  test('is a CheckpointError if its stored offset is invalid', async () => {
    const { sandbox, client } = inNewYork();
    sandbox.store.products.insert({});
    const store = new Map<string, string>();
    await collect(changes(client.products, { store, tenant: 'acme' }));
    store.set('accounting-data-sdk:acme:utc-offset', '{"v":1,"utcOffset":"west"}');
    expect(await caught(collect(changes(client.products, { store, tenant: 'acme' })))).toMatchObject({
      code: 'checkpoint',
      message: expect.stringContaining('accounting-data-sdk:acme:utc-offset'),
    });
  });
});
