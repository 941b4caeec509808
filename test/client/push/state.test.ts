import { memoryStore, type ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { setUpPush } from '../../support/push.ts';
import { useFastClock } from '../../support/virtual-clock.ts';

useFastClock();

const DESK: ProductDraft = { productNumber: '1001', name: 'Desk' };
const SCREW: ProductDraft = { articleCode: '1001', name: 'Screw' };
const HEAD = 'accounting-data-sdk:shop:products-push';

test('does not mix the ids of two natural keys in one store', async () => {
  const store = memoryStore();
  const { run, sandbox } = setUpPush();
  await run([DESK], { store, key: 'productNumber' });
  expect((await run([SCREW], { store, key: 'articleCode' })).done).toEqual(['1001 created']);
  expect((await run([SCREW], { store, key: (row) => row.articleCode, keyName: 'article' })).done).toEqual([
    '1001 unchanged',
  ]);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Desk' }, { name: 'Screw' }]);
});

test('reports a conflict if the product of a stored id has no key', async () => {
  const store = memoryStore();
  const { run } = setUpPush();
  await run([DESK], { store });
  // The same name for another key: a mistake of the caller.
  const { results, commits } = await run([SCREW], { store, key: ({ articleCode }) => articleCode });
  expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'], reason: expect.any(String) }]);
  expect(commits).toEqual([]);
});

test('keeps the unknown creates of pushes by another key', async () => {
  const entries = new Map<string, string>();
  const { run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'connection-refused' }, { method: 'POST' });
  const once = { store: entries, retry: { maxAttempts: 1 }, maxOutageMs: 0 };
  await caught(run([DESK], { ...once, key: 'productNumber' }));
  await run([SCREW], { ...once, key: 'articleCode' });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  await caught(run([{ productNumber: '1002' }], { ...once, key: 'productNumber' }));
  await run([SCREW], { ...once, key: 'articleCode' });
  expect(entries.get(HEAD)).toContain('1002');
});

test('forgets an unknown create whose product a run without writes finds', async () => {
  const entries = new Map<string, string>();
  const { run, sandbox } = setUpPush([], { client: { retry: { creates: false }, timeoutMs: 5_000 } });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  await caught(run([DESK], { store: entries, retry: { maxAttempts: 1 }, maxOutageMs: 0 }));
  expect(entries.get(HEAD)).toContain('1001');
  const waits = async () => {
    let count = 0;
    const { done } = await run([DESK], {
      store: entries,
      onProgress: ({ waiting }) => (count += Number(waiting)),
    });
    return [done, count];
  };
  expect(await waits()).toEqual([['1001 unchanged'], 1]);
  expect(entries.get(HEAD)).not.toContain('1001');
  expect(await waits()).toEqual([['1001 unchanged'], 0]);
});

test.each([
  ['pending creates', HEAD, '"pending":5'],
  ['a pending create', HEAD, '"pending":[{"key":"A"}]'],
  ['ids', `${HEAD}:key:7`, '"ids":[1]'],
  ['an id', `${HEAD}:key:7`, '"ids":{"A":1}'],
])('names a store entry with damaged %s', async (_, key, damage) => {
  const entries = new Map<string, string>();
  const { run, sandbox } = setUpPush();
  const rows = Array.from({ length: 60 }, (_row, n) => ({ productNumber: `P-${n}` }));
  await run(rows, { store: entries });
  const [name] = damage.split(':');
  entries.set(key, (entries.get(key) ?? '').replace(new RegExp(`${name}:.*$`), `${damage}}`));
  sandbox.clearLogs();
  const error = await caught(run(rows, { store: entries }));
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'checkpoint' } });
  expect((error as { cause: Error }).cause.message).toContain(key);
  expect(sandbox.requests).toEqual([]);
});

test('rejects a second push of a tenant under another prefix while the first runs', async () => {
  const { run } = setUpPush();
  const first = run([DESK]);
  expect(await caught(run([DESK], { prefix: 'other' }))).toMatchObject({ code: 'concurrent_run' });
  await first;
});

test('shares the list of running pushes with every copy of the package in the process', async () => {
  const { run, sandbox } = setUpPush();
  const slot = Symbol.for('accounting-data-sdk.pushes') as unknown as keyof typeof globalThis;
  await run([DESK]);
  const runs = (globalThis as Record<symbol, unknown>)[slot as unknown as symbol] as Map<string, undefined>;
  const name = `${sandbox.clientOptions.baseUrl}/api/public/v1 shop`;
  expect([...runs.keys()]).toContain(name);
  runs.set(name, undefined);
  expect(await caught(run([DESK]))).toMatchObject({ code: 'concurrent_run' });
  runs.delete(name);
  expect((await run([DESK])).done).toEqual(['1001 unchanged']);
});
