import { changes, createClient } from 'accounting-data-sdk';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { scriptedServer } from '../../support/scripted-server.ts';
import { useFastClock } from '../../support/virtual-clock.ts';
import { addAccounts, collect, START, setUpSync, stateIn } from './set-up.ts';

const HOUR = 3_600_000;

afterEach(() => vi.useRealTimers());

describe('the watermark', () => {
  test.each(['page', 'keyset'] as const)(
    'is the Date of the first response of the run, not of the last: %s',
    async (pagination) => {
      const books = setUpSync();
      addAccounts(books, 40);
      books.sandbox.onRequest(() => books.sandbox.clock.advance(10_000));
      await collect(changes(books.client.accounts, { ...books.run, pagination }));
      expect(stateIn(books.states).watermark).toBe(START);
    },
  );

  test('is less Age if the response comes from a cache', async () => {
    const books = setUpSync();
    books.sandbox.faults.next({ kind: 'rewrite', headers: { Age: '90' } });
    await collect(changes(books.client.accounts, books.run));
    expect(stateIn(books.states).watermark).toBe('2026-01-05T07:58:30Z');
  });

  test('lies before the request of a slow first response, whose data is older than its Date', async () => {
    const books = setUpSync();
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0);
    const client = createClient({
      ...books.sandbox.clientOptions,
      fetch: async (...request) => {
        const response = await books.sandbox.fetch(...request);
        if (books.sandbox.count() > 1) return response;
        // The data has been read; it is sent twenty minutes later, and a record changes meanwhile.
        books.sandbox.clock.advance(10 * 60_000);
        books.sandbox.store.accounts.insert({ id: '7' });
        books.sandbox.clock.advance(10 * 60_000 + 500);
        monotonic.mockReturnValue(20 * 60_000 + 500);
        const date = new Date(books.sandbox.clock.now()).toUTCString();
        return new Response(response.body, { headers: { ...Object.fromEntries(response.headers), date } });
      },
    });
    const first = await collect(changes(client.accounts, { ...books.run, lookbackMs: 0 }));
    expect(first).toMatchObject({ records: 0, watermark: new Date('2026-01-05T07:59:59Z') });
    const next = await collect(changes(client.accounts, { ...books.run, lookbackMs: 0 }));
    expect(next).toMatchObject({ mode: 'incremental', records: 1 });
  });

  test('is never taken from updatedAt', async () => {
    const books = setUpSync({ timestampsEverywhere: true });
    books.sandbox.store.accounts.insert({ updatedAt: '2026-01-05T07:00:00Z' });
    await collect(changes(books.client.accounts, books.run));
    expect(stateIn(books.states).watermark).toBe(START);
  });

  test('of a clock in the first centuries makes the next run read everything', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.faults.next({
      kind: 'rewrite',
      headers: { Date: 'Fri, 01 Jan 0100 00:00:00 GMT', Age: '999999999' },
    });
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ clockWentBack: true, mode: 'full', records: 25 });
    const next = await collect(changes(books.client.accounts, books.run));
    expect(next).toMatchObject({ records: 25, watermark: new Date(START) });
  });

  test('finds a change of the very second in which the last run began', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, { ...books.run, lookbackMs: 0 }));
    books.sandbox.store.accounts.insert({ id: '7' });
    const report = await collect(changes(books.client.accounts, { ...books.run, lookbackMs: 0 }));
    expect(report.records).toBe(1);
  });

  test('finds a change that becomes visible within the lookback', async () => {
    const books = setUpSync();
    books.sandbox.store.accounts.insert({ id: '7' }, { visibleAfterMs: 100_000 });
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(HOUR);
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ mode: 'incremental', records: 1 });
  });
});

describe('a clock of the service that goes back', () => {
  test.each([
    [119, 'incremental', '2026-01-05T07:58:01Z'],
    // What was written since then is still within the bound.
    [120, 'incremental', '2026-01-05T07:58:00Z'],
    [121, 'full', '2026-01-05T07:57:59Z'],
  ])('by %i s, with a lookback of 120 s: the run is %s', async (seconds, mode, watermark) => {
    const books = setUpSync();
    addAccounts(books, 5);
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(-seconds * 1000);
    const report = await collect(changes(books.client.accounts, books.run));
    expect(report).toMatchObject({ clockWentBack: true, mode });
    expect(stateIn(books.states).watermark).toBe(watermark);
  });

  test('by more: everything is read, because no bound can be trusted', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(-HOUR);
    // Written after the last run, and stamped before it: an incremental run would never see it.
    books.sandbox.store.accounts.update('3', { name: 'late' });
    books.sandbox.clearLogs();
    const seen: unknown[] = [];
    const report = await collect(changes(books.client.accounts, books.run), ({ records }) =>
      seen.push(...records),
    );
    expect(report).toMatchObject({ clockWentBack: true, mode: 'full', records: 25 });
    expect(seen).toHaveLength(25);
    expect(seen).toContainEqual(expect.objectContaining({ id: '3', name: 'late' }));
    expect(stateIn(books.states)).toMatchObject({
      watermark: '2026-01-05T07:00:00Z',
      full: '2026-01-05T07:00:00Z',
    });
  });

  test('is sent even if it lies in the future of the service', async () => {
    const books = setUpSync();
    await collect(changes(books.client.accounts, books.run));
    books.sandbox.clock.advance(-48 * HOUR);
    await expect(collect(changes(books.client.accounts, books.run))).resolves.toMatchObject({
      status: 'done',
    });
  });
});

describe("a caller's own start", () => {
  test('is sent only by the first run', async () => {
    const books = setUpSync();
    const options = { ...books.run, updatedSince: new Date('2026-01-01T00:00:00.500+01:00') };
    const report = await collect(changes(books.client.accounts, options));
    await collect(changes(books.client.accounts, options));
    expect(books.sandbox.requests.map(({ query }) => query.updatedSince)).toEqual([
      '2025-12-31T11:00:00-12:00',
      '2026-01-04T19:58:00-12:00',
    ]);
    expect(report).toMatchObject({ mode: 'incremental', lastFullRead: undefined });
  });

  test("is rejected if it is more than 24 hours ahead of the service's clock", async () => {
    const books = setUpSync();
    const ahead = changes(books.client.accounts, { ...books.run, updatedSince: '2026-01-06T08:00:01Z' });
    await expect(collect(ahead)).rejects.toMatchObject({ code: 'invalid_input', argument: 'updatedSince' });
    expect(books.states.size).toBe(0);
  });
});

describe('over a real port', () => {
  useFastClock();

  test('the watermark covers a change made while the server works on the first response', async () => {
    const inFlight = { id: '7', updatedAt: '' };
    const stamp = () => `${new Date().toISOString().slice(0, 19)}Z`;
    await using server = await scriptedServer(
      async (_, { response }) => {
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        inFlight.updatedAt = stamp();
        await new Promise((resolve) => setTimeout(resolve, 1_200));
        response.setHeader('date', new Date().toUTCString());
        response.end('[]');
      },
      ({ url }, { response }) => {
        const since = new URL(url, 'http://localhost').searchParams.get('updatedSince') ?? '';
        response.end(
          JSON.stringify(inFlight.updatedAt >= since && url.includes('_page=1') ? [inFlight] : []),
        );
      },
    );
    const client = createClient({ baseUrl: server.url, apiKey: 'key' });
    const store = new Map<string, string>();
    const options = { store, tenant: 'acme', lookbackMs: 0, pagination: 'page' } as const;
    await collect(changes(client.accounts, options));
    await expect(collect(changes(client.accounts, options))).resolves.toMatchObject({ records: 1 });
  });
});
