import {
  type Client,
  collectionNames,
  createClient,
  isAccountingError,
  SyncError,
  type SyncReport,
  sync,
} from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { addAccounts, START, type SyncSetUp, setUpSync, stateIn } from './set-up.ts';

const nothing = () => undefined;

/** The paths in the order of the requests, each once. */
function paths({ sandbox }: SyncSetUp): string[] {
  return [...new Set(sandbox.requests.map(({ path }) => path.replace('/api/public/v1/', '')))];
}

async function failure(run: Promise<SyncReport>): Promise<SyncError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isAccountingError(error, 'sync_failed')) throw new Error('expected a SyncError', { cause: error });
  return error;
}

describe('sync', () => {
  test('brings a copy of every collection up to date', async () => {
    const books = setUpSync({ records: 300 });
    const copy = new Map<string, Set<string>>();
    const onBatch = ({ collection, records }: { collection: string; records: readonly { id: string }[] }) => {
      for (const { id } of records) copy.set(collection, (copy.get(collection) ?? new Set()).add(id));
    };
    const report = await sync(books.client, { ...books.run, onBatch });
    expect(report).toMatchObject({ tenant: 'acme', records: 300 });
    expect(report.collections).toHaveLength(collectionNames.length);
    for (const { collection, status, records } of report.collections) {
      expect(status).toBe('done');
      const ids = books.sandbox.store[collection as 'accounts'].ids();
      expect([...(copy.get(collection) ?? [])].toSorted()).toEqual(ids.toSorted());
      expect(records).toBe(ids.length);
    }
    expect(books.states.size).toBe(collectionNames.length);
  });

  test.each([
    ['accounts', 'accountAddresses'],
    ['accounts', 'accountContactRelations'],
    ['accounts', 'accountContactShoppingStores'],
    ['accounts', 'accountCustomerProjectRates'],
    ['accounts', 'accountSettings'],
    ['bankFeedConnections', 'bankFeedAccounts'],
    ['products', 'boms'],
    ['boms', 'bomLines'],
    ['products', 'bomLines'],
    ['budgets', 'budgetLines'],
  ] as const)('reads %s before %s', async (parent, child) => {
    const books = setUpSync({ records: 28 });
    await sync(books.client, { ...books.run, collections: [child, parent], onBatch: nothing });
    const requests = books.sandbox.requests.map(({ path }) => path.replace('/api/public/v1/', ''));
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.lastIndexOf(books.client[parent].segment)).toBeLessThan(
      requests.indexOf(books.client[child].segment),
    );
  });

  test('reads a source of the caller after the source that it names as its parent', async () => {
    const books = setUpSync();
    const order: string[] = [];
    const source = (segment: string, parent?: string) => ({
      segment,
      parent,
      list: (...args: Parameters<Client['accounts']['list']>) => {
        if (!order.includes(segment)) order.push(segment);
        return books.client.accounts.list(...args);
      },
    });
    const client = {
      lines: source('lines', 'orders'),
      orders: source('orders', 'customers'),
      orphans: source('orphans', 'toString'),
      customers: source('customers'),
    };
    await sync(client, { ...books.run, concurrency: 1, onBatch: nothing });
    expect(order).toEqual(['orphans', 'customers', 'orders', 'lines']);
  });

  test('reads sources that name each other as their parent', async () => {
    const books = setUpSync();
    const { list } = books.client.accounts;
    const source = { list: list.bind(books.client.accounts) };
    const client = {
      left: { ...source, segment: 'left', parent: 'right' },
      right: { ...source, segment: 'right', parent: 'left' },
    };
    const report = await sync(client, { ...books.run, onBatch: nothing });
    expect(report.collections.map(({ status }) => status)).toEqual(['done', 'done']);
  });

  test('reads only the given collections', async () => {
    const books = setUpSync({ records: 280 });
    const report = await sync(books.client, {
      ...books.run,
      collections: ['products', 'accounts', 'products'],
      onBatch: nothing,
    });
    expect(report.collections.map(({ collection }) => collection)).toEqual(['products', 'accounts']);
    expect(paths(books).toSorted()).toEqual(['accounts', 'products']);
  });

  test('reads two collections of a level at the same time', async () => {
    const names = ['accounts', 'products', 'budgets', 'bankFeedConnections', 'bankPayerMemories'] as const;
    const books = setUpSync({ records: Object.fromEntries(names.map((name) => [name, 60])) });
    let inFlight = 0;
    let most = 0;
    const client = createClient({
      ...books.sandbox.clientOptions,
      fetch: async (...request) => {
        most = Math.max(most, ++inFlight);
        const response = await books.sandbox.fetch(...request);
        await new Promise((resolve) => setTimeout(resolve));
        inFlight--;
        return response;
      },
    });
    const order: string[] = [];
    await sync(client, {
      ...books.run,
      pagination: 'page',
      collections: names,
      onBatch: ({ collection, last }) => {
        if (!last) order.push(collection);
      },
    });
    expect(most).toBe(2);
    expect(order).toHaveLength(30);
    expect(new Set(order.slice(0, 4))).toEqual(new Set(['accounts', 'products']));
  });

  test('never runs onBatch twice at once, nor the store meanwhile', async () => {
    const books = setUpSync({ records: 400 });
    let running = 0;
    const alone = async <V>(work: () => V): Promise<V> => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setTimeout(resolve));
      running--;
      return work();
    };
    const store = {
      get: (key: string) => alone(() => books.states.get(key)),
      set: (key: string, value: string) => alone(() => books.states.set(key, value)),
    };
    const report = await sync(books.client, {
      ...books.run,
      store,
      concurrency: 6,
      onBatch: () => alone(nothing),
    });
    expect(report.records).toBe(400);
  });

  test('gives each collection a watermark of its own', async () => {
    const books = setUpSync({ records: { accounts: 30, accountAddresses: 5 } });
    books.sandbox.onRequest(() => books.sandbox.clock.advance(1000));
    await sync(books.client, {
      ...books.run,
      collections: ['accounts', 'accountAddresses'],
      onBatch: nothing,
    });
    expect(stateIn(books.states).watermark).toBe(START);
    const later = stateIn(books.states, 'accountAddresses').watermark as string;
    expect(Date.parse(later)).toBeGreaterThan(Date.parse(START));
  });

  test('reads the children of a parent that failed', async () => {
    const books = setUpSync({ records: 280 });
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'accounts', times: 9 });
    const error = await failure(sync(books.client, { ...books.run, onBatch: nothing }));
    expect(error).toBeInstanceOf(SyncError);
    expect(error.errors).toMatchObject([{ collection: 'accounts', error: { code: 'malformed_request' } }]);
    expect(error.cause).toBe(error.errors[0]?.error);
    const { collections } = error.report;
    expect(collections.filter(({ status }) => status === 'done')).toHaveLength(collectionNames.length - 1);
    expect(collections.find(({ status }) => status !== 'done')).toMatchObject({
      collection: 'accounts',
      status: 'failed',
      watermark: undefined,
    });
  });

  test('ends everything at a 401', async () => {
    const books = setUpSync({ records: 280 });
    const client = createClient({ ...books.sandbox.clientOptions, apiKey: books.sandbox.keys.revoked });
    const error = await failure(sync(client, { ...books.run, concurrency: 1, onBatch: nothing }));
    expect(error.errors).toMatchObject([{ error: { code: 'unauthenticated' } }]);
    expect(error.report.collections.map(({ status }) => status).toSorted()).toEqual([
      'failed',
      ...Array.from({ length: collectionNames.length - 1 }, () => 'stopped'),
    ]);
    // The next request in the queue may be sent before the run hears of the first one's failure.
    expect(books.sandbox.count()).toBeLessThanOrEqual(2);
  });

  test('keeps what was committed if the consumer fails, and resumes there', async () => {
    const books = setUpSync();
    addAccounts(books, 60);
    books.sandbox.store.budgets.insert({});
    const taken = new Set<string>();
    let batches = 0;
    const onBatch = ({ collection, records }: { collection: string; records: readonly { id: string }[] }) => {
      if (collection !== 'accounts') return;
      if (++batches === 3) throw new Error('the sink is full');
      for (const { id } of records) taken.add(id);
    };
    const error = await failure(sync(books.client, { ...books.run, onBatch }));
    expect(error.errors).toMatchObject([{ collection: 'accounts', error: { message: 'the sink is full' } }]);
    expect(error.report.collections.filter(({ status }) => status === 'done')).toHaveLength(
      collectionNames.length - 1,
    );

    const report = await sync(books.client, { ...books.run, onBatch });
    expect(taken.size).toBe(60);
    expect(report.collections.find(({ collection }) => collection === 'accounts')).toMatchObject({
      resumed: true,
    });
  });

  test('stops on the signal with its own reason, when what was under way is committed', async () => {
    const books = setUpSync();
    addAccounts(books, 60);
    const controller = new AbortController();
    const reason = new Error('enough');
    let checkpoint: string | undefined;
    const run = sync(books.client, {
      ...books.run,
      collections: ['accounts', 'accountAddresses'],
      signal: controller.signal,
      onBatch: async (batch) => {
        controller.abort(reason);
        await new Promise((resolve) => setTimeout(resolve));
        checkpoint = batch.checkpoint;
      },
    });
    await expect(run).rejects.toBe(reason);
    expect(books.states).toEqual(new Map([['accounting-data-sdk:acme:accounts', checkpoint]]));
    expect(paths(books)).toEqual(['accounts']);
  });

  test('sends nothing if the signal has already fired', async () => {
    const books = setUpSync();
    const run = sync(books.client, { ...books.run, signal: AbortSignal.abort('no'), onBatch: nothing });
    await expect(run).rejects.toBe('no');
    expect(books.sandbox.count()).toBe(0);
  });

  test('needs nothing but list of a structural client', async () => {
    const books = setUpSync();
    addAccounts(books, 25);
    const client = {
      accounts: { list: books.client.accounts.list.bind(books.client.accounts) },
      name: 'mine',
    };
    const report = await sync(client, { ...books.run, onBatch: nothing });
    expect(report).toMatchObject({ records: 25, collections: [{ collection: 'accounts' }] });
  });

  test.each([
    ['onBatch', { onBatch: undefined }],
    ['onBatch', { onBatch: 'no' }],
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['concurrency', { concurrency: '2' }],
    ['collections', { collections: ['accounts', 'invoices'] }],
    ['collections', { collections: ['request'] }],
    ['collections', { collections: ['toString'] }],
    ['collections', { collections: ['rateLimit'] }],
    ['store', { store: undefined }],
    ['tenant', { tenant: 'a:b' }],
    ['lookbackMs', { lookbackMs: Number.POSITIVE_INFINITY }],
  ])('rejects an invalid %s before anything is sent', async (argument, wrong) => {
    const books = setUpSync();
    const options = { ...books.run, onBatch: nothing, ...(wrong as object) };
    await expect(sync(books.client, options)).rejects.toMatchObject({ code: 'invalid_input', argument });
    expect(books.sandbox.count()).toBe(0);
  });
});
