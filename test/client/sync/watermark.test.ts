import { afterEach, describe, expect, test, vi } from 'vitest';
import { listenersOn } from '../../support/open-resources.ts';
import { clientOf, MINUTE_MS, readAccounts, START, setUpSync, stateIn, withAccounts } from './set-up.ts';

afterEach(() => vi.useRealTimers());

describe('the watermark', () => {
  test('is the Date of the first response of the run, not of the last and no updatedAt', async () => {
    const books = withAccounts(40, { timestampsEverywhere: true });
    books.sandbox.onRequest(() => books.sandbox.clock.advance(10_000));
    await readAccounts(books);
    expect(stateIn(books.states).watermark).toBe(START);
  });

  test('is less Age if the response comes from a cache', async () => {
    const books = setUpSync();
    books.sandbox.faults.next({ kind: 'rewrite', headers: { Age: '90' } });
    await readAccounts(books);
    expect(stateIn(books.states).watermark).toBe('2026-01-05T07:58:30Z');
  });

  test('is the local clock less a margin if the Date header is hidden, which sets no clock back', async () => {
    vi.useFakeTimers({ now: Date.parse(START) + MINUTE_MS, toFake: ['Date'] });
    const books = setUpSync();
    await readAccounts(books);
    books.sandbox.faults.next({ kind: 'rewrite', headers: { Date: null } });
    const report = await readAccounts(books);
    expect(report).toMatchObject({ clockWentBack: false, watermark: new Date('2026-01-05T07:56:00Z') });
  });

  test('lies before the request of a slow first response, whose data is older than its Date', async () => {
    const books = setUpSync();
    const monotonic = vi.spyOn(performance, 'now').mockReturnValue(0);
    const client = clientOf(books.sandbox, {
      fetch: async (...request) => {
        const response = await books.sandbox.fetch(...request);
        if (books.sandbox.count() > 1) return response;
        // The data has been read; it is sent twenty minutes later, and a record changes meanwhile.
        books.sandbox.clock.advance(10 * MINUTE_MS);
        books.sandbox.store.accounts.insert({ id: '7' });
        books.sandbox.clock.advance(10 * MINUTE_MS + 500);
        monotonic.mockReturnValue(20 * MINUTE_MS + 500);
        const date = new Date(books.sandbox.clock.now()).toUTCString();
        return new Response(response.body, { headers: { ...Object.fromEntries(response.headers), date } });
      },
    });
    const first = await readAccounts({ ...books, client }, { lookbackMs: 0 });
    expect(first).toMatchObject({ records: 0, watermark: new Date('2026-01-05T07:59:59Z') });
    expect(await readAccounts({ ...books, client }, { lookbackMs: 0 })).toMatchObject({
      mode: 'incremental',
      records: 1,
    });
  });
});

describe('after the clock of the service went back', () => {
  test.each([
    [0, false, 'incremental', START],
    // What was written since then is still within the bound.
    [120, true, 'incremental', '2026-01-05T07:58:00Z'],
    [121, true, 'full', '2026-01-05T07:57:59Z'],
    [48 * 3600, true, 'full', '2026-01-03T08:00:00Z'],
  ])(
    'by %i s, with a lookbackMs of 120 s, a report says clockWentBack: %s, and the run is %s',
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
});

describe("a caller's own start", () => {
  test('is sent only by the first run', async () => {
    const books = setUpSync();
    const options = { updatedSince: new Date('2026-01-01T00:00:00.500+01:00') };
    const report = await readAccounts(books, options);
    await readAccounts(books, options);
    expect(books.sandbox.requests.map(({ query }) => query.updatedSince)).toEqual([
      '2025-12-31T11:00:00-12:00',
      '2026-01-04T19:58:00-12:00',
    ]);
    expect(report).toMatchObject({ mode: 'incremental', lastFullRead: undefined });
  });

  test("is rejected if it is more than 24 hours ahead of the service's clock", async () => {
    const books = setUpSync();
    const { signal } = new AbortController();
    const ahead = readAccounts(books, { updatedSince: '2026-01-06T08:00:01Z', signal });
    await expect(ahead).rejects.toMatchObject({ code: 'invalid_input', argument: 'updatedSince' });
    expect(books.states.size).toBe(0);
    expect(listenersOn(signal)).toBe(0);
  });
});
