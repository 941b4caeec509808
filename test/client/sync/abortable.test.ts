import { changes, reconcile, type Store, sync } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { useFastClock } from '../../support/virtual-clock.ts';
import { addAccounts, collect, setUpSync } from './set-up.ts';

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

const stuckStores: readonly (readonly [string, (never: () => Promise<never>) => Store])[] = [
  ['store.get', (never) => ({ get: never, set: () => undefined })],
  ['store.set', (never) => ({ get: () => undefined, set: never })],
];

describe('the signal stops', () => {
  test('a sync whose onBatch never settles, and leaves the batch uncommitted', async () => {
    const books = setUpSync({ records: { accounts: 5, products: 5 } });
    const { never, signal } = stuck();
    const run = sync(books.client, { ...books.run, signal, onBatch: never });
    expect(await caught(run)).toBe('enough');
    expect(books.states.size).toBe(0);
  });

  test.each(stuckStores)('a sync whose %s never settles', async (_, storeOf) => {
    const books = setUpSync({ records: { accounts: 5, products: 5 } });
    const { never, signal } = stuck();
    const options = { tenant: 'acme', store: storeOf(never), signal, onBatch: () => undefined };
    expect(await caught(sync(books.client, options))).toBe('enough');
  });

  test.each(stuckStores)('an iteration of changes whose %s never settles', async (_, storeOf) => {
    const books = setUpSync({ records: { accounts: 5 } });
    const { never, signal } = stuck();
    const options = { tenant: 'acme', store: storeOf(never), signal };
    expect(await caught(collect(changes(books.client.accounts, options)))).toBe('enough');
  });

  test.each(['localIds', 'onDelete', 'onRepair'] as const)(
    'a reconcile whose %s never settles',
    async (callback) => {
      const books = setUpSync();
      addAccounts(books, 5);
      const { never, signal } = stuck();
      if (callback === 'onDelete') books.sandbox.store.accounts.delete('3');
      if (callback === 'onRepair') {
        const body = (text: string) => JSON.stringify(JSON.parse(text).slice(1));
        books.sandbox.faults.add({ kind: 'rewrite', body }, { times: 1 });
      }
      const run = reconcile(books.client.accounts, {
        localIds: () => ['1', '2', '3', '4', '5'],
        onDelete: () => undefined,
        pagination: 'page',
        signal,
        ...{
          localIds: { localIds: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) },
          onDelete: { onDelete: never },
          onRepair: { onRepair: never },
        }[callback],
      });
      expect(await caught(run)).toBe('enough');
    },
  );
});
