import { type Client, collectionNames, type SyncOptions, type SyncReport } from 'accounting-data-sdk';
import { describe, expect, test, vi } from 'vitest';
import {
  Copy,
  clientOf,
  failureOf,
  HOUR_MS,
  listing,
  readAccounts,
  type SyncSetUp,
  setUpSync,
  stateIn,
  statuses,
  syncAll,
} from './set-up.ts';

const SOME = ['accounts', 'products', 'budgets'] as const;

/** Runs syncs with this limit until one is not paused, a minute apart. Returns their reports. */
async function untilDone(
  books: SyncSetUp,
  requests: number,
  options: Partial<SyncOptions<Client>> = {},
): Promise<SyncReport[]> {
  const reports: SyncReport[] = [];
  do {
    books.sandbox.clearLogs();
    reports.push(await syncAll(books, { ...options, stopAfter: { requests } }));
    // Below ten a sync may need more for its first batch.
    if (requests >= 5) expect(books.sandbox.count()).toBeLessThanOrEqual(requests);
    books.sandbox.clock.advance(60_000);
  } while (reports.at(-1)?.paused && reports.length < 200);
  expect(reports.at(-1)?.paused).toBe(false);
  return reports;
}

describe('a sync with a limit of requests', () => {
  test.each([1, 10, 1000])(
    'of %d sends no more, retries included, delivers a batch in each run, and the runs together deliver each record once',
    async (requests) => {
      const books = setUpSync({ records: 35, clock: '2020-01-01T00:00:00Z' });
      const delivered: Record<string, number> = {};
      const where = { collection: 'accounts', skip: 2, times: 3 } as const;
      books.sandbox.faults.add({ kind: 'status', status: 503 }, where);
      let batches = 0;
      const reports = await untilDone(books, requests, {
        onBatch: ({ collection, records }) => {
          batches += 1;
          delivered[collection] = (delivered[collection] ?? 0) + records.length;
        },
      });
      const expected = collectionNames.map((name) => [name, books.sandbox.store[name].count]);
      expect(delivered).toEqual(Object.fromEntries(expected));
      expect(reports.length > 1).toBe(requests < 1000);
      expect(batches).toBeGreaterThanOrEqual(reports.length);
      // Below ten a sync may need more for its first batch.
      const exceeded = reports
        .flatMap(({ collections }) => collections)
        .some((one) => one.exceededLimit !== undefined);
      expect(exceeded).toBe(requests === 1);
    },
  );

  test('names the collections that are done, paused and not begun, and the next one resumes', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 95, budgets: 5 } });
    const options = { collections: SOME, concurrency: 1 };
    const first = await syncAll(books, { ...options, stopAfter: { requests: 12 } });
    expect(first.paused).toBe(true);
    expect(statuses(first)).toEqual(['done', 'paused', 'not_begun']);
    const second = await syncAll(books, { ...options, stopAfter: { requests: 100 } });
    expect(second.paused).toBe(false);
    expect(statuses(second)).toEqual(['done', 'done', 'done']);
    expect(second.collections.map(({ resumed, mode }) => [resumed, mode])).toEqual([
      [false, undefined],
      [true, 'full'],
      [false, 'full'],
    ]);
    // The first sync has read it.
    const { watermark, lastFullRead } = first.collections[0] ?? {};
    expect(watermark).toBeInstanceOf(Date);
    expect(second.collections[0]).toMatchObject({ watermark, lastFullRead, complete: 'certain' });
    expect(first.records + second.records).toBe(105);
  });

  test('reads a list that cannot be resumed to its end, also after a failure that was repeated with success', async () => {
    const books = setUpSync({ records: { accounts: 45 }, ids: { form: 'uuid' }, pageSize: 10 });
    books.sandbox.faults.add({ kind: 'status', status: 503 }, { collection: 'accounts', skip: 2, times: 1 });
    const report = await syncAll(books, { collections: ['accounts'], stopAfter: { requests: 4 } });
    expect(report).toMatchObject({ paused: false, records: 45 });
  });

  test('resumes a collection that was paused while it read what had changed', async () => {
    const books = setUpSync({ records: { accounts: 95, products: 5 } });
    const options = { collections: ['accounts', 'products'], concurrency: 1 } as const;
    await syncAll(books, { ...options, stopAfter: { requests: 1_000 } });
    books.sandbox.clock.advance(HOUR_MS);
    const { accounts } = books.sandbox.store;
    for (const id of accounts.ids()) accounts.update(id, { name: 'new' });
    const first = await syncAll(books, { ...options, stopAfter: { requests: 8 } });
    expect(statuses(first)).toEqual(['paused', 'not_begun']);
    const second = await syncAll(books, { ...options, stopAfter: { requests: 100 } });
    expect(second.collections).toMatchObject([
      { status: 'done', mode: 'incremental', resumed: true },
      { status: 'done', mode: 'incremental', resumed: false },
    ]);
    expect(first.records + second.records).toBe(95);
  });

  /** The collections that these syncs have read to the end, sorted. */
  const read = (reports: readonly SyncReport[]) =>
    reports
      .flatMap(({ collections }) => collections.filter(({ mode, status }) => mode && status === 'done'))
      .map(({ collection }) => collection)
      .toSorted();

  test('reads every collection once in each round, although the limit is smaller and one is forbidden', async () => {
    const books = setUpSync({ records: 3, clock: '2020-01-01T00:00:00Z' });
    books.sandbox.clock.set('2030-01-01T00:00:00Z');
    const where = { collection: 'accounts' } as const;
    books.sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, where);
    for (let round = 0; round < 3; round++) {
      // After the first one, a sync that was paused and one without a limit end the round.
      if (round === 2) await syncAll(books, { stopAfter: { requests: 5 } });
      if (round !== 1) await syncAll(books);
      books.sandbox.clock.advance(HOUR_MS);
      const reports = await untilDone(books, 5);
      expect(read(reports)).toEqual(collectionNames.filter((name) => name !== 'accounts').toSorted());
      expect(reports.flatMap(statuses)).toContain('forbidden');
    }
  });

  test.each([
    ['uuid', 20, 40],
    ['numeric', 40, 138],
  ] as const)(
    'looks up no deleted record after the limit, and ends, with localIds: %s, %i requests, %i deleted',
    async (form, requests, gone) => {
      const books = setUpSync({ records: { accounts: 45 }, ids: { form } });
      const deleted = Array.from({ length: gone }, (_, n) =>
        form === 'numeric' ? `${9_000 + n}` : `gone-${n}`,
      );
      const ends: unknown[] = [];
      for (let run = 0; run < 2; run++) {
        books.sandbox.clearLogs();
        const { collections, paused } = await syncAll(books, {
          collections: ['accounts'],
          mode: 'full',
          localIds: () => [...books.sandbox.store.accounts.ids(), ...deleted],
          onDelete: () => undefined,
          maxCandidates: Number.POSITIVE_INFINITY,
          stopAfter: { requests },
        });
        expect(books.sandbox.count()).toBeLessThanOrEqual(requests);
        ends.push([paused, collections[0]?.status, collections[0]?.deletions?.skipped]);
      }
      expect(ends).toEqual([
        [true, 'paused', 'paused'],
        [false, 'done', 'resumed'],
      ]);
      const all = { collections: ['accounts'], mode: 'full', maxCandidates: gone } as const;
      const localIds = () => [...books.sandbox.store.accounts.ids(), ...deleted];
      const { collections } = await syncAll(books, { ...all, localIds, onDelete: () => undefined });
      expect(collections).toMatchObject([{ deletions: { skipped: undefined, deleted: gone } }]);
    },
  );

  test.each([
    ['page', {}],
    // Which becomes page.
    ['keyset', { ids: { form: 'uuid' } }],
  ] as const)(
    'does not stop a collection that is read by page half-way, and says that it exceeded the limit: %s',
    async (pagination, options) => {
      const books = setUpSync({ records: { accounts: 95, products: 5 }, ...options });
      const report = await syncAll(listing(books, { pagination }), {
        collections: ['accounts', 'products'],
        concurrency: 1,
        stopAfter: { requests: 3 },
      });
      expect(report.collections).toMatchObject([
        { status: 'done', records: 95, exceededLimit: 'requests' },
        { status: 'not_begun', records: 0, exceededLimit: undefined },
      ]);
    },
  );

  test('rejects a state of another company that an earlier sync has finished', async () => {
    const books = setUpSync({ records: { accounts: 5 } });
    const stopAfter = { requests: 50 };
    await syncAll(books, { collections: ['accounts'], stopAfter });
    const other = { ...setUpSync({ origin: 'https://other.example' }), run: books.run };
    const { errors } = await failureOf(syncAll(other, { collections: ['accounts', 'products'], stopAfter }));
    expect(errors).toMatchObject([{ collection: 'accounts', error: { code: 'checkpoint' } }]);
  });
});

describe('a sync with a limit of time', () => {
  test('commits the batch that `onBatch` has and sends no request after it', async () => {
    const books = setUpSync({ records: { accounts: 95 } });
    const copy = new Copy();
    const report = await syncAll(books, {
      collections: ['accounts', 'products'],
      stopAfter: { ms: 1_000 },
      onBatch: (batch) => {
        copy.take(batch);
        if (copy.batches.length === 3) vi.spyOn(performance, 'now').mockReturnValue(1_000);
      },
    });
    expect(report).toMatchObject({ paused: true, records: copy.ids.length });
    expect(report.collections[0]).toMatchObject({ status: 'paused', pages: 3 });
    expect(stateIn(books.states)).toMatchObject({ run: { token: expect.any(String) } });
    expect(await readAccounts(books, {}, copy.take)).toMatchObject({ resumed: true });
    expect(copy.ids).toHaveLength(95);
  });

  test('reports how long to wait before the next one after a 429, which concerns all collections', async () => {
    const books = setUpSync({ records: { accounts: 5 } });
    books.sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 3600 }, { times: 99 });
    // The shared rate limiter of the next test file would wait too.
    const client = clientOf(books.sandbox, { rateLimiter: 'client' });
    const report = await syncAll({ ...books, client }, { stopAfter: { ms: 60_000 } });
    // It ends before the wait, not when the time is over.
    expect(report).toMatchObject({ paused: true, records: 0, exceededLimit: 'ms' });
    expect(report.resumeAfterMs).toBeGreaterThanOrEqual(3_600_000);
    expect(report.resumeAfterMs).toBeLessThan(3_700_000);
    expect(books.sandbox.count()).toBe(1);
  });

  test('reads the others in each round although one collection always fails and its retries take longer', async () => {
    const books = setUpSync({ records: { budgets: 5, accounts: 25, products: 25 } });
    books.sandbox.faults.add({ kind: 'status', status: 500 }, { collection: 'budgets' });
    const other = { ...books, client: clientOf(books.sandbox, { retry: { baseDelayMs: 10_000 } }) };
    const collections = ['budgets', 'accounts', 'products'] as const;
    for (let n = 0; n < 3; n++) {
      books.sandbox.clock.advance(HOUR_MS);
      const options = { collections, concurrency: 1, stopAfter: { ms: 5_000 } };
      const { report, errors } = await failureOf(syncAll(other, options));
      expect(errors).toMatchObject([{ collection: 'budgets', error: { status: 500 } }]);
      expect(statuses(report)).toEqual(['paused', 'done', 'done']);
      for (const { mode } of report.collections) expect(mode).toBeDefined();
    }
  });
});
