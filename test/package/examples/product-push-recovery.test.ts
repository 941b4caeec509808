import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { exportOf, numbersOf, openShop } from './support/shop.ts';

const MINUTE = 60_000;

test('makes no product twice though half of all answers are lost on the way', async () => {
  const { sandbox, run, numbers } = await openShop({ seed: 5 });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', probability: 0.5 });
  // A create whose every attempt was answered into the void is taken up by a later run.
  for (let left = 60; left > 0; ) {
    const { results } = await run(exportOf(60));
    left = results.filter(({ action }) => action === 'failed' || action === 'not_tried').length;
  }
  expect(sandbox.count(({ method }) => method === 'POST')).toBeGreaterThan(60);
  expect(numbers()).toEqual(numbersOf(60));
});

test('repeats a create whose end was not known under the same key, in the next run', async () => {
  const { sandbox, run, numbers } = await openShop({ commitDelayMs: MINUTE }, { retry: { maxAttempts: 1 } });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  const first = await run('sku,title\nA,Desk');
  expect(first.results[0]).toMatchObject({
    action: 'failed',
    messages: [expect.any(String), 'It may have been done. Run again: that goes on safely.'],
  });
  // The service does not show it yet, so that the next run cannot see that it is there.
  expect((await run('sku,title\nA,Desk')).actions).toEqual(['A pending']);
  const keys = sandbox.requests.filter(({ method }) => method === 'POST').map((post) => post.idempotencyKey);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
  expect(sandbox.journal.filter(({ action }) => action === 'create')).toHaveLength(1);
  expect(numbers()).toEqual([]);
});

test('first ends the old create, where the file has changed since, and then changes what it made', async () => {
  const { sandbox, run } = await openShop({}, { retry: { maxAttempts: 1 } });
  sandbox.faults.add({ kind: 'lost-response', committed: false }, { method: 'POST' });
  expect((await run('sku,title,price\nA,Desk,129')).actions).toEqual(['A failed']);
  const { results } = await run('sku,title,price\nA,Desk,149');
  expect(results[0]).toMatchObject({ action: 'created', changes: [{ column: 'price', to: '149' }] });
  expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'update']);
  expect(sandbox.store.products.all()).toMatchObject([{ productNumber: 'A', salePrice: '149.0000' }]);
});

test('makes the new draft under a new key, where the old one is refused', async () => {
  const { sandbox, run } = await openShop({ allowedStatuses: ['active'] }, { retry: { maxAttempts: 1 } });
  sandbox.faults.add({ kind: 'lost-response', committed: false }, { method: 'POST' });
  await run('sku,status\nA,lost');
  expect((await run('sku,status\nA,active')).actions).toEqual(['A created']);
  const posts = sandbox.requests.filter(({ method }) => method === 'POST');
  expect(posts.map(({ status }) => status)).toEqual([undefined, 422, 201]);
  expect(posts[0]?.idempotencyKey).toBe(posts[1]?.idempotencyKey);
  expect(posts[2]?.idempotencyKey).not.toBe(posts[1]?.idempotencyKey);
});

test('makes a product anew under a new key, once it is sure that it was deleted', async () => {
  const { sandbox, run, numbers } = await openShop();
  await run('sku,title\nA,Desk');
  await run('sku,title\nA,Desk');
  sandbox.store.products.clear();
  expect((await run('sku,title\nA,Desk')).actions).toEqual(['A created']);
  expect(numbers()).toEqual(['A']);
  const keys = sandbox.journal.map(({ idempotencyKey }) => idempotencyKey);
  expect(new Set(keys).size).toBe(2);
});

test('waits for a product that is slow to appear, and makes it anew when it has had time enough', async () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  let time = start;
  const { sandbox, run } = await openShop({ clock: { now: () => time }, commitDelayMs: 5 * MINUTE });
  const csv = 'sku,title\nA,Desk';
  expect((await run(csv)).actions).toEqual(['A created']);
  time = start + MINUTE;
  expect((await run(csv)).actions).toEqual(['A pending']);
  time = start + 6 * MINUTE;
  const [product] = sandbox.store.products.all();
  sandbox.store.products.delete(product?.id ?? '', { visibleAfterMs: 0 });
  expect((await run(csv)).actions).toEqual(['A pending']);
  time = start + 11 * MINUTE;
  expect((await run(csv)).actions).toEqual(['A created']);
  expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'create']);
});

test('takes up a product that a person has deleted and one that was renumbered by hand', async () => {
  const { sandbox, run, numbers } = await openShop();
  await run('sku,title\nA,Desk');
  sandbox.store.products.update('1', { productNumber: 'OLD-A' });
  expect((await run('sku,title\nA,Desk')).actions).toEqual(['A created']);
  expect(numbers()).toEqual(['A', 'OLD-A']);
});

test('goes on where a run was ended, which reports how far it came', async () => {
  const { sandbox, run, numbers } = await openShop();
  const controller = new AbortController();
  sandbox.onRequest(({ method }) => {
    if (method === 'POST' && sandbox.store.products.count === 7) controller.abort();
  });
  const first = await run(exportOf(30), { signal: controller.signal });
  expect(first.stopped).toBe('the run was ended');
  expect(first.actions).toHaveLength(30);
  expect(first.actions.filter((action) => action.endsWith('not_tried')).length).toBeGreaterThan(15);

  const second = await run(exportOf(30));
  expect(second.stopped).toBeUndefined();
  expect(numbers()).toEqual(numbersOf(30));
  expect((await run(exportOf(30))).actions.every((action) => action.endsWith('unchanged'))).toBe(true);
});

test('goes on where a process died without a last word, though nothing that it made is to be seen yet', async () => {
  const { sandbox, run, statePath } = await openShop({ commitDelayMs: MINUTE });
  let kept: string | undefined;
  const stop = sandbox.onRequest(({ method }) => {
    if (method !== 'POST' || kept !== undefined) return;
    kept = '';
    void readFile(statePath, 'utf8').then((text) => {
      kept = text;
    });
  });
  await run(exportOf(10));
  stop();
  await expect.poll(() => kept).toContain('P-10');
  // All that is left is the state as it was when the first create went out.
  await writeFile(statePath, kept ?? '');
  const { actions } = await run(exportOf(10));
  expect(actions.every((action) => action.endsWith('pending'))).toBe(true);
  expect(sandbox.journal.filter(({ action }) => action === 'create')).toHaveLength(10);
});

test('knows the id of a product that was made, though the answer could not be read', async () => {
  const { sandbox, run, numbers } = await openShop();
  sandbox.faults.add({ kind: 'money-as-number' }, { method: 'POST' });
  const first = await run('sku,price\nA,129');
  expect(first.results[0]?.messages).toContain('It may have been done. Run again: that goes on safely.');
  expect((await run('sku,price\nA,129')).actions).toEqual(['A unchanged']);
  expect(numbers()).toEqual(['A']);
});

test('refuses a state that it cannot read, or that is of another service', async () => {
  const { run, statePath } = await openShop();
  await writeFile(statePath, '{"version":1,"intents":[');
  await expect(run('sku\nA')).rejects.toThrow(/is not readable.*restore it/);
  await writeFile(statePath, '{"version":1,"service":"https://other.example.com","intents":[]}');
  await expect(run('sku\nA')).rejects.toThrow(/is of another service/);
});
