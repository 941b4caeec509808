import {
  type Batch,
  type Client,
  changes,
  createClient,
  memoryStore,
  type Store,
  sync,
} from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { collect } from './set-up.ts';

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

  test('is in the lowest offset on Earth as long as the rows show none', async () => {
    const { sandbox, client, bounds } = inNewYork({ timestamps: 'seconds', dateFilter: 'utc' });
    sandbox.store.products.insert({ id: '1' });
    const store = new Map<string, string>();
    for (let run = 0; run < 2; run++) await collect(changes(client.products, { store, tenant: 'acme' }));
    expect([...new Set(bounds())]).toEqual([expect.stringMatching(/-12:00$/)]);
    expect([...store.keys()]).toEqual(['accounting-data-sdk:acme:products']);
  });

  test('re-reads at most two hours in New York, and counts such records as stale', async () => {
    const { sandbox, client } = inNewYork();
    for (let minutes = 240; minutes > 0; minutes -= 10) {
      sandbox.clock.set(Date.parse(START) - minutes * 60_000);
      sandbox.store.products.insert({});
    }
    sandbox.clock.set(START);
    const options = { store: memoryStore(), tenant: 'acme', lookbackMs: 0 };
    await collect(changes(client.products, options));
    const report = await collect(changes(client.products, options));
    expect(report).toMatchObject({ records: 6, staleRecords: 6 });
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
  test('is not needed for collections whose records show no timestamps', async () => {
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

  test('is known after a run that was interrupted and resumed', async () => {
    const { sandbox, client, bounds } = inNewYork({ pageSize: 5 });
    for (let n = 0; n < 20; n++) sandbox.store.products.insert({});
    const states = new Map<string, string>();
    const options = { store: storeOf(states), tenant: 'acme', collections: ['products'] as const };
    const onBatch = ({ key, checkpoint }: Batch<{ id: string }>) => states.set(key, checkpoint);
    let batches = 0;
    const failing = (batch: Batch<{ id: string }>) => {
      if (++batches === 2) throw new Error('full');
      onBatch(batch);
    };
    await caught(sync(client, { ...options, onBatch: failing }));
    await sync(client, { ...options, onBatch });
    await sync(client, { ...options, onBatch });
    expect(bounds().at(-1)).toMatch(/-06:00$/);
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
});

test('a lower offset than the bound allowed for is followed by one bound in -12:00, then it is known', async () => {
  const { sandbox, client, bounds } = inNewYork({
    timeZone: 'Antarctica/Troll',
    clock: '2026-07-01T15:00:00Z',
  });
  sandbox.store.products.insert({ id: '1' });
  const options = { store: memoryStore(), tenant: 'acme', lookbackMs: 0 };
  const run = () => collect(changes(client.products, options));
  await run();
  await run();
  sandbox.clock.set('2026-11-30T15:00:00Z');
  sandbox.store.products.insert({ id: '2' });
  for (let n = 0; n < 3; n++) await run();
  expect([...new Set(bounds().map((bound) => bound.slice(-6)))]).toEqual(['+01:00', '-12:00', '-01:00']);
});

test('the offset of a collection does not depend on the rows of another', async () => {
  const { sandbox, client, bounds } = inNewYork();
  sandbox.store.products.insert({ id: '1' });
  sandbox.store.accounts.insert({ id: '1' });
  const options = { store: memoryStore(), tenant: 'acme', collections: ['accounts', 'products'] as const };
  await sync(client, { ...options, onBatch: nothing });
  await sync(client, { ...options, onBatch: nothing });
  expect(new Set(bounds().map((bound) => bound.slice(-6)))).toEqual(new Set(['-06:00', '-12:00']));
});

test('a first run with a start of its own misses nothing', async () => {
  const { sandbox, client, bounds } = inNewYork();
  for (let hour = 0; hour < 12; hour++) {
    sandbox.store.products.insert({ id: String(hour + 1) });
    sandbox.clock.advance(HOUR);
  }
  const seen = new Set<string>();
  const options = { store: memoryStore(), tenant: 'acme', updatedSince: START };
  await collect(changes(client.products, options), ({ records }) => {
    for (const { id } of records) seen.add(id);
  });
  expect(seen.size).toBe(12);
  expect(new Set(bounds())).toEqual(new Set(['2026-01-31T03:00:00-12:00']));
});

/** One zone for each of twelve local offsets. */
const ZONES = [
  'Etc/GMT+12',
  'Pacific/Pago_Pago',
  'Pacific/Honolulu',
  'America/Los_Angeles',
  'America/New_York',
  'America/Sao_Paulo',
  'UTC',
  'Europe/Amsterdam',
  'Asia/Kolkata',
  'Asia/Tokyo',
  'Pacific/Auckland',
  'Pacific/Kiritimati',
];

test.each(
  ZONES.flatMap((zone) => (['seconds', 'offset', 'none'] as const).map((form) => [zone, form] as const)),
)('every change is found without an option: %s, timestamps %s', async (timeZone, form) => {
  const { sandbox, client } = inNewYork({ timeZone, timestamps: form === 'none' ? 'seconds' : form });
  // Accounts show no timestamps.
  const name = form === 'none' ? 'accounts' : 'products';
  const copy = new Map<string, unknown>();
  const options = { store: memoryStore(), tenant: 'acme', lookbackMs: 0 };
  const run = () =>
    collect(changes(client[name] as Client['accounts'], options), ({ records }) => {
      for (const record of records) copy.set(record.id, record.name);
    });
  for (let id = 1; id <= 6; id++) sandbox.store[name].insert({ id: String(id), name: 'new' });
  await run();
  for (let id = 1; id <= 6; id++) {
    sandbox.clock.advance(id * HOUR);
    sandbox.store[name].update(String(id), { name: `changed ${id}` });
    sandbox.clock.advance(60_000);
    await run();
    expect(copy.get(String(id))).toBe(`changed ${id}`);
  }
});

describe('a service that rejects a bound with an offset', () => {
  test('gets the bound in Z once more, with a warning, and from then on', async () => {
    const { sandbox } = inNewYork({ timestamps: 'offset', dateFilter: 'utc' });
    const warnings: string[] = [];
    const bounds: string[] = [];
    const client = createClient({
      ...sandbox.clientOptions,
      logger: { debug: nothing, info: nothing, warn: (text) => warnings.push(text) },
      fetch: async (...request) => {
        const bound = new URL(new Request(...request).url).searchParams.get('updatedSince');
        if (bound === null) return sandbox.fetch(...request);
        bounds.push(bound);
        if (bound.endsWith('Z')) return sandbox.fetch(...request);
        return Response.json(
          { type: '/errors/malformed_request', title: 'updatedSince', status: 400 },
          { status: 400, headers: { 'content-type': 'application/problem+json' } },
        );
      },
    });
    sandbox.store.products.insert({ id: '1' });
    const options = { store: memoryStore(), tenant: 'acme' };
    await collect(changes(client.products, options));
    sandbox.clock.advance(HOUR);
    sandbox.store.products.update('1', { name: 'Desk' });
    await expect(collect(changes(client.products, options))).resolves.toMatchObject({ records: 1 });
    expect(bounds[0]).toMatch(/-06:00$/);
    expect(bounds.slice(1).every((bound) => bound.endsWith('Z'))).toBe(true);
    const told = warnings.filter((text) => text.includes('serviceTimeZone'));
    expect(told).toHaveLength(1);
    bounds.length = 0;
    await collect(changes(client.products, options));
    expect(bounds.every((bound) => bound.endsWith('Z'))).toBe(true);
  });

  test('fails with the 400 if the bound in Z gets one too', async () => {
    const { sandbox, client } = inNewYork();
    sandbox.store.products.insert({ id: '1' });
    const store = new Map<string, string>();
    await collect(changes(client.products, { store, tenant: 'acme' }));
    const before = [...store];
    sandbox.faults.add({ kind: 'status', status: 400 }, { times: 9 });
    await expect(collect(changes(client.products, { store, tenant: 'acme' }))).rejects.toMatchObject({
      status: 400,
    });
    expect([...store]).toEqual(before);
  });
});

test('one line of the log names the option that saves records which are sent again', async () => {
  const { sandbox } = inNewYork();
  const warnings: string[] = [];
  const logger = { debug: nothing, info: nothing, warn: (text: string) => warnings.push(text) };
  const client = createClient({ ...sandbox.clientOptions, logger });
  sandbox.store.products.insert({ id: '1' });
  sandbox.clock.advance(HOUR / 2);
  const options = { store: memoryStore(), tenant: 'acme', lookbackMs: 0, onBatch: nothing };
  await sync(client, options);
  sandbox.clock.advance(HOUR / 2);
  const report = await sync(client, options);
  expect(report.collections.find(({ collection }) => collection === 'products')?.staleRecords).toBe(1);
  expect(warnings.filter((text) => text.includes('serviceTimeZone'))).toHaveLength(1);
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

  test.each([
    ['UTC', /Z$/],
    ['Asia/Tokyo', /\+09:00$/],
    ['America/New_York', /-06:00$/],
  ])('%s writes the bound without a margin if the zone is fixed', async (serviceTimeZone, form) => {
    const { sandbox, client, bounds } = inNewYork();
    sandbox.store.products.insert({ id: '1' });
    const options = { store: memoryStore(), tenant: 'acme', serviceTimeZone };
    for (let run = 0; run < 2; run++) await collect(changes(client.products, options));
    expect(bounds().at(-1)).toMatch(form);
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

  test.each(['west', 1.5, 9999])('is a CheckpointError if its stored offset is %s', async (offset) => {
    const { sandbox, client } = inNewYork();
    sandbox.store.products.insert({});
    const store = new Map<string, string>();
    await collect(changes(client.products, { store, tenant: 'acme' }));
    const key = 'accounting-data-sdk:acme:products';
    store.set(key, JSON.stringify({ ...JSON.parse(store.get(key) ?? ''), offset }));
    expect(await caught(collect(changes(client.products, { store, tenant: 'acme' })))).toMatchObject({
      code: 'checkpoint',
      message: expect.stringContaining(key),
    });
  });
});
