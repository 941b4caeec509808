import {
  type CustomCursor,
  changes,
  collectionNames,
  createClient,
  isAccountingError,
  memoryStore,
  reconcile,
  type SyncError,
  type SyncProgress,
  sync,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';
import { collect } from './set-up.ts';

const SECOND = 1_000;
const nothing = () => undefined;

/** A service that is down for some time after a given number of requests. */
function failing({ after = 0, ms, status = 502 }: { after?: number; ms: number; status?: number }) {
  const sandbox = createSandbox({
    records: { accounts: 95, products: 95, accountAddresses: 20 },
    pageSize: 10,
    rateLimit: false,
  });
  let requests = 0;
  let downAt: number | undefined;
  let failed = 0;
  const client = createClient({
    ...sandbox.clientOptions,
    fetch: async (...request) => {
      if (++requests > after) downAt ??= Date.now();
      if (downAt === undefined || Date.now() - downAt >= ms) return sandbox.fetch(...request);
      failed++;
      if (status === 0)
        throw Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
      return new Response('<h1>Bad gateway</h1>', { status, headers: { 'content-type': 'text/html' } });
    },
  });
  return { sandbox, client, failures: () => failed };
}

/** A service that documents a cursor: the last id of a page. */
const byId: CustomCursor<unknown> = {
  first: {},
  next: ({ ids }) => (ids.length === 0 ? undefined : { id: { gt: ids.at(-1) } }),
};

const collections = ['accounts', 'products', 'accountAddresses'] as const;

test('a plain call does not wait for a service that is down', async () => {
  for (const status of [500, 503]) {
    const { client, failures } = failing({ ms: 600 * SECOND, status });
    const call = client.accounts.get('1', { retry: { maxAttempts: 3, baseDelayMs: 1 } });
    expect(await caught(call)).toMatchObject({ status, attempts: 3 });
    expect(failures()).toBe(3);
  }
});

/** A consumer that counts how often it gets each record. */
function counting() {
  const counts = new Map<string, number>();
  const onBatch = ({ collection, records }: { collection: string; records: readonly { id: string }[] }) => {
    for (const { id } of records)
      counts.set(`${collection}/${id}`, (counts.get(`${collection}/${id}`) ?? 0) + 1);
  };
  const expectEachOnce = ({ store }: Sandbox) => {
    const all = collections.flatMap((name) => store[name].ids().map((id) => `${name}/${id}`));
    expect([...counts.keys()].toSorted()).toEqual(all.toSorted());
    expect(new Set(counts.values())).toEqual(new Set([1]));
  };
  return { onBatch, expectEachOnce };
}

describe('in virtual time a sync', () => {
  useVirtualClock();

  test.each([
    [6, 0, 'keyset'],
    [6, 5, 'keyset'],
    [60, 0, 'keyset'],
    [60, 5, 'keyset'],
    [60, 5, 'page'],
    [110, 7, 'page'],
    [60, 5, 'a cursor'],
  ] as const)(
    'outlasts %i s of 502s after %i requests and delivers each record once: %s',
    async (seconds, after, kind) => {
      const pagination = kind === 'a cursor' ? byId : kind;
      const { sandbox, client, failures } = failing({ after, ms: seconds * SECOND });
      const { onBatch, expectEachOnce } = counting();
      const options = { store: memoryStore(), tenant: 'acme', collections, onBatch, pagination };
      const report = await runToEnd(sync(client, options));
      expect(report.collections.map(({ status }) => status)).toEqual(['done', 'done', 'done']);
      expectEachOnce(sandbox);
      expect(failures()).toBeGreaterThan(0);
    },
  );

  test.each([500, 503, 504, 0])('outlasts a minute of %i, 0 for refused connections', async (status) => {
    const { client } = failing({ after: 3, ms: 60 * SECOND, status });
    const options = { store: memoryStore(), tenant: 'acme', collections, onBatch: nothing };
    await expect(runToEnd(sync(client, options))).resolves.toMatchObject({ records: 210 });
  });

  test('says that it waits while the service is down', async () => {
    const { client } = failing({ after: 3, ms: 60 * SECOND });
    const waits: SyncProgress[] = [];
    const onProgress = (progress: SyncProgress) => progress.waiting && waits.push(progress);
    const options = { store: memoryStore(), tenant: 'acme', collections, onBatch: nothing, onProgress };
    await runToEnd(sync(client, options));
    const last = waits.at(-1);
    expect(waits.length).toBeGreaterThan(5);
    expect(last?.waitingUntil?.getTime()).toBeGreaterThan(Date.parse('2026-01-31T12:00:30Z'));
  });

  test('of a service that is down for ten minutes stops once, after about two minutes, with one error', async () => {
    const { client, failures } = failing({ after: 3, ms: 600 * SECOND });
    const startedAt = Date.now();
    const run = sync(client, { store: memoryStore(), tenant: 'acme', onBatch: nothing });
    const error = (await caught(runToEnd(run))) as SyncError;
    expect(isAccountingError(error, 'sync_failed') && error.errors).toHaveLength(1);
    expect(error.cause).toMatchObject({ status: 502, retryable: true });
    expect(Date.now() - startedAt).toBeGreaterThan(119 * SECOND);
    expect(Date.now() - startedAt).toBeLessThan(150 * SECOND);
    const statuses = error.report.collections.map(({ status }) => status);
    expect(statuses.filter((status) => status === 'failed')).toHaveLength(1);
    expect(statuses.filter((status) => status === 'stopped').length).toBeGreaterThan(10);
    expect(failures()).toBeLessThan(250);
  });

  test('waits for as long as maxOutageMs says', async () => {
    const { client } = failing({ ms: 600 * SECOND });
    const startedAt = Date.now();
    const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing };
    await caught(runToEnd(sync(client, { ...options, maxOutageMs: 0 })));
    expect(Date.now() - startedAt).toBeLessThan(40 * SECOND);
    await expect(runToEnd(sync(client, { ...options, maxOutageMs: 900 * SECOND }))).resolves.toBeDefined();
  });

  test('waits for a Retry-After, however long its own wait would be', async () => {
    const sandbox = createSandbox({ records: { accounts: 5 } });
    const requests: number[] = [];
    const client = createClient({
      ...sandbox.clientOptions,
      retry: { maxAttempts: 1 },
      fetch: async (...request) => {
        requests.push(Date.now());
        if (requests.length > 1) return sandbox.fetch(...request);
        return new Response('', { status: 503, headers: { 'retry-after': '100' } });
      },
    });
    const options = {
      store: memoryStore(),
      tenant: 'acme',
      collections: ['accounts'] as const,
      onBatch: nothing,
    };
    await runToEnd(sync(client, options));
    const [first = 0, second = 0] = requests;
    expect(second - first).toBeGreaterThanOrEqual(100 * SECOND);
  });

  test('fails at once if the service asks for a longer wait than maxWaitMs', async () => {
    const sandbox = createSandbox({ records: { accounts: 5 } });
    sandbox.faults.add({ kind: 'status', status: 503, retryAfter: 3600 }, { times: 99 });
    const startedAt = Date.now();
    const run = sync(createClient(sandbox.clientOptions), {
      store: memoryStore(),
      tenant: 'acme',
      collections: ['accounts'],
      onBatch: nothing,
      maxWaitMs: 60 * SECOND,
    });
    expect(await caught(runToEnd(run))).toMatchObject({ code: 'sync_failed', cause: { status: 503 } });
    expect(Date.now() - startedAt).toBeLessThan(SECOND);
    expect(sandbox.count(({ path }) => path.endsWith('/accounts'))).toBe(1);
  });

  test('does not stop the tenant for two collections that are down while the service rejects a third', async () => {
    const { sandbox } = failing({ ms: 0 });
    for (const collection of ['accounts', 'budgets'] as const) {
      sandbox.faults.add({ kind: 'status', status: 503 }, { collection, times: Number.POSITIVE_INFINITY });
    }
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { collection: 'products' });
    const client = createClient({
      ...sandbox.clientOptions,
      fetch: async (url, init) => {
        if (url.includes('/products')) await new Promise((resolve) => setTimeout(resolve, 20 * SECOND));
        return sandbox.fetch(url, init);
      },
    });
    const run = sync(client, {
      store: memoryStore(),
      tenant: 'acme',
      collections: ['accounts', 'budgets', 'products', 'accountAddresses'],
      concurrency: 3,
      onBatch: nothing,
    });
    const error = (await caught(runToEnd(run))) as SyncError;
    expect(error.report.collections.map(({ status }) => status)).toEqual([
      'failed',
      'failed',
      'forbidden',
      'done',
    ]);
  });

  test('does not stop the tenant for one collection that is down while others are read', async () => {
    const { sandbox } = failing({ ms: 0 });
    sandbox.faults.add({ kind: 'status', status: 503 }, { collection: 'accounts', times: 1000 });
    const client = createClient({
      ...sandbox.clientOptions,
      fetch: async (url, init) => {
        if (url.includes('/products')) await new Promise((resolve) => setTimeout(resolve, 5 * SECOND));
        return sandbox.fetch(url, init);
      },
    });
    const run = sync(client, { store: memoryStore(), tenant: 'acme', collections, onBatch: nothing });
    const error = (await caught(runToEnd(run))) as SyncError;
    expect(error.report.collections.map(({ status }) => status)).toEqual(['failed', 'done', 'done']);
  });

  /** A client of a service that always returns 504 for some collections. */
  const withBroken = (...broken: ('accounts' | 'budgets' | 'budgetLines')[]) => {
    const sandbox = createSandbox({ records: 15, rateLimit: false });
    for (const collection of broken) {
      sandbox.faults.add({ kind: 'status', status: 504 }, { collection, times: Number.POSITIVE_INFINITY });
    }
    return createClient(sandbox.clientOptions);
  };

  test.each([
    [['budgets'], undefined],
    [['budgets'], 0],
    [['budgets', 'budgetLines'], undefined],
    [['accounts', 'budgetLines'], 0],
  ] as const)(
    'reads every other collection if only %j return 504, with maxOutageMs %s',
    async (broken, maxOutageMs) => {
      const client = withBroken(...broken);
      const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing, maxOutageMs };
      const error = (await caught(runToEnd(sync(client, options)))) as SyncError;
      expect(error.errors.map(({ collection }) => collection)).toEqual(broken);
      const others = error.report.collections.filter(
        ({ collection }) => !(broken as readonly string[]).includes(collection),
      );
      expect(others.map(({ status }) => status)).toEqual(others.map(() => 'done'));
      expect(error.message).toContain(`failed for ${broken.length} of ${collectionNames.length} collections`);
    },
  );

  test.each([500, 502])(
    'fails for one collection alone whose list always returns %i, before its next level',
    async (status) => {
      const sandbox = createSandbox({ records: 15, rateLimit: false });
      sandbox.faults.add({ kind: 'status', status }, { collection: 'accounts', times: 999 });
      const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing };
      const startedAt = Date.now();
      const error = (await caught(runToEnd(sync(createClient(sandbox.clientOptions), options)))) as SyncError;
      expect(error.errors.map(({ collection }) => collection)).toEqual(['accounts']);
      // A 500 of one list says nothing about the service; a 502 does.
      if (status === 500) expect(Date.now() - startedAt).toBeLessThan(30 * SECOND);
      else expect(Date.now() - startedAt).toBeGreaterThan(119 * SECOND);
    },
  );

  test('stops the tenant after maxOutageMs of 500s, with one check of the service at a time', async () => {
    let inFlight = 0;
    let most = 0;
    const sandbox = createSandbox({ records: 15 });
    const client = createClient({
      ...sandbox.clientOptions,
      fetch: async () => {
        most = Math.max(most, ++inFlight);
        await new Promise((resolve) => setTimeout(resolve, 10));
        inFlight--;
        return Response.json({ title: 'An error occurred', status: 500 }, { status: 500 });
      },
    });
    const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing, concurrency: 4 };
    const startedAt = Date.now();
    const error = (await caught(runToEnd(sync(client, options)))) as SyncError;
    expect(error.errors).toHaveLength(1);
    expect(error.message).toContain('the service was down for longer than maxOutageMs');
    expect(Date.now() - startedAt).toBeGreaterThan(119 * SECOND);
    expect(Date.now() - startedAt).toBeLessThan(150 * SECOND);
    expect(most).toBeLessThanOrEqual(4);
  });

  test('limits the attempts between two waits by deadlineMs', async () => {
    const { client } = failing({ after: 3, ms: 60 * SECOND });
    const options = { store: memoryStore(), tenant: 'acme', collections, onBatch: nothing };
    const run = sync(client, { ...options, deadlineMs: 5 * SECOND });
    await expect(runToEnd(run)).resolves.toMatchObject({ records: 210 });
  });

  test('reads the next level even if the only collection before it fails', async () => {
    const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing };
    const collections = ['budgets', 'accountAddresses'] as const;
    const run = sync(withBroken('budgets'), { ...options, collections });
    const error = (await caught(runToEnd(run))) as SyncError;
    expect(error.report.collections.map(({ status }) => status)).toEqual(['failed', 'done']);
  });

  test('reads the other collections while one waits for the service', async () => {
    const startedAt = Date.now();
    const endedAt = new Map<string, number>();
    const run = sync(withBroken('budgets'), {
      store: memoryStore(),
      tenant: 'acme',
      collections: ['budgets', 'accounts', 'products'],
      onBatch: nothing,
      onProgress: ({ collection, last }) => last && endedAt.set(collection, Date.now() - startedAt),
    });
    await caught(runToEnd(run));
    expect([...endedAt.keys()]).toEqual(['accounts', 'products']);
    expect(endedAt.get('products')).toBeLessThan(SECOND);
  });

  test('counts maxOutageMs from the first failed attempt', async () => {
    const { sandbox } = failing({ ms: 0 });
    const client = createClient({
      ...sandbox.clientOptions,
      timeoutMs: 20 * SECOND,
      fetch: (_, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        }),
    });
    const startedAt = Date.now();
    const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing, maxOutageMs: 60 * SECOND };
    const run = sync(client, { ...options, collections: ['accounts', 'products'] });
    expect(await caught(runToEnd(run))).toMatchObject({ code: 'sync_failed' });
    // Five attempts of 20 s and the waits between them, and a list of another collection.
    expect(Date.now() - startedAt).toBeLessThan(145 * SECOND);
  });

  test('waits between two requests, however small maxWaitMs is', async () => {
    const { client, failures } = failing({ ms: 600 * SECOND });
    const run = sync(client, {
      store: memoryStore(),
      tenant: 'acme',
      collections: ['accounts'],
      onBatch: nothing,
      maxWaitMs: 0,
      maxOutageMs: 60 * SECOND,
      retry: { maxAttempts: 1 },
    });
    expect(await caught(runToEnd(run))).toMatchObject({ code: 'sync_failed' });
    expect(failures()).toBeLessThan(40);
  });

  test('stops on its signal while it waits for the service', async () => {
    const { client } = failing({ ms: 600 * SECOND });
    const controller = new AbortController();
    setTimeout(() => controller.abort('enough'), 30 * SECOND);
    const options = { store: memoryStore(), tenant: 'acme', onBatch: nothing, signal: controller.signal };
    expect(await caught(runToEnd(sync(client, options)))).toBe('enough');
  });

  test('and changes and reconcile alike outlast a minute', async () => {
    const { client, sandbox } = failing({ after: 3, ms: 60 * SECOND });
    const run = collect(changes(client.accounts, { store: memoryStore(), tenant: 'acme' }));
    await expect(runToEnd(run)).resolves.toMatchObject({ records: 95 });
    const other = failing({ after: 13, ms: 60 * SECOND });
    other.sandbox.store.accounts.delete('3');
    const reconciled = reconcile(other.client.accounts, {
      localIds: () => sandbox.store.accounts.ids(),
      onDelete: nothing,
    });
    await expect(runToEnd(reconciled)).resolves.toMatchObject({ deleted: 1 });
    expect(other.failures()).toBeGreaterThan(0);
  });
});
