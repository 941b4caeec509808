import { DatabaseSync } from 'node:sqlite';
import { type ChangesOptions, sync, verify } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { listenersOn } from '../../support/open-resources.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import {
  Copy,
  clientOf,
  HOUR_MS,
  KEY,
  leaveAtBatch,
  listing,
  MINUTE_MS,
  readAccounts,
  START,
  setUpSync,
  stateIn,
  syncAll,
  withAccounts,
} from './set-up.ts';

const oneHourLater = new Date('2026-01-05T09:00:00Z');

describe('what changes delivers', () => {
  test('is everything the first time, and a last batch that advances the watermark', async () => {
    const books = withAccounts(25);
    const copy = new Copy();
    const report = await readAccounts(books, {}, copy.take);

    expect(copy.ids).toEqual(books.sandbox.store.accounts.ids());
    expect(copy.batches.map(({ last }) => last)).toEqual([...copy.batches.slice(1).map(() => false), true]);
    expect(copy.batches.at(-1)).toMatchObject({ collection: 'accounts', records: [], invalid: [] });
    expect(report).toMatchObject({
      collection: 'accounts',
      status: 'done',
      mode: 'full',
      pagination: 'keyset',
      resumed: false,
      records: 25,
      watermark: new Date(START),
      lastFullRead: new Date(START),
    });
  });

  test('is then what changed since the watermark less the lookback, in one request if nothing did', async () => {
    const books = withAccounts(25);
    await readAccounts(books);
    books.sandbox.clock.advance(HOUR_MS);
    books.sandbox.clearLogs();
    const report = await readAccounts(books);
    expect(report).toMatchObject({ mode: 'incremental', records: 0, watermark: oneHourLater });
    expect(books.sandbox.requests).toMatchObject([
      {
        query: { _page: '1', updatedSince: '2026-01-04T19:58:00-12:00' },
        headers: { 'cache-control': 'no-cache' },
      },
    ]);
    expect(stateIn(books.states)).toMatchObject({ watermark: '2026-01-05T09:00:00Z', full: START });
  });

  test.each<[string, number[], number[], Partial<ChangesOptions>?]>([
    ['in a loop', [20, 40, 59, 60, 80, 119, 120], [-2, 18, 38, -62, 58, 78, -2]],
    ['after a pause', [10, 1440], [-2, -62]],
    ['or at the lookback, if that is earlier', [30, 60], [-120, -90], { lookbackMs: 120 * MINUTE_MS }],
  ])(
    'begins once an hour an hour and two minutes before the last run that did so: %s',
    async (_, times, expected, options) => {
      const books = setUpSync();
      const bounds: number[] = [];
      for (const minutes of [0, ...times]) {
        books.sandbox.clock.set(Date.parse(START) + minutes * MINUTE_MS);
        books.sandbox.clearLogs();
        await readAccounts(books, options);
        const sent = books.sandbox.requests.at(-1)?.query.updatedSince;
        if (sent !== undefined) bounds.push((Date.parse(sent) - Date.parse(START)) / MINUTE_MS);
      }
      expect(bounds).toEqual(expected);
    },
  );

  test('is everything again in mode full, even after an interrupted incremental run', async () => {
    const books = withAccounts(40);
    const { accounts } = books.sandbox.store;
    await readAccounts(books);
    for (const id of accounts.ids()) accounts.update(id, { name: 'new' });
    await leaveAtBatch(2, books);
    expect(stateIn(books.states)).toHaveProperty('run.since');
    const report = await readAccounts(books, { mode: 'full' });
    expect(report).toMatchObject({ mode: 'full', resumed: false, records: 40 });
  });

  test('includes records that are older than updatedSince, as a service that ignores it sends them', async () => {
    const books = listing(setUpSync(), { pagination: 'page' });
    await readAccounts(books);
    const body = () => JSON.stringify([{ id: '7', updatedAt: '2020-01-01T00:00:00Z' }]);
    books.sandbox.faults.next({ kind: 'rewrite', body });
    expect(await readAccounts(books)).toMatchObject({ mode: 'incremental', records: 1 });
  });

  test('is requested with headers of the caller, of which one replaces that for caches', async () => {
    const books = setUpSync();
    await readAccounts(books, { headers: { 'Cache-Control': 'max-age=5', 'X-Trace': 't1' } });
    expect(books.sandbox.requests[0]?.headers).toMatchObject({
      'cache-control': 'max-age=5',
      'x-trace': 't1',
    });
  });

  test('is a part of a collection under a prefix of its own, within its bounds', async () => {
    const books = withAccounts(40);
    expect(await readAccounts(books, { prefix: 'low', id: { lte: '20' } })).toMatchObject({ records: 20 });
    expect([...books.states.keys()]).toEqual(['low:acme:accounts']);
  });
});

describe('a batch of changes', () => {
  test('is committed when the next one is requested', async () => {
    const books = withAccounts(40);
    const seen: (string | undefined)[] = [];
    const checkpoints: string[] = [];
    await readAccounts(books, {}, ({ key, checkpoint }) => {
      seen.push(books.states.get(key));
      checkpoints.push(checkpoint);
    });
    expect(seen).toEqual([undefined, ...checkpoints.slice(0, -1)]);
    expect(books.states.get(KEY)).toBe(checkpoints.at(-1));
  });

  test('stays uncommitted if the loop over `changes` breaks or throws, and the next run starts again', async () => {
    const books = withAccounts(40);
    await leaveAtBatch(1, books);
    const throwing = readAccounts(books, {}, () => {
      throw new Error('the sink is full');
    });
    await expect(throwing).rejects.toThrow('the sink is full');
    expect(books.states.size).toBe(0);
    books.sandbox.clock.advance(HOUR_MS);
    expect(await readAccounts(books)).toMatchObject({ resumed: false, watermark: oneHourLater });
  });

  test('is committed although callbacks throw, and warnings name them', async () => {
    const books = withAccounts(5);
    const { logger, warnings } = loggerOfWarnings();
    const client = clientOf(books.sandbox, { logger });
    const bad = () => {
      throw new Error('bad callback');
    };
    const report = await readAccounts({ ...books, client }, { onCheckpoint: bad, onProgress: bad });
    expect(report).toMatchObject({ status: 'done', records: 5 });
    for (const name of ['onCheckpoint', 'onProgress'])
      expect(warnings).toContainEqual(expect.stringContaining(`${name} threw Error: bad callback`));
  });

  test('is reported with its checkpoint and the progress of the run', async () => {
    const books = withAccounts(25);
    const events: unknown[] = [];
    const progress: unknown[] = [];
    vi.spyOn(performance, 'now').mockReturnValue(9_000);
    const options: Partial<ChangesOptions> = {
      onCheckpoint: ({ collection, key, last }) => events.push([collection, books.states.has(key), last]),
      onProgress: (event) => progress.push(event),
    };
    await readAccounts(listing(books, { pagination: 'page' }), options, () =>
      vi.spyOn(performance, 'now').mockReturnValue(14_000),
    );
    expect(events).toEqual([false, false, false, true].map((last) => ['accounts', true, last]));
    expect(progress).toMatchObject([
      { collection: 'accounts', records: 10, pages: 1, pagination: 'page', waiting: false, last: false },
      { records: 20, pages: 2, recordsPerSecond: 4 },
      { records: 25, pages: 3 },
      { records: 25, pages: 3, last: true },
    ]);
  });
});

test.each(['keyset', 'page'] as const)(
  'a run that was interrupted is ended in its mode and with its watermark, and by page starts again with a batch that says so: by %s',
  async (pagination) => {
    const books = listing(withAccounts(40), { pagination });
    const marks: boolean[] = [];
    await leaveAtBatch(3, books, {}, ({ restarted }) => marks.push(restarted));
    expect(marks).toEqual([false, false]);
    books.sandbox.clock.advance(HOUR_MS);
    books.sandbox.clearLogs();
    marks.length = 0;
    const report = await readAccounts(books, {}, ({ restarted }) => marks.push(restarted));
    const watermark = new Date(START);
    const ended = { resumed: true, mode: 'full', pagination, watermark, lastFullRead: watermark };
    expect(report).toMatchObject(ended);
    expect(marks).toEqual([pagination === 'page', ...marks.slice(1).map(() => false)]);
    if (pagination === 'page') expect(books.sandbox.requests[0]?.query).toEqual({ _page: '1' });
    expect(report.records === 40).toBe(pagination === 'page');
  },
);

// That a hidden Date loses no change is simulated in test/reliability/histories/sync.
describe('the watermark', () => {
  test('is the Date of the first response of the run, not of the last and no updatedAt', async () => {
    const books = withAccounts(40, { timestampsEverywhere: true });
    books.sandbox.onRequest(() => books.sandbox.clock.advance(10_000));
    await readAccounts(books);
    expect(stateIn(books.states).watermark).toBe(START);
  });

  test('is earlier by the Age of a response that a cache returned', async () => {
    const books = withAccounts(1);
    books.sandbox.faults.add({ kind: 'rewrite', headers: { Age: '60' } });
    await readAccounts(books);
    expect(stateIn(books.states).watermark).toBe('2026-01-05T07:59:00Z');
  });

  test('lies before the request of a slow first response, whose data is older than its Date', async () => {
    const books = setUpSync();
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0);
    const { clock, store, fetch } = books.sandbox;
    const client = clientOf(books.sandbox, {
      fetch: async (...request) => {
        const response = await fetch(...request);
        if (books.sandbox.count() > 1) return response;
        // The data has been read; it is sent twenty minutes later, and a record changes meanwhile.
        clock.advance(10 * MINUTE_MS);
        store.accounts.insert({ id: '7' });
        clock.advance(10 * MINUTE_MS + 500);
        monotonic.mockReturnValue(20 * MINUTE_MS + 500);
        response.headers.set('date', new Date(clock.now()).toUTCString());
        return response;
      },
    });
    const run = () => readAccounts({ ...books, client }, { lookbackMs: 0 });
    expect(await run()).toMatchObject({ records: 0, watermark: new Date('2026-01-05T07:59:59Z') });
    expect(await run()).toMatchObject({ mode: 'incremental', records: 1 });
  });

  test.each([
    [0, false, 'incremental', START],
    // What was written since then is still within the bound.
    [120, true, 'incremental', '2026-01-05T07:58:00Z'],
    [121, true, 'full', '2026-01-05T07:57:59Z'],
  ])(
    'follows a clock that went back by %i s with a lookbackMs of 120 s: a report says clockWentBack: %s, and the run is %s',
    async (seconds, clockWentBack, mode, watermark) => {
      const books = withAccounts(5);
      await readAccounts(books);
      books.sandbox.clock.advance(-seconds * 1000);
      // Written after the last run, and stamped before it: an incremental run might never see it.
      books.sandbox.store.accounts.update('3', { name: 'late' });
      const seen: unknown[] = [];
      const report = await readAccounts(books, {}, ({ records }) => seen.push(...records));
      expect(report).toMatchObject({ clockWentBack, mode, records: mode === 'full' ? 5 : 1 });
      expect(seen).toContainEqual(expect.objectContaining({ id: '3', name: 'late' }));
      expect(stateIn(books.states)).toMatchObject({ watermark, full: mode === 'full' ? watermark : START });
    },
  );

  test("replaces a caller's own start, which only the first run sends", async () => {
    const books = setUpSync();
    const options = { updatedSince: new Date('2026-01-01T00:00:00.500+01:00') };
    const report = await readAccounts(books, options);
    await readAccounts(books, options);
    const bounds = books.sandbox.requests.map(({ query }) => query.updatedSince);
    expect(bounds).toEqual(['2025-12-31T11:00:00-12:00', '2026-01-04T19:58:00-12:00']);
    expect(report).toMatchObject({ mode: 'incremental', lastFullRead: undefined });
  });

  test("is not set by a start more than 24 hours ahead of the service's clock, which is rejected", async () => {
    const books = setUpSync();
    const { signal } = new AbortController();
    const ahead = readAccounts(books, { updatedSince: '2026-01-06T08:00:01Z', signal });
    await expect(ahead).rejects.toMatchObject({ code: 'invalid_input', argument: 'updatedSince' });
    expect([books.states.size, listenersOn(signal)]).toEqual([0, 0]);
    const soon = await readAccounts(books, { updatedSince: '2026-01-06T07:59:59Z' });
    expect(soon).toMatchObject({ status: 'done', mode: 'incremental' });
  });
});

// That a year of daylight saving times loses no change is simulated in test/reliability/histories/sync.
describe('the bound of an incremental run is written', () => {
  const inNewYork = { timeZone: 'America/New_York', dateFilter: 'local', timestamps: 'offset' } as const;
  const collections = ['accounts', 'products'] as const;

  test('in the offset that the collection showed, under any schema, and in -12:00 if it showed none', async () => {
    const books = setUpSync({ ...inNewYork, records: { accounts: 1, products: 1 } });
    const client = clientOf(books.sandbox, { schemas: { products: z.object({ id: z.string() }) } });
    for (let run = 0; run < 2; run++) await syncAll({ ...books, client }, { collections, lookbackMs: 0 });
    const bounds = books.sandbox.requests.flatMap(({ query }) => query.updatedSince ?? []);
    expect(bounds.toSorted()).toEqual(['2026-01-04T20:00:00-12:00', '2026-01-05T03:00:00-05:00']);
  });

  test.each([400, 422])(
    'in Z once more, with a warning, and from then on, by a service that rejects an offset with %i',
    async (status) => {
      const books = setUpSync({ ...inNewYork, dateFilter: 'utc', timestampsEverywhere: true });
      const { logger, warnings } = loggerOfWarnings();
      const bounds: string[] = [];
      const client = clientOf(books.sandbox, {
        logger,
        fetch: async (...request) => {
          const bound = new URL(request[0]).searchParams.get('updatedSince');
          if (bound !== null) bounds.push(bound);
          if (bound?.endsWith('Z') !== false) return books.sandbox.fetch(...request);
          return Response.json({ title: 'updatedSince', status }, { status });
        },
      });
      const { accounts } = books.sandbox.store;
      for (let n = 1; n <= 25; n++) accounts.insert({ id: `${n}` });
      await readAccounts({ ...books, client });
      books.sandbox.clock.advance(HOUR_MS);
      for (const id of accounts.ids()) accounts.update(id, { name: 'Cash' });
      expect(await readAccounts({ ...books, client })).toMatchObject({ records: 25 });
      await readAccounts({ ...books, client });
      expect(bounds[0]).toMatch(/-05:00$/);
      expect(bounds.slice(1).filter((bound) => !bound.endsWith('Z'))).toEqual([]);
      expect(warnings.filter((text) => text.includes('was rejected'))).toHaveLength(1);
    },
  );

  test('by verify as by a sync', async () => {
    const { sandbox } = setUpSync({ ...inNewYork, timestampsEverywhere: true });
    const { id } = sandbox.store.accounts.insert({});
    const client = clientOf(sandbox);
    const target = sqliteTarget(new DatabaseSync(':memory:'));
    const run = { tenant: 'acme', target, collections: ['accounts'] } as const;
    await sync(client, run);
    sandbox.store.accounts.update(id, { name: 'Later' });
    await verify(client, run);
    await sync(client, run);
    const bounds = sandbox.requests.flatMap(({ query }) => query.updatedSince ?? []);
    expect(new Set(bounds)).toEqual(new Set(['2026-01-05T02:58:00-05:00']));
    expect(bounds.length).toBeGreaterThan(1);
  });
});
