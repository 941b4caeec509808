import type { Client, Store, SyncOptions } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { noResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { useFastClock } from '../../support/virtual-clock.ts';
import {
  clientOf,
  KEY,
  listing,
  nothing,
  readAccounts,
  type SyncSetUp,
  setUpSync,
  statuses,
  syncAll,
  withAccounts,
} from './set-up.ts';

/** A signal that has not fired, and a function that makes it fire. */
function stopper() {
  const controller = new AbortController();
  return { signal: controller.signal, stop: () => controller.abort('enough') };
}

describe('the signal stops what never settles', () => {
  useFastClock();

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
    /** Options of which one never settles, and a signal that fires soon after it was called. */
    const stuck = () => {
      const { signal, stop } = stopper();
      const never = () => {
        setTimeout(stop, 10);
        return new Promise<never>(() => undefined);
      };
      return { signal, ...options(never) };
    };
    const full = { mode: 'full', localIds: () => ['1', '2', '3', '4', '5'], onDelete: nothing } as const;
    const run = syncAll(books, { collections: ['accounts'], ...full, ...stuck() } as never);
    expect(await caught(run)).toBe('enough');
    if (!name.startsWith('store')) return;
    expect(books.states.size).toBe(0);
    expect(await caught(readAccounts(books, stuck() as { store: Store }))).toBe('enough');
  });
});

describe('the signal', () => {
  test('that has already fired lets nothing be read or sent', async () => {
    const books = setUpSync();
    const store = { get: () => expect.unreachable('the store was read') };
    const signal = AbortSignal.abort('enough');
    expect(await caught(readAccounts(books, { store, signal }))).toBe('enough');
    expect(await caught(syncAll(books, { store, signal }))).toBe('enough');
    expect(books.sandbox.count()).toBe(0);
  });

  test.each([
    ['changes', undefined],
    ['a sync', undefined],
    ['a sync', { requests: 1_000 }],
  ])(
    'stops %s at its next batch, with stopAfter %j, and what was finished is committed',
    async (kind, stopAfter) => {
      const books = withAccounts(60);
      const { signal, stop } = stopper();
      let checkpoint: string | undefined;
      const onBatch = async (batch: { checkpoint: string }) => {
        stop();
        await new Promise((resolve) => setTimeout(resolve));
        checkpoint = batch.checkpoint;
      };
      const collections = ['accounts', 'accountAddresses'] as const;
      const run: Promise<unknown> =
        kind === 'changes'
          ? readAccounts(books, { signal }, onBatch)
          : syncAll(books, { collections, signal, stopAfter, onBatch });
      expect(await caught(run)).toBe('enough');
      expect(books.states).toEqual(new Map([[KEY, checkpoint]]));
      expect(books.sandbox.count(({ path }) => !path.endsWith('/accounts'))).toBe(0);
    },
  );

  test('stops a sync between two levels, although the first is done, and changes nothing at its end', async () => {
    const books = setUpSync({ records: { accounts: 5, accountAddresses: 5 } });
    const run = (
      collections: readonly ('accounts' | 'accountAddresses')[],
      { signal, stop } = stopper(),
    ) => ({
      signal,
      report: syncAll(books, { collections, signal, onProgress: ({ last }) => last && stop() }),
    });
    expect(await caught(run(['accounts', 'accountAddresses']).report)).toBe('enough');
    expect([...books.states.keys()]).toEqual([KEY]);

    const { report, signal } = run(['accounts']);
    expect(await report).toMatchObject({ collections: [{ status: 'done' }] });
    expect([signal.aborted, listenersOn(signal)]).toEqual([true, 0]);

    // One that the key may not read has ended too.
    const other = stopper();
    const limited = await syncAll(
      { ...books, client: clientOf(books.sandbox, { apiKey: books.sandbox.keys.productsOnly }) },
      {
        tenant: 'other',
        collections: ['budgets', 'products'],
        concurrency: 1,
        signal: other.signal,
        onProgress: ({ last }) => last && other.stop(),
      },
    );
    expect([statuses(limited), other.signal.aborted]).toEqual([['forbidden', 'done'], true]);
  });

  /** A sync of accounts and products that is stopped in its first batch. */
  async function stopped(books: SyncSetUp, turns: number) {
    const { signal, stop } = stopper();
    const taken: string[] = [];
    const run = syncAll(books, {
      collections: ['accounts', 'products'],
      signal,
      onBatch: async ({ collection }) => {
        taken.push(collection);
        for (let turn = 0; turn < turns; turn++) await settle();
        stop();
      },
    });
    expect(await caught(run)).toBe('enough');
    return taken;
  }

  test('lets no batch be delivered that waited for `onBatch`', async () => {
    const books = setUpSync({ records: { accounts: 30, products: 30 } });
    expect(await stopped(listing(books, { pagination: 'page' }), 5)).toHaveLength(1);
    expect(books.sandbox.count(({ path }) => path.endsWith('/products'))).toBeGreaterThan(0);
  });

  test('aborts the requests of a sync that are in flight', async () => {
    const books = setUpSync({ records: { accounts: 30, products: 30 } });
    let aborted = 0;
    const client = clientOf(books.sandbox, {
      fetch: async (url, init) => {
        if (!String(url).includes('/products')) return await books.sandbox.fetch(url, init);
        return await noResponse(init.signal, () => aborted++);
      },
    });
    await stopped({ ...books, client }, 1);
    expect(aborted).toBe(1);
  });
});
