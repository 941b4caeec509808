import { type ClientOptions, memoryStore, type ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { ONCE, setUpPush } from '../../support/push.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const DESK: ProductDraft = { productNumber: '1001', name: 'Desk' };
const SCREW: ProductDraft = { articleCode: '1001', name: 'Screw' };
const HEAD = 'accounting-data-sdk:shop:products-push';

test('a push does not mix the ids of two natural keys in one store', async () => {
  const store = memoryStore();
  const { run, sandbox } = setUpPush();
  await run([DESK], { store, key: 'productNumber' });
  expect((await run([SCREW], { store, key: 'articleCode' })).done).toEqual(['1001 created']);
  expect((await run([SCREW], { store, key: (row) => row.articleCode, keyName: 'article' })).done).toEqual([
    '1001 unchanged',
  ]);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Desk' }, { name: 'Screw' }]);
});

test('a push reports a conflict if the product of a stored id has no key', async () => {
  const store = memoryStore();
  const { run } = setUpPush();
  await run([DESK], { store });
  // The same name for another key: a mistake of the caller.
  const { results, commits } = await run([SCREW], { store, key: ({ articleCode }) => articleCode });
  const reason = expect.stringContaining('product 1, which was pushed under this key before, has no key');
  expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'], reason }]);
  expect(commits).toEqual([]);
});

test('a push keeps the unknown creates of pushes by another key in its store', async () => {
  const entries = new Map<string, string>();
  const { run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'connection-refused' }, { method: 'POST' });
  const once = { store: entries, ...ONCE };
  await caught(run([DESK], { ...once, key: 'productNumber' }));
  await run([SCREW], { ...once, key: 'articleCode' });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  await caught(run([{ productNumber: '1002' }], { ...once, key: 'productNumber' }));
  await run([SCREW], { ...once, key: 'articleCode' });
  expect(entries.get(HEAD)).toContain('1002');
});

/** A store that has the unknown create of a product which exists. */
async function setUpLost(client: ClientOptions = {}) {
  const entries = new Map<string, string>();
  const setUp = setUpPush([], { client });
  setUp.sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  await caught(setUp.run([DESK], { store: entries, ...ONCE }));
  expect(entries.get(HEAD)).toContain('1001');
  return { ...setUp, entries };
}

test('a push without writes forgets an unknown create whose product it finds', async () => {
  const { run, entries } = await setUpLost({ retry: { creates: false }, timeoutMs: 5_000 });
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

test('a push forgets an unknown create whose product it finds, even if the update is lost', async () => {
  const { run, sandbox, entries } = await setUpLost();
  sandbox.faults.add({ kind: 'lost-response', committed: false }, { method: 'PATCH' });
  const once = { store: entries, ...ONCE };
  await caught(run([{ ...DESK, name: 'Table' }], once));
  expect(entries.get(HEAD)).not.toContain('1001');
});

test('a push forgets an unknown create whose product it finds, even if another one has its key', async () => {
  const { run, sandbox, entries } = await setUpLost();
  sandbox.store.products.insert({ ...DESK });
  expect((await run([DESK], { store: entries })).done).toEqual(['1001 conflict']);
  expect(entries.get(HEAD)).not.toContain('1001');
});

test('a push does not remember a create that the service rejected', async () => {
  const entries = new Map<string, string>();
  const { run } = setUpPush([], { sandbox: { allowedStatuses: ['active'] } });
  expect((await run([{ ...DESK, status: 'sold' }], { store: entries })).done).toEqual(['1001 failed']);
  expect(entries.get(HEAD)).not.toContain('1001');
});

test.each([
  ['pending creates', HEAD, '"pending":5'],
  ['a pending create', HEAD, '"pending":[{"key":"A"}]'],
  ['ids', `${HEAD}:key:7`, '"ids":[1]'],
  ['an id', `${HEAD}:key:7`, '"ids":{"A":1}'],
])('a push rejects a store entry with damaged %s, and names it', async (_, key, damage) => {
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

test('a second push of a tenant is rejected while the first runs, under another prefix too', async () => {
  const { run } = setUpPush();
  const first = run([DESK]);
  const others = [{}, { prefix: 'other' }].map((options) => caught(run([DESK], options)));
  for (const error of await Promise.all(others))
    expect(error).toMatchObject({ code: 'concurrent_run', retryable: true });
  expect((await first).done).toEqual(['1001 created']);
  expect((await run([DESK])).done).toEqual(['1001 unchanged']);
});

/** The pushes of this process that run or have just ended. */
const runsOfProcess = () =>
  (globalThis as Record<symbol, unknown>)[Symbol.for('accounting-data-sdk.pushes')] as Map<string, undefined>;

test('the process forgets pushes that ended a while ago', async () => {
  const { run, sandbox } = setUpPush();
  const tenants = () =>
    [...runsOfProcess().keys()].filter((name) => name.startsWith(sandbox.clientOptions.baseUrl ?? ''));
  await run([DESK], { tenant: 'a' });
  await advance(3_000);
  await run([DESK], { tenant: 'b' });
  expect(tenants().map((name) => name.split(' ')[1])).toEqual(['b']);
});

test('a push shares the list of running pushes with every copy of the package in the process', async () => {
  const { run, sandbox } = setUpPush();
  await run([DESK]);
  const runs = runsOfProcess();
  const name = `${sandbox.clientOptions.baseUrl}/api/public/v1 shop`;
  expect([...runs.keys()]).toContain(name);
  runs.set(name, undefined);
  expect(await caught(run([DESK]))).toMatchObject({ code: 'concurrent_run' });
  runs.delete(name);
  expect((await run([DESK])).done).toEqual(['1001 unchanged']);
});
