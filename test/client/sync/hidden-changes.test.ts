import { expect, test } from 'vitest';
import { Copy, MINUTE_MS, setUpSync, syncAll } from './set-up.ts';

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

test('a run that lists no change does not look behind a page of hidden changes, and a full run finds what follows', async () => {
  const books = setUpSync({
    records: { accounts: 100 },
    pageSize: 30,
    timestampsEverywhere: true,
    hiddenRecords: ['45', ...ids(101, 130)],
  });
  const copy = new Copy();
  const options = { lookbackMs: 0, collections: ['accounts'], onBatch: copy.take } as const;
  await syncAll(books, options);
  expect(copy.ids).toHaveLength(99);

  books.sandbox.clock.advance(MINUTE_MS);
  for (const id of ids(101, 140)) books.sandbox.store.accounts.insert({ id });
  books.sandbox.clearLogs();
  await syncAll(books, options);
  expect(books.sandbox.count()).toBe(1);

  await syncAll(books, { ...options, mode: 'full' });
  expect(copy.ids.filter((id) => Number(id) > 100)).toEqual(ids(131, 140));
});

test('a full run looks behind its end although the run before met no hidden record', async () => {
  const books = setUpSync({ pageSize: 30, hiddenRecords: ids(31, 60) });
  for (const id of ids(1, 90)) books.sandbox.store.accounts.insert({ id });
  const read = async (mode: 'incremental' | 'full') => {
    books.sandbox.clock.advance(10 * MINUTE_MS);
    return (await syncAll(books, { collections: ['accounts'], mode })).records;
  };
  expect(await read('incremental')).toBe(60);
  books.sandbox.clock.advance(10 * MINUTE_MS);
  for (const id of ['1', '2', '3']) books.sandbox.store.accounts.update(id, { name: 'changed' });
  expect(await read('incremental')).toBe(3);
  expect(await read('full')).toBe(60);
});
