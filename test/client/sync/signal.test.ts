import { type Client, changes, type Store, type SyncOptions, sync } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { noResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { useFastClock } from '../../support/virtual-clock.ts';
import {
  clientOf,
  collect,
  KEY,
  listing,
  nothing,
  readAccounts,
  setUpSync,
  syncAll,
  withAccounts,
} from './set-up.ts';

describe('the signal stops what never settles', () => {
  useFastClock();

  /** A function that never settles, and a signal that fires soon after it was called. */
  function stuck() {
    const controller = new AbortController();
    const never = () => {
      setTimeout(() => controller.abort('enough'), 10);
      return new Promise<never>(() => undefined);
    };
    return { never, signal: controller.signal };
  }

  type Stuck = (never: () => Promise<never>) => Partial<SyncOptions<Client, 'accounts'>>;
  test.each<[string, Stuck]>([
    ['onBatch', (onBatch) => ({ onBatch })],
    ['store.get', (get) => ({ store: { get, set: nothing } })],
    ['store.set', (set) => ({ store: { get: nothing, set } })],
    ['localIds', (next) => ({ localIds: () => ({ [Symbol.asyncIterator]: () => ({ next }) }) })],
    ['onDelete', (onDelete) => ({ onDelete })],
  ])('in a full sync, or in changes: %s', async (name, options) => {
    const books = withAccounts(5);
    books.sandbox.store.accounts.delete('3');
    const one = stuck();
    const full = { mode: 'full', localIds: () => ['1', '2', '3', '4', '5'], onDelete: nothing } as const;
    const own = { collections: ['accounts'], signal: one.signal, ...full, ...options(one.never) } as const;
    expect(await caught(sync(books.client, { ...books.run, onBatch: nothing, ...own }))).toBe('enough');
    if (!name.startsWith('store')) return;
    expect(books.states.size).toBe(0);
    const two = stuck();
    const { store } = options(two.never) as { store: Store };
    expect(await caught(readAccounts(books, { signal: two.signal, store }))).toBe('enough');
  });
});

describe('the signal', () => {
  test('that has already fired lets nothing be read or sent', async () => {
    const books = setUpSync();
    const reads: string[] = [];
    const store = { get: (key: string) => void reads.push(key) };
    const signal = AbortSignal.abort('enough');
    expect(await caught(readAccounts(books, { store, signal }))).toBe('enough');
    expect(await caught(syncAll(books, { store, signal }))).toBe('enough');
    expect(books.sandbox.count()).toBe(0);
    expect(reads).toEqual([]);
  });

  test('stops changes at its next batch, and what was finished is committed', async () => {
    const books = withAccounts(40);
    const controller = new AbortController();
    let first: string | undefined;
    const run = collect(
      changes(books.client.accounts, { ...books.run, signal: controller.signal }),
      ({ checkpoint }) => {
        first ??= checkpoint;
        controller.abort('enough');
      },
    );
    expect(await caught(run)).toBe('enough');
    expect(books.states.get(KEY)).toBe(first);
  });

  test.each([undefined, { ms: 60_000, requests: 1_000 }])(
    'stops a sync when the batch that `onBatch` has is committed: stopAfter %j',
    async (stopAfter) => {
      const books = withAccounts(60);
      const controller = new AbortController();
      let checkpoint: string | undefined;
      const run = syncAll(books, {
        collections: ['accounts', 'accountAddresses'],
        signal: controller.signal,
        stopAfter,
        onBatch: async (batch) => {
          controller.abort('enough');
          await new Promise((resolve) => setTimeout(resolve));
          checkpoint = batch.checkpoint;
        },
      });
      expect(await caught(run)).toBe('enough');
      expect(books.states).toEqual(new Map([[KEY, checkpoint]]));
      expect(books.sandbox.count(({ path }) => !path.endsWith('/accounts'))).toBe(0);
    },
  );

  test('stops a sync between two levels, although the first is done', async () => {
    const books = setUpSync({ records: { accounts: 5, accountAddresses: 5 } });
    const controller = new AbortController();
    const run = syncAll(books, {
      collections: ['accounts', 'accountAddresses'],
      signal: controller.signal,
      onProgress: ({ last }) => last && controller.abort('enough'),
    });
    expect(await caught(run)).toBe('enough');
    expect([...books.states.keys()]).toEqual([KEY]);
  });

  test('changes nothing if everything has been committed, and has no listeners left', async () => {
    const controller = new AbortController();
    const report = await syncAll(withAccounts(5), {
      collections: ['accounts'],
      signal: controller.signal,
      onProgress: ({ last }) => last && controller.abort('too late'),
    });
    expect(report.collections[0]?.status).toBe('done');
    expect(listenersOn(controller.signal)).toBe(0);
  });

  test('lets no batch be delivered that waited for `onBatch`', async () => {
    const books = setUpSync({ records: { accounts: 30, products: 30 } });
    const controller = new AbortController();
    const taken: string[] = [];
    const run = syncAll(listing(books, { pagination: 'page' }), {
      collections: ['accounts', 'products'],
      signal: controller.signal,
      onBatch: async ({ collection }) => {
        taken.push(collection);
        for (let turn = 0; turn < 5; turn++) await settle();
        controller.abort('enough');
      },
    });
    expect(await caught(run)).toBe('enough');
    expect(taken).toHaveLength(1);
    expect(books.sandbox.count(({ path }) => path.endsWith('/products'))).toBeGreaterThan(0);
  });

  test('aborts the requests of a sync that are in flight', async () => {
    const books = setUpSync({ records: { accounts: 30, products: 30 } });
    const controller = new AbortController();
    let aborted = 0;
    const client = clientOf(books.sandbox, {
      fetch: async (url, init) => {
        if (!String(url).includes('/products')) return await books.sandbox.fetch(url, init);
        return await noResponse(init.signal, () => aborted++);
      },
    });
    const onBatch = async () => {
      await settle();
      controller.abort('enough');
    };
    const { signal } = controller;
    const run = syncAll({ ...books, client }, { collections: ['accounts', 'products'], signal, onBatch });
    expect(await caught(run)).toBe('enough');
    expect(aborted).toBe(1);
  });
});
