import type { ProductDraft } from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, pushAndDie, setUpPush } from '../../support/push.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const FAST = { retry: { maxAttempts: 2, baseDelayMs: 1 }, maxOutageMs: 0 };
const A: ProductDraft = { productNumber: 'A', name: 'Desk', salePrice: '129' };

const posts = ({ requests }: Sandbox) => requests.filter(({ method }) => method === 'POST');
const numbersOf = ({ store }: Sandbox) => store.products.all().map(({ productNumber }) => productNumber);
const keysOf = (sandbox: Sandbox) => new Set(posts(sandbox).map(({ idempotencyKey }) => idempotencyKey));

test('a push creates a product with another idempotency key if a crash of the service left the first in progress', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: false, marker: true }, { method: 'POST', times: 1 });
  expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: ['create'] });
  expect(keysOf(sandbox).size).toBe(2);
  // The list was read before each of the three rounds.
  const lists = sandbox.requests
    .map(({ method, query }) => (query['id[gt]'] === undefined ? method : ''))
    .join(' ');
  expect(lists.match(/GET(?=.*POST)/g)?.length).toBeGreaterThanOrEqual(3);
  expect(await run([A])).toMatchObject({ done: ['A unchanged'], commits: [] });
});

test('a push updates a product to its row if the product got a key that no row has', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'A-old' });
  expect((await run([A])).results).toMatchObject([{ action: 'updated', id: '1', fields: ['productNumber'] }]);
});

test('a push reports a conflict if the product that its store has for one row has the key of another row', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  const rows = [A, { productNumber: 'B', name: 'Chair' }];
  for (const _ of [1, 2]) {
    const { done, commits } = await run(rows);
    expect(done).toEqual(['A conflict', 'B conflict']);
    expect(commits).toEqual([]);
  }
  // Once the rows agree with the service, the old key means nothing any more.
  expect((await run([{ productNumber: 'B', name: 'Desk' }])).done).toEqual(['B unchanged']);
  expect((await run(rows)).done).toEqual(['A created', 'B updated']);
});

test('a push writes at most seventeen entries to its store, and rejects those of another tenant or service', async () => {
  const { entries, run } = setUpPush();
  await run(numbered(100));
  expect(entries.size).toBe(17);
  for (const key of entries.keys()) expect(key).toMatch(/^accounting-data-sdk:shop:products-push/);
  for (const [key, value] of [...entries]) entries.set(key.replace(':shop:', ':other:'), value);
  const others = [run([A], { tenant: 'other' }), setUpPush().run([A], { store: entries })];
  for (const other of others)
    expect(await caught(other)).toMatchObject({
      code: 'push_failed',
      cause: { code: 'checkpoint', message: expect.stringContaining('another base URL or tenant') },
    });
});

test('a push does not renumber a product that was pushed under another key since', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  await run([{ productNumber: 'B', name: 'Desk' }]);
  expect((await run([A])).done).toEqual(['A created']);
  expect(numbersOf(sandbox)).toEqual(['B', 'A']);
  sandbox.store.products.update('1', { productNumber: 'C' });
  // The product was that of A and of B, and has neither key now.
  sandbox.store.products.delete('2');
  expect((await run([{ productNumber: 'B', name: 'Desk' }])).done).toEqual(['B updated']);
});

test('a push waits for the create of a killed run before it reads, for visibleAfterMs, but not in a dry run', async () => {
  const setUp = setUpPush();
  const { sandbox, run } = setUp;
  await pushAndDie(setUp, [A], { committed: false });
  const waited = async (dryRun: boolean) => {
    const startedAt = Date.now();
    let firstAt: number | undefined;
    const stop = sandbox.onRequest(() => {
      firstAt ??= Date.now() - startedAt;
    });
    const { done } = await run([A], { dryRun, visibleAfterMs: 70_000 });
    stop();
    return [done, firstAt];
  };
  expect(await waited(true)).toEqual([['A created'], 0]);
  expect(await waited(false)).toEqual([['A created'], 70_000]);
});

test('a push does not create a deleted product again if the list has one with its key, but without an id', async () => {
  const { sandbox, run } = setUpPush();
  expect((await run([A])).done).toEqual(['A created']);
  const body = (text: string) => text.replaceAll('"id":"2"', '"id":{}');
  sandbox.faults.add({ kind: 'rewrite', body }, { times: 99 });
  sandbox.store.products.delete('1');
  sandbox.store.products.insert({ ...A });
  expect((await run([A])).done).toEqual(['A failed']);
  expect(sandbox.store.products.all()).toHaveLength(1);
});
