import { DatabaseSync } from 'node:sqlite';
import {
  type ClientOptions,
  type CollectionName,
  changes,
  collectionNames,
  createClient,
  type FetchFunction,
  memoryStore,
  type SyncError,
  type SyncOptions,
  type SyncProgress,
  sync,
} from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { networkError, noResponse } from '../../support/scripted-fetch.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';
import { collect, failureOf, nothing, statuses } from './set-up.ts';

const SECOND = 1_000;
const collections = ['accounts', 'products', 'accountAddresses'] as const;
const accounts = { collections: ['accounts'] } as const;

type Client = ReturnType<typeof createClient>;

/** A service that is down for some time after a given number of requests. A status of 0 stands for no connection. */
function failing({ after = 0, ms, status = 502 }: { after?: number; ms: number; status?: number }) {
  const sandbox = createSandbox({
    records: { accounts: 45, products: 45, accountAddresses: 20 },
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
      if (status === 0) throw networkError('ECONNREFUSED');
      return new Response('<h1>Bad gateway</h1>', { status, headers: { 'content-type': 'text/html' } });
    },
  });
  return { sandbox, client, failures: () => failed };
}

/** A `fetch` whose every response is a 503 that asks to wait for so many seconds. */
function asksToWait(seconds: number, onRequest = nothing): FetchFunction {
  return async () => {
    onRequest();
    return new Response('', { status: 503, headers: { 'retry-after': `${seconds}` } });
  };
}

/** A client whose `fetch` is this one. */
const clientWith = (fetch: ClientOptions['fetch'], options: ClientOptions = {}) =>
  createClient({ ...createSandbox({ records: 28 }).clientOptions, fetch, ...options });

/** A sync to its end, in virtual time. */
const run = (client: Client, options: Partial<SyncOptions<Client>> = {}) =>
  runToEnd(sync(client, { store: memoryStore(), tenant: 'acme', onBatch: nothing, ...options }));

/** The error of a sync, and after how many seconds it came. */
async function failure(...args: Parameters<typeof run>) {
  const startedAt = Date.now();
  const error = await failureOf(run(...args));
  return { error, seconds: (Date.now() - startedAt) / SECOND };
}

describe('a sync of a service that is down', () => {
  useVirtualClock();

  test.each([
    [60, 5, 500, 'keyset'],
    [60, 0, 0, 'keyset'],
    [110, 7, 504, 'page'],
  ] as const)(
    'outlasts %i s after %i requests (status %i, 0 for no connection) and delivers each record once: by %s',
    async (seconds, after, status, pagination) => {
      const { sandbox, client, failures } = failing({ after, ms: seconds * SECOND, status });
      const delivered: string[] = [];
      const report = await run(client.withOptions({ pagination }), {
        collections,
        // Those of a plain call would end it.
        ...(pagination === 'page' ? { retry: { maxAttempts: 2 }, deadlineMs: 5 * SECOND } : {}),
        onBatch: ({ collection, records }) => {
          for (const { id } of records) delivered.push(`${collection}/${id}`);
        },
      });
      expect(statuses(report)).toEqual(['done', 'done', 'done']);
      const all = collections.flatMap((name) => sandbox.store[name].ids().map((id) => `${name}/${id}`));
      expect(delivered.toSorted()).toEqual(all.toSorted());
      expect(failures()).toBeGreaterThan(0);
    },
  );

  test('says for each wait when its next request is sent', async () => {
    const waits: number[] = [];
    const requests: number[] = [];
    const client = clientWith(async () => {
      requests.push(Date.now());
      return new Response('', { status: 503 });
    });
    const onProgress = ({ waitingUntil }: SyncProgress) => waitingUntil && waits.push(waitingUntil.getTime());
    await caught(run(client, { ...accounts, onProgress }));
    expect(waits.length).toBeGreaterThan(5);
    const late = waits.map((until, index) => (requests[index + 1] ?? 0) - until);
    // A Date has no fractions of a millisecond.
    expect(Math.min(...late)).toBeGreaterThanOrEqual(-1);
    expect(Math.max(...late)).toBeLessThan(100);
  });

  test('waits no longer in a second outage than in the first', async () => {
    const { sandbox } = failing({ ms: 0 });
    const waits: [number[], number[]] = [[], []];
    let outage = 0;
    let downUntil = Date.now() + 60 * SECOND;
    const fetch: FetchFunction = async (...request) => {
      if (Date.now() < downUntil) return new Response('', { status: 503 });
      // One response, and it is down again.
      if (outage++ === 0) downUntil = Date.now() + 60 * SECOND;
      return await sandbox.fetch(...request);
    };
    const client = createClient({ ...sandbox.clientOptions, fetch, retry: { maxAttempts: 1 } });
    const onProgress = ({ waitingUntil }: SyncProgress) =>
      waitingUntil && waits[outage]?.push(waitingUntil.getTime() - Date.now());
    expect(await run(client, { ...accounts, onProgress })).toMatchObject({ records: 45 });
    for (const each of waits) {
      expect(each[0]).toBeLessThanOrEqual(SECOND);
      expect(Math.max(...each)).toBeGreaterThan(4 * SECOND);
    }
  });

  test.each([
    ['429', { 'retry-after': '3600' }, 'client'],
    ['429', { 'retry-after': '3600' }, false],
    ['503', {}, 'client'],
  ] as const)(
    'ends at once if its signal fires when it reports a wait: after a %s, %j, rate limiter %s',
    async (status, headers, rateLimiter) => {
      const fetch = async () => new Response('', { status: Number(status), headers });
      const controller = new AbortController();
      let waits = 0;
      let stoppedAt = 0;
      const onProgress = ({ waiting }: SyncProgress) => {
        if (!waiting || ++waits < 4) return;
        stoppedAt = Date.now();
        controller.abort('enough');
      };
      const { signal } = controller;
      const stopped = run(clientWith(fetch, { rateLimiter }), { ...accounts, signal, onProgress });
      expect(await caught(stopped)).toBe('enough');
      expect(Date.now() - stoppedAt).toBeLessThan(100);
    },
  );

  test('pauses in time if every response is a 429 without Retry-After', async () => {
    const client = clientWith(async () => new Response('', { status: 429 }), { rateLimiter: 'client' });
    const startedAt = Date.now();
    const report = await run(client, { ...accounts, stopAfter: { ms: 5 * SECOND } });
    expect(report).toMatchObject({ paused: true, records: 0, exceededLimit: 'ms', lastFailure: undefined });
    expect(Date.now() - startedAt).toBeLessThanOrEqual(5_100);
    expect(report.resumeAfterMs).toBeLessThan(30_000);
  });

  test('delivers a first batch, although its response takes longer than the limit of time', async () => {
    const { sandbox } = failing({ ms: 0 });
    const fetch: ClientOptions['fetch'] = async (...request) => {
      await new Promise((resolve) => setTimeout(resolve, 3 * SECOND));
      return await sandbox.fetch(...request);
    };
    const client = createClient({ ...sandbox.clientOptions, fetch });
    const report = await run(client, { ...accounts, stopAfter: { ms: SECOND } });
    expect(report).toMatchObject({ paused: true, resumeAfterMs: 0 });
    expect(report.records).toBeGreaterThan(0);
  });

  test.each([
    ['its own timeoutMs, not that of the client', 3 * SECOND, 1.4 * SECOND, true, 2.8],
    ['30 s if attempts may take any time', Number.POSITIVE_INFINITY, 600 * SECOND, false, 31],
  ])(
    'waits for a first batch beyond the limit of time for %s',
    async (_, timeoutMs, takes, isRead, seconds) => {
      const { sandbox } = failing({ ms: 0 });
      const fetch: ClientOptions['fetch'] = async (url, init) => {
        await Promise.race([new Promise((resolve) => setTimeout(resolve, takes)), noResponse(init.signal)]);
        return await sandbox.fetch(url, init);
      };
      const client = createClient({ ...sandbox.clientOptions, timeoutMs: 1.2 * SECOND, fetch });
      const report = await run(client, { ...accounts, timeoutMs, stopAfter: { ms: SECOND } });
      expect([report.paused, report.records > 0]).toEqual([true, isRead]);
      const tookMs = report.endedAt.getTime() - report.startedAt.getTime();
      expect(tookMs / SECOND).toBeCloseTo(seconds, 1);
    },
  );

  test.each([502, 500])('stops once, after two minutes, with one error: status %i', async (status) => {
    const { client, failures } = failing({ after: 3, ms: 600 * SECOND, status });
    const { error, seconds } = await failure(client, { concurrency: 4 });
    expect(error).toMatchObject({ stopped: 'outage', errors: { length: 1 } });
    expect(error.message).toContain('maxOutageMs');
    expect(error.cause).toMatchObject({ status, retryable: true });
    expect(seconds).toBeGreaterThan(119);
    expect(seconds).toBeLessThan(150);
    expect(statuses(error.report).filter((each) => each === 'stopped').length).toBeGreaterThan(8);
    expect(failures()).toBeLessThan(250);
  });

  test('waits for as long as maxOutageMs says, from the first failed attempt on', async () => {
    const { client } = failing({ ms: 600 * SECOND });
    const { seconds } = await failure(client, { collections, maxOutageMs: 0 });
    expect(seconds).toBeLessThan(40);
    const report = await run(client, { collections, maxOutageMs: 900 * SECOND });
    expect(report).toMatchObject({ records: 110, complete: 'certain', paused: false });
    expect(statuses(report)).toEqual(['done', 'done', 'done']);
  });

  test('counts the time of an attempt that gets no response', async () => {
    const client = clientWith((_, init) => noResponse(init.signal), { timeoutMs: 20 * SECOND });
    const options = { maxOutageMs: 60 * SECOND, collections: ['accounts', 'products'] } as const;
    // Five attempts of 20 s and the waits between them, and a list of another collection.
    const { error, seconds } = await failure(client, options);
    expect(error.stopped).toBe('outage');
    expect(seconds).toBeLessThan(145);
  });

  test.each([
    [503, 100],
    [429, 300],
  ])('waits as long as a %i says, for longer than a plain call may take: %i s', async (status, seconds) => {
    const sandbox = createSandbox({ records: { accounts: 5 } });
    const requests: number[] = [];
    sandbox.onRequest(() => requests.push(Date.now()));
    sandbox.faults.next({ kind: 'status', status, retryAfter: seconds });
    const client = createClient({ ...sandbox.clientOptions, retry: { maxAttempts: 1 } });
    expect(await run(client, accounts)).toMatchObject({ records: 5 });
    const [first = 0, second = 0] = requests;
    expect(second - first).toBeGreaterThanOrEqual(seconds * SECOND);
  });

  test('fails at once if the service asks for a longer wait than maxWaitMs', async () => {
    const client = clientWith(asksToWait(3600));
    const { error, seconds } = await failure(client, {
      ...accounts,
      maxOutageMs: Infinity,
      maxWaitMs: 60 * SECOND,
    });
    expect(error).toMatchObject({ stopped: 'outage', cause: { status: 503, retryAfterMs: 3600 * SECOND } });
    expect(seconds).toBeLessThan(1);
  });

  test.each([
    // The first wait fits; the second one does not.
    [12, 20, 12],
    [12, 2, 0],
    [3600, 120, 0],
    // Longer than the longest wait of the client itself, which is 1 s after a first attempt.
    [2, 0, 0],
  ])(
    'fails as soon as a Retry-After of %i s is longer than what is left of %i s: after %i s',
    async (retryAfter, most, after) => {
      let requests = 0;
      const fetch = asksToWait(retryAfter, () => void requests++);
      const { error, seconds } = await failure(clientWith(fetch), { maxOutageMs: most * SECOND });
      expect(error).toMatchObject({ stopped: 'outage', retryable: true, errors: { length: 1 } });
      expect(error.cause).toMatchObject({ status: 503, retryAfterMs: retryAfter * SECOND });
      expect(Math.floor(seconds)).toBe(after);
      // Each collection was tried once.
      expect(requests).toBeGreaterThanOrEqual(collectionNames.length);
      expect(requests).toBeLessThanOrEqual(collectionNames.length + 2);
    },
  );

  test('sends one request for each further collection once a call has used its attempts', async () => {
    let requests = 0;
    const client = clientWith(async () => {
      requests++;
      return new Response('', { status: 503 });
    });
    const retry = { maxAttempts: 4 };
    await failure(client.withOptions({ retry }), { maxOutageMs: 60 * SECOND, concurrency: 1 });
    const each = retry.maxAttempts + collectionNames.length - 1;
    expect(requests).toBeGreaterThanOrEqual(each);
    // And those that see whether the service is back: every 5 to 10 s, after the first ones.
    expect(requests).toBeLessThanOrEqual(each + 16);
  });

  test('waits between two requests, however small maxWaitMs is', async () => {
    const { client, failures } = failing({ ms: 600 * SECOND });
    const options = { maxWaitMs: 0, maxOutageMs: 60 * SECOND, retry: { maxAttempts: 1 } };
    await failure(client, { ...options, ...accounts });
    expect(failures()).toBeLessThan(40);
  });

  test('is outlasted by changes, and by the lookups of deletions', async () => {
    const { client, sandbox } = failing({ after: 3, ms: 60 * SECOND });
    const changed = collect(changes(client.accounts, { store: memoryStore(), tenant: 'acme' }));
    await expect(runToEnd(changed)).resolves.toMatchObject({ records: 45 });
    const other = failing({ after: 8, ms: 60 * SECOND });
    other.sandbox.store.accounts.delete('3');
    const localIds = () => sandbox.store.accounts.ids();
    const full = { mode: 'full', localIds, onDelete: nothing } as const;
    const report = await run(other.client, { ...accounts, ...full });
    expect(report).toMatchObject({ collections: [{ deletions: { deleted: 1 } }] });
    expect(other.failures()).toBeGreaterThan(0);
  });
});

describe('an outage is no pause', () => {
  useVirtualClock();

  const down: Readonly<Record<string, FetchFunction>> = {
    'a 503': async () => new Response('', { status: 503 }),
    'a 500': async () => new Response('', { status: 500 }),
    'no connection': async () => Promise.reject(networkError('ECONNREFUSED')),
    'no response': (_, { signal }) => noResponse(signal),
    'a 503 that asks to wait': asksToWait(2),
  };

  /** A service that is down from a request on, and the times of all requests since a run began. */
  function downAfter(
    requests: number,
    fetch: FetchFunction = async () => new Response('', { status: 503 }),
    sandbox = createSandbox({ records: 40, pageSize: 10, rateLimit: false }),
  ) {
    const times: number[] = [];
    let startedAt = 0;
    const counted: FetchFunction = async (url, init) => {
      times.push(Date.now() - startedAt);
      return await (times.length > requests ? fetch(url, init) : sandbox.fetch(url, init));
    };
    let apiKey = sandbox.keys.full;
    const own = { fetch: counted, timeoutMs: 2 * SECOND, apiKey: () => apiKey };
    const client = createClient({ ...sandbox.clientOptions, ...own });
    const runs = async (options: Partial<SyncOptions<Client>>, key = apiKey) => {
      apiKey = key;
      times.length = 0;
      startedAt = Date.now();
      const end = await run(client, options).catch((error: unknown) => error);
      return { end, seconds: (Date.now() - startedAt) / SECOND };
    };
    return { sandbox, client, times, runs };
  }

  test.each(Object.entries(down))(
    'for a service that is down before the first batch: %s',
    async (_, fetch) => {
      for (const pagination of ['keyset', 'page'] as const) {
        const { client, times } = downAfter(0, fetch);
        const store = memoryStore();
        for (let n = 0; n < 3; n++) {
          const options = { store, stopAfter: { ms: 4 * SECOND }, maxOutageMs: 3 * SECOND };
          const { error, seconds } = await failure(client.withOptions({ pagination }), options);
          expect(error).toMatchObject({ code: 'sync_failed', retryable: true, stopped: 'outage' });
          expect(error.cause).toMatchObject({ retryable: true });
          expect(error.errors).toHaveLength(1);
          expect(error.report).toMatchObject({ records: 0 });
          expect(seconds).toBeLessThan(6.1);
        }
        // Nothing but the attempts of one call, one of each collection, and two that see whether the service is back.
        expect(times.length).toBeLessThanOrEqual(3 * (5 + collectionNames.length + 2));
      }
    },
  );

  test.each(Object.entries(down))('for a service that goes down after some batches: %s', async (_, fetch) => {
    const { runs, times } = downAfter(12, fetch);
    const { end, seconds } = await runs({ stopAfter: { ms: 8 * SECOND } });
    expect(end).toMatchObject({ code: 'sync_failed', retryable: true, report: { paused: true } });
    expect(end).toMatchObject({ report: { exceededLimit: 'ms', records: expect.any(Number) } });
    expect((end as SyncError).report.records).toBeGreaterThan(0);
    expect((end as SyncError).message).toMatch(/when the limit of stopAfter was reached|of \d+ collections/);
    expect(seconds).toBeLessThanOrEqual(8.1);
    expect(Math.max(...times)).toBeLessThanOrEqual(8 * SECOND);
  });

  test.each(Object.entries(down))(
    'even while it is asked whether a new key is of the company: %s',
    async (_, fetch) => {
      let responds: FetchFunction | undefined;
      const { sandbox, runs } = downAfter(
        0,
        async (...request) => await (responds ?? sandbox.fetch)(...request),
      );
      const options = { store: memoryStore(), collections } as const;
      await runs(options);
      const apiKey = sandbox.issueKey();
      responds = fetch;
      for (const stopAfter of [{ ms: 4 * SECOND }, { ms: 4 * SECOND, requests: 20 }]) {
        const { end, seconds } = await runs({ ...options, stopAfter, maxOutageMs: 60 * SECOND }, apiKey);
        expect(end).toMatchObject({
          stopped: 'outage',
          retryable: true,
          report: { paused: true, records: 0 },
        });
        expect(seconds).toBeLessThan(6.1);
      }
      responds = undefined;
      const { end } = await runs({ ...options, mode: 'full' }, apiKey);
      expect(end).toMatchObject({ paused: false, complete: 'certain' });
    },
  );

  test('and resumeAfterMs says how much longer the service wants the next run to wait', async () => {
    // Whichever collections have been read by then.
    for (let requests = 1; requests <= 24; requests++) {
      const { runs } = downAfter(requests, asksToWait(60));
      const { end } = await runs({ stopAfter: { ms: 20 * SECOND } });
      const { report, cause } = end as SyncError;
      expect(cause, `after ${requests}`).toMatchObject({ retryAfterMs: 60 * SECOND });
      expect(report.paused).toBe(true);
      expect(report.resumeAfterMs).toBeGreaterThan(39 * SECOND);
      expect(report.resumeAfterMs).toBeLessThanOrEqual(60 * SECOND);
    }
  });

  test.each([
    ['no response, until its timeout', 1, down['no response'] as FetchFunction, 2],
    ['a 503, at once', 1, down['a 503'] as FetchFunction, 1],
    ['no response, in time', 3, down['no response'] as FetchFunction, 3],
  ])('and no request begins after the limit: %s', async (_, limit, fetch, most) => {
    for (const pagination of ['keyset', 'page'] as const) {
      const { client, times } = downAfter(0, fetch);
      const beganAt = Date.now();
      const { error, seconds } = await failure(client.withOptions({ pagination }), {
        stopAfter: { ms: limit * SECOND },
      });
      expect(error).toMatchObject({ stopped: 'outage', report: { paused: true, exceededLimit: 'ms' } });
      expect(seconds).toBeLessThanOrEqual(most + 0.1);
      expect(Math.max(...times) - beganAt).toBeLessThanOrEqual(limit * SECOND);
    }
  });

  test('even if one collection alone always fails, in each run until it works', async () => {
    for (const name of ['accounts', 'budgetLines', 'products'] as const) {
      const sandbox = createSandbox({ records: 20, rateLimit: false });
      sandbox.faults.add({ kind: 'status', status: 500 }, { collection: name, times: 1_000 });
      const client = createClient(sandbox.clientOptions);
      const store = memoryStore();
      for (let n = 0; n < 4; n++) {
        const { error } = await failure(client, { store, stopAfter: { ms: 4 * SECOND } });
        expect(error).toMatchObject({
          stopped: undefined,
          errors: [{ collection: name, error: { status: 500 } }],
        });
        const done = statuses(error.report).filter((status) => status === 'done');
        expect(done).toHaveLength(collectionNames.length - 1);
      }
      sandbox.faults.clear();
      const report = await run(client, { store, stopAfter: { ms: 4 * SECOND } });
      expect(report).toMatchObject({ paused: false, lastFailure: undefined, exceededLimit: undefined });
    }
  });

  test('but a request that has failed once is', async () => {
    const sandbox = createSandbox({ records: { accounts: 400 }, pageSize: 10, rateLimit: false });
    let requests = 0;
    const client = createClient({
      ...sandbox.clientOptions,
      fetch: async (...request) =>
        ++requests === 20 ? new Response('', { status: 503 }) : await sandbox.fetch(...request),
    });
    const store = memoryStore();
    const limited = { ...accounts, store, stopAfter: { requests: 20 } };
    const report = await run(client.withOptions({ retry: { maxAttempts: 2 } }), limited);
    const lastFailure = { status: 503, retryable: true };
    expect(report).toMatchObject({ paused: true, exceededLimit: 'requests', lastFailure });
    expect(report.collections).toMatchObject([{ status: 'paused', lastFailure, exceededLimit: undefined }]);
  });

  test('and the status of a copy has the error', async () => {
    const database = new DatabaseSync(':memory:');
    const { client } = downAfter(0);
    const options = { tenant: 'acme', target: sqliteTarget(database), stopAfter: { ms: 2 * SECOND } };
    await failureOf(runToEnd(sync(client, options)));
    const rows = database.prepare("SELECT last_error FROM sync_status WHERE last_error <> ''").all();
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) expect(row).toEqual({ last_error: expect.stringContaining('503') });
  });
});

describe('a new key of the company', () => {
  useVirtualClock();

  /** A copy that was read with another key, and a run with keys by the number of the call. */
  async function withNewKey(
    fails: (path: string, seconds: number) => boolean | Promise<boolean>,
    keyOf = (_: number) => 'new',
  ) {
    const sandbox = createSandbox({
      records: { accounts: 45, products: 45, accountAddresses: 20 },
      timestampsEverywhere: true,
      pageSize: 10,
      rateLimit: false,
    });
    const store = memoryStore();
    await run(createClient(sandbox.clientOptions), { store, collections });
    const keys: Readonly<Record<string, string>> = { old: sandbox.keys.full, new: sandbox.issueKey() };
    const startedAt = Date.now();
    const paths: string[] = [];
    let calls = 0;
    const client = createClient({
      ...sandbox.clientOptions,
      apiKey: () => keys[keyOf(++calls)] as string,
      fetch: async (url, init) => {
        const path = new URL(url).pathname.replace(/.*\/v1/, '');
        paths.push(path);
        if (await fails(path, (Date.now() - startedAt) / SECOND)) return new Response('', { status: 503 });
        return await sandbox.fetch(url, init);
      },
    });
    const end = async (options: Partial<SyncOptions<Client>> = {}) => {
      const ended = await run(client, { store, collections, mode: 'full', ...options }).catch(
        (error) => error,
      );
      return { ended, seconds: (Date.now() - startedAt) / SECOND };
    };
    return { end, paths };
  }

  const isRecord = (path: string) => path.split('/').length > 2;

  test.each<[string, ((call: number) => string) | undefined, number]>([
    ['every call has it', undefined, 1],
    ['every call has it', undefined, 3],
    ['the first call has the old one', (call) => (call === 1 ? 'old' : 'new'), 2],
    ['the second call has the old one', (call) => (call === 2 ? 'old' : 'new'), 3],
    ['every other call has the old one', (call) => (call % 2 === 0 ? 'old' : 'new'), 2],
  ])('is proven after an outage of 30 s: %s', async (_, keyOf, concurrency) => {
    const { end } = await withNewKey((__, seconds) => seconds < 30, keyOf);
    const { ended, seconds } = await end({ concurrency });
    expect(ended).toMatchObject({ paused: false, complete: 'certain', records: 110 });
    expect(seconds).toBeLessThan(60);
  });

  test.each([
    ['the records of products', 3, (path: string) => /^\/products\/./.test(path), []],
    ['products', 1, (path: string) => path.startsWith('/products'), ['products']],
    ['products', 3, (path: string) => path.startsWith('/products'), ['products']],
    ['accounts', 1, (path: string) => path.startsWith('/accounts'), ['accounts']],
    ['accounts', 3, (path: string) => path.startsWith('/accounts'), ['accounts']],
  ])('is proven by another collection if %s cannot be read: concurrency %i', async (...given) => {
    const [, concurrency, fails, failed] = given;
    const { end, paths } = await withNewKey(fails);
    const { ended } = await end({ concurrency });
    // Five attempts for one record that cannot be read, and five records of another collection.
    expect(paths.filter(isRecord).length).toBeLessThanOrEqual(10);
    expect(ended.errors?.map((error: { collection: string }) => error.collection) ?? []).toEqual(failed);
    expect(statuses(ended.report ?? ended).filter((status) => status === 'done')).toHaveLength(
      3 - failed.length,
    );
  });

  test.each([
    ['accounts', 1],
    ['accounts', 3],
    ['products', 2],
  ])(
    'is proven after an outage of 30 s although %s stay down: concurrency %i',
    async (broken, concurrency) => {
      const { end } = await withNewKey((path, seconds) => seconds < 30 || path.startsWith(`/${broken}`));
      const { ended, seconds } = await end({ concurrency });
      expect(ended.errors?.map((error: { collection: string }) => error.collection)).toEqual([broken]);
      expect(statuses(ended.report).filter((status) => status === 'done')).toHaveLength(2);
      expect(seconds).toBeLessThan(120);
    },
  );

  test('shows nothing of the collection whose call it was a part of, which fails alone', async () => {
    const { end } = await withNewKey(async (path) => {
      if (path !== '/products') return false;
      // The other one has ended before.
      await new Promise((resolve) => setTimeout(resolve, SECOND));
      return true;
    });
    const { ended, seconds } = await end({ concurrency: 2, collections: ['products', 'accounts'] });
    expect(ended).toMatchObject({ stopped: undefined, errors: [{ collection: 'products' }] });
    expect(seconds).toBeLessThan(60);
  });

  test('is not called that of another company if no record can be read', async () => {
    const { end, paths } = await withNewKey(isRecord);
    const { ended } = await end({ concurrency: 1 });
    // Of each collection, five attempts for the first record, and one for each other: before and after the list has shown
    // that the service works.
    expect(paths.filter(isRecord)).toHaveLength(collections.length * (5 + 2 + 3));
    expect(ended).toMatchObject({ code: 'sync_failed', retryable: true, cause: { status: 503 } });
  });

  test('is proven within the limit of requests', async () => {
    const { end, paths } = await withNewKey(() => false);
    const { ended } = await end({ stopAfter: { requests: 12 } });
    expect(ended).toMatchObject({ paused: true, exceededLimit: 'requests' });
    expect(paths.filter(isRecord)).toHaveLength(5);
    expect(paths).toHaveLength(12);
  });

  test('is not waited for after an abort', async () => {
    const { end } = await withNewKey(() => true);
    const controller = new AbortController();
    setTimeout(() => controller.abort('enough'), 60 * SECOND);
    const { ended, seconds } = await end({ signal: controller.signal });
    expect([ended, seconds]).toEqual(['enough', 60]);
  });

  test('is waited for as onProgress says', async () => {
    const { end, paths } = await withNewKey((_, seconds) => seconds < 20);
    const waits: unknown[] = [];
    await end({
      onProgress: ({ waiting, waitingUntil }) => waiting && paths.every(isRecord) && waits.push(waitingUntil),
    });
    expect(waits.filter((until) => until instanceof Date).length).toBeGreaterThan(1);
  });
});

describe('a sync of a service that something replaces', () => {
  useVirtualClock();

  const page = '<!DOCTYPE html><h1>Back soon</h1>';
  const response = (body: string, type: string) => new Response(body, { headers: { 'content-type': type } });
  const cut = () => {
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(new TextEncoder().encode(page));
      controller.error(new TypeError('terminated'));
    };
    return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/html' } });
  };

  test.each<[string, () => Response]>([
    ['HTML', () => response(page, 'text/html')],
    ['HTML that claims to be JSON', () => response(page, 'application/json')],
    ['plain text', () => response('Down for maintenance', 'text/plain; charset=utf-8')],
    ['HTML that is cut', cut],
  ])('outlasts a maintenance page with status 200 after good responses: %s', async (_, pageOf) => {
    const { sandbox } = failing({ ms: 0 });
    const times = { from: 0, ms: 60 * SECOND };
    let requests = 0;
    const fetch: ClientOptions['fetch'] = async (...request) => {
      if (++requests === 4) times.from = Date.now();
      const isDown = requests >= 4 && Date.now() - times.from < times.ms;
      return isDown ? pageOf() : await sandbox.fetch(...request);
    };
    const client = createClient({ ...sandbox.clientOptions, fetch });
    expect(statuses(await run(client, { collections }))).toEqual(['done', 'done', 'done']);

    [requests, times.ms] = [0, 600 * SECOND];
    const { error } = await failure(client, { collections });
    expect(error).toMatchObject({ stopped: 'outage', retryable: true });
    expect(error.cause).toMatchObject({ code: 'unexpected_response', retryable: true });
    expect(`${error.cause}`).toContain('maintenance');

    const first = await failure(createClient({ ...sandbox.clientOptions, fetch: async () => pageOf() }));
    expect(first.error).toMatchObject({
      stopped: undefined,
      retryable: false,
      causeCode: 'unexpected_response',
    });
    expect(`${first.error}`).toContain('baseUrl');
    expect(first.seconds).toBeLessThan(1);
  });

  const rejects = (code: string) => async () => {
    throw networkError(code);
  };

  test.each<[string, () => Promise<unknown>]>([
    ['an expired certificate', rejects('CERT_HAS_EXPIRED')],
    ['a certificate of another name', rejects('ERR_TLS_CERT_ALTNAME_INVALID')],
    [
      'a blocked port',
      async () => Promise.reject(new TypeError('fetch failed', { cause: new Error('bad port') })),
    ],
    ['headers that are too large', rejects('UND_ERR_HEADERS_OVERFLOW')],
    ['a fetch that returns no Response', async () => ({ status: 200, json: () => [] })],
    ['a fetch that returns nothing', async () => undefined],
  ])('fails at once, and not because of an outage: %s', async (_, fetch) => {
    const { error, seconds } = await failure(clientWith(fetch as ClientOptions['fetch']));
    expect(error).toMatchObject({ stopped: undefined, retryable: false, causeCode: 'connection_failed' });
    expect(error.message).not.toContain('maxOutageMs');
    expect(seconds).toBeLessThan(1);
  });
});

describe('a sync of a service of which only some collections are down', () => {
  useVirtualClock();

  type Respond = (init: RequestInit) => Promise<Response>;
  const status = (code: number) => async () => new Response('', { status: code });
  const lost = async () => Promise.reject(networkError('ECONNRESET'));
  const silent: Respond = ({ signal }) => noResponse(signal);
  const endless: Respond = async ({ signal }) =>
    new Response(new ReadableStream({ pull: () => noResponse(signal) }), {
      headers: { 'content-type': 'application/json' },
    });

  /** A client of a service of which these collections always respond so. */
  function partly(names: readonly CollectionName[], respond: Respond, options: ClientOptions = {}) {
    const sandbox = createSandbox({ records: 28, rateLimit: false });
    const { segment } = createClient(sandbox.clientOptions)[names[0] as 'accounts'];
    const segments = names.map((name) => createClient(sandbox.clientOptions)[name].segment);
    const requests: string[] = [];
    const fetch: FetchFunction = async (url, init) => {
      const [, path = ''] = url.split('/v1/');
      requests.push(path);
      const isBroken = segments.includes(path.split(/[/?]/)[0] ?? '');
      return await (isBroken ? respond(init) : sandbox.fetch(url, init));
    };
    const client = createClient({ ...sandbox.clientOptions, fetch, timeoutMs: 2 * SECOND, ...options });
    return { client, requests, segment };
  }

  const AT_ONCE = { retry: { baseDelayMs: 1, maxDelayMs: 5 } };

  test.each<[CollectionName, string, Respond]>([
    ['accounts', 'a 500', status(500)],
    ['products', 'a 502', status(502)],
    ['budgetLines', 'a 503', status(503)],
    ['accountAddresses', 'a 504', status(504)],
    ['boms', 'a 520', status(520)],
    ['bankFeedAccounts', 'a 527', status(527)],
    ['budgets', 'a lost connection', lost],
    ['accountSettings', 'no response', silent],
    ['bomLines', 'a body without an end', endless],
  ])('reads every other one, and fails %s alone, which always gets %s', async (name, _, respond) => {
    for (const concurrency of [1, 2, 14]) {
      const { client } = partly([name], respond, AT_ONCE);
      const { error, seconds } = await failure(client, { concurrency });
      expect(error).toMatchObject({ stopped: undefined, retryable: true, errors: [{ collection: name }] });
      expect(error.errors).toHaveLength(1);
      const done = statuses(error.report).filter((one) => one === 'done');
      expect(done).toHaveLength(collectionNames.length - 1);
      // The attempts of a call twice, of 2 s if there is no response.
      expect(seconds).toBeLessThan(respond === silent || respond === endless ? 21 : 0.2);
    }
  });

  test.each([1, 2, 3])(
    'fails one alone that always fails, although nothing else sends a second request: concurrency %d',
    async (concurrency) => {
      const sandbox = createSandbox({ records: 28, rateLimit: false });
      let isBroken = false;
      const fetch: FetchFunction = async (url, init) =>
        isBroken && url.includes('/products?') ? await status(500)() : await sandbox.fetch(url, init);
      const client = createClient({ ...sandbox.clientOptions, ...AT_ONCE, fetch });
      const options = {
        collections: ['products', 'accounts', 'budgets'],
        concurrency,
        store: memoryStore(),
      } as const;
      await run(client, options);
      isBroken = true;
      const before = sandbox.count();
      const { error, seconds } = await failure(client, options);
      expect(sandbox.count() - before).toBe(2);
      expect(error).toMatchObject({ stopped: undefined, errors: [{ collection: 'products' }] });
      expect(statuses(error.report)).toEqual(['failed', 'done', 'done']);
      expect(seconds).toBeLessThan(1);
    },
  );

  test.each([undefined, 0])(
    'reads every other one, children too, if two are down: maxOutageMs %s',
    async (maxOutageMs) => {
      const names = ['accounts', 'budgetLines'] as const;
      const { error, seconds } = await failure(partly(names, status(504)).client, { maxOutageMs });
      expect(error.errors.map(({ collection }) => collection)).toEqual(names);
      expect(statuses(error.report).filter((one) => one === 'done')).toHaveLength(collectionNames.length - 2);
      // The retries of four calls.
      expect(seconds).toBeLessThan(61);
    },
  );

  test('reads the others while one waits', async () => {
    const startedAt = Date.now();
    const endedAt = new Map<string, number>();
    await failure(partly(['budgets'], status(504)).client, {
      collections: ['budgets', 'accounts', 'products'],
      onProgress: ({ collection, last }) => last && endedAt.set(collection, Date.now() - startedAt),
    });
    expect([...endedAt.keys()]).toEqual(['accounts', 'products']);
    expect(endedAt.get('products')).toBeLessThan(SECOND);
  });

  test('never requests a collection that it does not read', async () => {
    const { client, requests, segment } = partly(['accounts'], status(500));
    const { error, seconds } = await failure(client, accounts);
    expect(error).toMatchObject({ stopped: 'outage', errors: [{ collection: 'accounts' }] });
    expect(seconds).toBeLessThan(140);
    expect(new Set(requests.map((path) => path.split('?')[0]))).toEqual(new Set([segment]));
  });

  test('fails a page alone that always fails while others of its collection work', async () => {
    const sandbox = createSandbox({ records: { accounts: 400 }, rateLimit: false });
    let isBroken = true;
    const fetch: FetchFunction = async (url, init) => {
      const [, after] = /id%5Bgt%5D=(\d+)/.exec(url) ?? [];
      return isBroken && Number(after) >= 100
        ? new Response('', { status: 500 })
        : await sandbox.fetch(url, init);
    };
    const client = createClient({ ...sandbox.clientOptions, ...AT_ONCE, fetch });
    const store = memoryStore();
    const { error } = await failure(client, { ...accounts, store, maxOutageMs: 20 * SECOND });
    expect(error.cause).toMatchObject({ status: 500 });
    isBroken = false;
    const { records } = await run(client, { ...accounts, store });
    expect(error.report.records + records).toBe(400);
    expect(error.report.records).toBeGreaterThan(50);
  });
});
