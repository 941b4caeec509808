import { type Batch, changes, collectionNames, type SyncReport, sync } from 'accounting-data-sdk';
import { describe, expect, test, vi } from 'vitest';
import { addAccounts, Copy, collect, type SyncSetUp, setUpSync, stateIn } from './set-up.ts';

const SOME = ['accounts', 'products', 'budgets'] as const;

function statuses({ collections }: SyncReport): string[] {
  return collections.map(({ status }) => status);
}

/** Runs syncs with this limit until one is not paused, a minute apart. Returns their reports. */
async function untilDone(
  { sandbox, client, run }: SyncSetUp,
  options: {
    requests: number;
    collections?: readonly 'accounts'[];
    onBatch?: (batch: Batch<{ id: string }>) => void;
  },
): Promise<SyncReport[]> {
  const { requests, ...more } = options;
  const reports: SyncReport[] = [];
  do {
    sandbox.clearLogs();
    const onBatch = () => undefined;
    reports.push(await sync(client, { ...run, onBatch, ...more, stopAfter: { requests } }));
    expect(sandbox.count()).toBeLessThanOrEqual(requests);
    sandbox.clock.advance(60_000);
  } while (reports.at(-1)?.paused && reports.length < 200);
  return reports;
}

describe('a sync with a limit of requests', () => {
  test.each([10, 17, 40, 1000])(
    'of %d sends no more, and the runs together deliver every record',
    async (requests) => {
      const books = setUpSync({ records: 35, pageSize: 10, clock: '2020-01-01T00:00:00Z' });
      const copies = new Map(collectionNames.map((name) => [name as string, new Copy()]));
      const reports = await untilDone(books, {
        requests,
        onBatch: (batch) => copies.get(batch.collection)?.take(batch),
      });
      for (const name of collectionNames) {
        expect(copies.get(name)?.ids.length, name).toBe(books.sandbox.store[name].ids().length);
      }
      expect(reports.at(-1)).toMatchObject({ paused: false });
      expect(reports.length > 1).toBe(requests < 1000);
      expect(reports.at(-1)?.collections.every(({ status }) => status === 'done')).toBe(true);
      expect(reports.flatMap(({ collections }) => collections).some((one) => one.exceededLimit)).toBe(false);
    },
  );

  test('names the collections that are done, paused and not begun, and the next one resumes', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 95, budgets: 5 } });
    const options = { ...books.run, collections: SOME, onBatch: () => undefined, concurrency: 1 };
    const first = await sync(books.client, { ...options, stopAfter: { requests: 12 } });
    expect(first.paused).toBe(true);
    expect(statuses(first)).toEqual(['done', 'paused', 'not_begun']);
    const second = await sync(books.client, { ...options, stopAfter: { requests: 100 } });
    expect(second.paused).toBe(false);
    expect(statuses(second)).toEqual(['done', 'done', 'done']);
    expect(second.collections.map(({ resumed, mode }) => [resumed, mode])).toEqual([
      [false, undefined],
      [true, 'full'],
      [false, 'full'],
    ]);
    expect(first.records + second.records).toBe(105);
  });

  test.each([1, 2, 3])('of %d delivers a batch in each run', async (requests) => {
    const books = setUpSync({ records: { accounts: 35, products: 12, budgets: 0 } });
    const copy = new Copy();
    const options = { ...books.run, collections: SOME, onBatch: copy.take };
    let report: SyncReport;
    let runs = 0;
    do {
      const before = copy.batches.length;
      report = await sync(books.client, { ...options, stopAfter: { requests } });
      expect(copy.batches.length).toBeGreaterThan(before);
      runs++;
    } while (report.paused && runs < 50);
    expect(report.paused).toBe(false);
    expect(report.collections.some(({ exceededLimit }) => exceededLimit) || requests > 1).toBe(true);
    expect(new Set(copy.batches.flatMap(({ records }) => records.map(({ id }) => id))).size).toBe(
      copy.ids.length,
    );
    expect(copy.batches.reduce((sum, { records }) => sum + records.length, 0)).toBe(47);
  });

  test('reads every collection once in each round, although the limit is smaller than a round', async () => {
    const books = setUpSync({ records: 3, clock: '2020-01-01T00:00:00Z' });
    books.sandbox.clock.set('2030-01-01T00:00:00Z');
    await sync(books.client, { ...books.run, onBatch: () => undefined });
    for (let round = 0; round < 3; round++) {
      books.sandbox.clock.advance(3_600_000);
      const reports = await untilDone(books, { requests: 5 });
      expect(reports).toHaveLength(3);
      const read = reports.flatMap(({ collections }) =>
        collections.filter(({ mode }) => mode !== undefined).map(({ collection }) => collection),
      );
      expect(read.toSorted()).toEqual(collectionNames.toSorted());
    }
  });

  test('reads the others again although one stays forbidden', async () => {
    const books = setUpSync({ records: 3, clock: '2020-01-01T00:00:00Z' });
    books.sandbox.faults.add(
      { kind: 'status', status: 403, type: 'forbidden' },
      { collection: 'accounts', times: Number.POSITIVE_INFINITY },
    );
    for (let round = 0; round < 3; round++) {
      const reports = await untilDone(books, { requests: 10 });
      expect(reports.at(-1)?.collections.find(({ collection }) => collection === 'accounts')).toMatchObject({
        status: 'forbidden',
      });
      const read = new Set(
        reports.flatMap(({ collections }) =>
          collections
            .filter(({ mode, status }) => mode && status === 'done')
            .map(({ collection }) => collection),
        ),
      );
      expect(read.size).toBe(collectionNames.length - 1);
    }
  });

  test('does not stop a collection that is read by page half-way, and says that it exceeded the limit', async () => {
    const books = setUpSync({ records: { accounts: 95, products: 5 } });
    const options = { ...books.run, collections: ['accounts', 'products'] as const, concurrency: 1 };
    const copy = new Copy();
    const report = await sync(books.client, {
      ...options,
      onBatch: copy.take,
      pagination: 'page',
      stopAfter: { requests: 3 },
    });
    expect(report.collections).toMatchObject([
      { status: 'done', records: 95, exceededLimit: true },
      { status: 'not_begun', records: 0, exceededLimit: false },
    ]);
  });

  test('counts retries', async () => {
    const books = setUpSync({ records: { accounts: 95 } });
    books.sandbox.faults.add({ kind: 'status', status: 503 }, { collection: 'accounts', times: 3 });
    const [first] = await untilDone(books, { requests: 9, collections: ['accounts'] });
    expect(first).toMatchObject({ paused: true });
  });

  test('skips the deletions of a full read that does not fit, and finds them if it does', async () => {
    const books = setUpSync({ records: { accounts: 45 } });
    const deleted: string[] = [];
    const options = {
      ...books.run,
      collections: ['accounts'] as const,
      mode: 'full',
      onBatch: () => undefined,
      localIds: () => [...books.sandbox.store.accounts.ids(), '99999'],
      onDelete: (ids: readonly string[]) => void deleted.push(...ids),
    } as const;
    const first = await sync(books.client, { ...options, stopAfter: { requests: 5 } });
    expect(first.collections[0]).toMatchObject({ status: 'paused', deletions: { skipped: 'paused' } });
    const second = await sync(books.client, { ...options, stopAfter: { requests: 50 } });
    expect(second.collections[0]).toMatchObject({ status: 'done', deletions: { skipped: 'resumed' } });
    expect(deleted).toEqual([]);
    const third = await sync(books.client, { ...options, stopAfter: { requests: 50 } });
    expect(third.collections[0]).toMatchObject({
      status: 'done',
      deletions: { skipped: undefined, deleted: 1 },
    });
    expect(deleted).toEqual(['99999']);
  });

  test('skips the deletions if the limit is reached while they are confirmed', async () => {
    const books = setUpSync({ records: { accounts: 25 }, pageSize: 100 });
    const gone = Array.from({ length: 20 }, (_, n) => String(90_000 + n));
    const deleted: string[] = [];
    const options = {
      ...books.run,
      collections: ['accounts'] as const,
      mode: 'full',
      onBatch: () => undefined,
      localIds: () => [...books.sandbox.store.accounts.ids(), ...gone],
      onDelete: (ids: readonly string[]) => void deleted.push(...ids),
    } as const;
    const report = await sync(books.client, { ...options, stopAfter: { requests: 15 } });
    expect(books.sandbox.count()).toBe(15);
    expect(report.collections[0]).toMatchObject({
      status: 'paused',
      records: 25,
      deletions: { skipped: 'paused' },
    });
    expect(deleted).toEqual([]);
  });

  test('counts the pages of a source with its own list', async () => {
    const books = setUpSync({ records: { accounts: 95 } });
    const { accounts } = books.client;
    const own = { accounts: { segment: 'accounts', list: accounts.list.bind(accounts) } };
    const report = await sync(own, { ...books.run, onBatch: () => undefined, stopAfter: { requests: 4 } });
    expect(report.collections[0]).toMatchObject({ status: 'paused', pages: 4 });
  });
});

test('a paused sync resumes from the checkpoints of a target that writes them itself', async () => {
  const { sandbox, client } = setUpSync({ records: { accounts: 35, products: 25, budgets: 5 } });
  const states = new Map<string, string>();
  const copy = new Copy();
  const target = {
    open: () => ({
      store: { get: async (key: string) => states.get(key) },
      onBatch: (batch: Batch<{ id: string }>) => {
        copy.take(batch);
        states.set(batch.key, batch.checkpoint);
      },
      localIds: () => [],
      onDelete: () => undefined,
    }),
  };
  const limited = { tenant: 'acme', target, collections: SOME, stopAfter: { requests: 10 } };
  let runs = 0;
  for (let paused = true; paused; runs++) {
    sandbox.clearLogs();
    ({ paused } = await sync(client, limited));
    expect(sandbox.count()).toBeLessThanOrEqual(10);
  }
  expect(runs).toBeGreaterThan(1);
  expect(copy.batches.reduce((sum, { records }) => sum + records.length, 0)).toBe(65);
});

test('a sync with a limit rejects a state of another company that an earlier sync has finished', async () => {
  const books = setUpSync({ records: { accounts: 5 } });
  const options = { ...books.run, collections: ['accounts'] as const, onBatch: () => undefined };
  await sync(books.client, { ...options, stopAfter: { requests: 50 } });
  const other = setUpSync({ records: { accounts: 5 }, origin: 'https://other.example' });
  const failed = sync(other.client, { ...options, stopAfter: { requests: 50 } });
  await expect(failed).rejects.toMatchObject({ errors: [{ error: { code: 'checkpoint' } }] });
});

describe('a sync with a limit of time', () => {
  test('commits the batch that the consumer has and sends no request after it', async () => {
    const books = setUpSync({ records: { accounts: 95 } });
    const copy = new Copy();
    const report = await sync(books.client, {
      ...books.run,
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
    const { accounts } = books.client;
    const rest = await collect(changes(accounts, books.run), copy.take);
    expect(rest).toMatchObject({ resumed: true });
    expect(copy.ids).toHaveLength(95);
  });

  test('does not wait for a service that is down for longer than the limit', async () => {
    const books = setUpSync({ records: { accounts: 5 } });
    books.sandbox.faults.add({ kind: 'status', status: 503, retryAfter: 3600 }, { times: 99 });
    const report = await sync(books.client, {
      ...books.run,
      onBatch: () => undefined,
      stopAfter: { ms: 60_000 },
    });
    expect(report).toMatchObject({ paused: true, records: 0 });
    expect(books.sandbox.count()).toBe(1);
  });

  test('is rejected by its signal', async () => {
    const books = setUpSync({ records: { accounts: 95 } });
    const controller = new AbortController();
    const reason = new Error('enough');
    const stopped = sync(books.client, {
      ...books.run,
      stopAfter: { ms: 60_000, requests: 1000 },
      signal: controller.signal,
      onBatch: () => controller.abort(reason),
    });
    await expect(stopped).rejects.toBe(reason);
  });
});

test.each([
  [{}],
  [{ ms: 0 }],
  [{ requests: 0 }],
  [{ requests: 1.5 }],
  [{ ms: 'x' }],
  [null],
  [{ request: 1 }],
])('a sync rejects stopAfter: %j', async (stopAfter) => {
  const { client, run } = setUpSync();
  const options = { ...run, onBatch: () => undefined, stopAfter } as never;
  await expect(sync(client, options)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a sync that is not paused says so', async () => {
  const books = setUpSync();
  addAccounts(books, 3);
  const report = await sync(books.client, { ...books.run, onBatch: () => undefined });
  expect(report.paused).toBe(false);
});
