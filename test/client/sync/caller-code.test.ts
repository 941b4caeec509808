import {
  type Client,
  createClient,
  forget,
  memoryStore,
  type OpenTarget,
  refresh,
  type SyncProgress,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { temporaryFile } from '../targets/engines.ts';
import { nothing } from './set-up.ts';

useVirtualClock();

const SECOND = 1_000;

/** A service with some records, of which one was deleted since they were copied into a file. */
async function setUp() {
  const sandbox = createSandbox({ records: { accounts: 25, products: 25 }, rateLimit: false });
  const { logger, warnings } = loggerOfWarnings();
  const client = createClient({ ...sandbox.clientOptions, logger });
  const file = temporaryFile();
  const options = { tenant: 'acme', collections: ['accounts', 'products'] as const };
  await runToEnd(sync(client, { ...options, target: sqliteTarget(file) }));
  sandbox.store.accounts.delete('3');
  return { sandbox, client, warnings, file, options };
}

/** The target of a file of which one method, such as `store.get`, calls this function and never settles. */
function stuckAt(file: string, path: string, onCall: () => void): SyncTarget {
  const never = () => {
    onCall();
    return new Promise<never>(() => undefined);
  };
  const values = (async function* () {
    yield await never();
  })();
  const inner = sqliteTarget(file);
  if (path === 'open') return { open: never };
  return {
    async open(...args) {
      const opened = await inner.open(...args);
      const [first = '', second] = path.split('.') as [keyof OpenTarget, string?];
      const stuck = path === 'localIds' || path === 'marks.unmarked' ? () => values : never;
      // The methods of the inner one are called on it.
      return new Proxy(opened, {
        get(from, name) {
          const value: unknown = Reflect.get(from, name);
          if (name !== first) return typeof value === 'function' ? value.bind(from) : value;
          return second === undefined
            ? stuck
            : new Proxy(value as object, {
                get: (of, member) => (member === second ? stuck : Reflect.get(of, member)),
              });
        },
      });
    },
  };
}

type Run = (
  client: Client,
  options: { tenant: string; target: SyncTarget; signal?: AbortSignal },
) => Promise<unknown>;
const full: Run = (client, options) =>
  sync(client, { ...options, collections: ['accounts', 'products'], mode: 'full' });
const refreshed: Run = ({ accounts }, options) => refresh(accounts, { ...options, ids: ['3'] });
const removed: Run = (_, options) => forget(options);
const verified: Run = (client, options) => verify(client, { ...options, collections: ['accounts'] });

const WAITS: readonly (readonly [method: string, what: string, run: Run])[] = [
  ...(
    ['open', 'store.get', 'onBatch', 'marks.count', 'marks.unmarked', 'onDelete', 'onEnd', 'close'] as const
  ).map((method) => [method, 'a sync', full] as const),
  ...(['localIds', 'rows', 'close'] as const).map((method) => [method, 'verify', verified] as const),
  ...(['company.get', 'rows', 'localIds', 'replace', 'close'] as const).map(
    (method) => [method, 'refresh', refreshed] as const,
  ),
  ...(['open', 'forget', 'close'] as const).map((method) => [method, 'forget', removed] as const),
];

describe('an abort ends the wait for a method that never settles', () => {
  test.each(WAITS)('%s, in %s', async (method, _, run) => {
    const { client, file, warnings, options } = await setUp();
    const controller = new AbortController();
    let stoppedAt = 0;
    const onCall = () => {
      if (stoppedAt > 0) return;
      stoppedAt = Date.now();
      setTimeout(() => controller.abort('enough'), 10);
    };
    const target = stuckAt(file, method, onCall);
    const { signal } = controller;
    expect(await caught(runToEnd(run(client, { tenant: 'acme', target, signal })))).toBe('enough');
    expect(stoppedAt).toBeGreaterThan(0);
    expect(Date.now() - stoppedAt).toBeLessThan(2.1 * SECOND);
    // `forget` has no client, and so no logger.
    const warned = run === removed ? [] : [expect.stringContaining(`target.${method} has not ended`)];
    expect(warnings).toEqual(warned);
    // The lock of the file was released, unless the target itself could not be closed.
    if (method === 'close') return;
    await expect(runToEnd(sync(client, { ...options, target: sqliteTarget(file) }))).resolves.toBeDefined();
  });

  test('of a function or a store of the caller', async () => {
    const { client } = await setUp();
    for (const name of ['onBatch', 'get', 'set'] as const) {
      const controller = new AbortController();
      const never = () => {
        setTimeout(() => controller.abort('enough'), 10);
        return new Promise<never>(() => undefined);
      };
      const store = { ...memoryStore(), ...(name !== 'onBatch' && { [name]: never }) };
      const onBatch = name === 'onBatch' ? never : nothing;
      const run = sync(client, { tenant: 'acme', store, onBatch, signal: controller.signal });
      expect(await caught(runToEnd(run))).toBe('enough');
    }
  });
});

describe('stopAfter ends the wait for a method that never settles, with a warning that names it', () => {
  test.each(WAITS.filter(([, , run]) => run === full))('%s', async (method) => {
    const { client, file, warnings } = await setUp();
    const target = stuckAt(file, method, nothing);
    const startedAt = Date.now();
    const end = await runToEnd(
      sync(client, { tenant: 'acme', target, mode: 'full', stopAfter: { ms: 2 * SECOND } }),
    ).catch((error: unknown) => error);
    expect(Date.now() - startedAt).toBeLessThan(4.1 * SECOND);
    expect(warnings).toEqual([expect.stringContaining(`target.${method} has not ended`)]);
    // Some batches were committed before the first record was looked for.
    const isProgress = ['marks.unmarked', 'onDelete'].includes(method);
    const failure = {
      code: 'checkpoint',
      retryable: true,
      message: expect.stringContaining(`target.${method}`),
    };
    if (isProgress) expect(end).toMatchObject({ paused: true, exceededLimit: 'ms', lastFailure: failure });
    else if (['open', 'onEnd', 'close'].includes(method)) expect(end).toMatchObject(failure);
    else {
      expect(end).toMatchObject({ code: 'sync_failed', stopped: undefined, retryable: true, cause: failure });
      expect(end).toMatchObject({ report: { paused: true, exceededLimit: 'ms' } });
    }
  });

  test('a store, without a target', async () => {
    const { client } = await setUp();
    const startedAt = Date.now();
    const waits: SyncProgress[] = [];
    const error = await caught(
      runToEnd(
        sync(client, {
          tenant: 'acme',
          store: { ...memoryStore(), get: () => new Promise<never>(() => undefined) },
          onBatch: nothing,
          onProgress: (progress) => waits.push(progress),
          stopAfter: { ms: 6 * SECOND },
        }),
      ),
    );
    expect(Date.now() - startedAt).toBeLessThan(7.1 * SECOND);
    expect(error).toMatchObject({
      code: 'sync_failed',
      cause: { message: expect.stringMatching(/^store\.get had/) },
    });
    expect(waits).toMatchObject([{ waiting: true, waitingUntil: undefined }]);
  });

  test('a key function', async () => {
    const { sandbox } = await setUp();
    const client = createClient({
      ...sandbox.clientOptions,
      apiKey: () => new Promise<never>(() => undefined),
    });
    const startedAt = Date.now();
    const run = sync(client, {
      tenant: 'acme',
      store: memoryStore(),
      onBatch: nothing,
      stopAfter: { ms: 2 * SECOND },
    });
    await runToEnd(run).catch(() => undefined);
    expect(Date.now() - startedAt).toBeLessThan(4 * SECOND);
  });
});

test('a batch that takes a little longer than stopAfter is committed', async () => {
  const { client } = await setUp();
  const store = memoryStore();
  const delivered: string[] = [];
  const onBatch = async ({ records }: { records: readonly { id: string }[] }) => {
    await new Promise((resolve) => setTimeout(resolve, 2.5 * SECOND));
    for (const { id } of records) delivered.push(id);
  };
  const collections = ['accounts'] as const;
  let runs = 0;
  for (let paused = true; paused && runs < 20; runs++) {
    const stopAfter = { ms: 2 * SECOND };
    ({ paused } = await runToEnd(sync(client, { tenant: 'acme', store, collections, onBatch, stopAfter })));
  }
  expect(delivered.length).toBe(24);
  expect(runs).toBeLessThan(20);
});

test('a warning says what a sync waits for, once, and onProgress that it waits', async () => {
  const { client, warnings, options } = await setUp();
  const waits: SyncProgress[] = [];
  await runToEnd(
    sync(client, {
      ...options,
      store: memoryStore(),
      onBatch: () => new Promise((resolve) => setTimeout(resolve, 20 * SECOND)),
      onProgress: (progress) => progress.waiting && waits.push(progress),
    }),
  );
  expect(warnings).toEqual([expect.stringContaining('Waiting for onBatch, which has not ended for 10 s.')]);
  expect(waits.length).toBeGreaterThan(1);
});
