import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, pushAndDie, setUpPush, storeOver } from '../../support/push.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const DESK: ProductDraft = { productNumber: '1001', name: 'Desk' };
const SCREW: ProductDraft = { articleCode: '1001', name: 'Screw' };
const HEAD = 'accounting-data-sdk:shop:products-push';
/** The mark of the run. */
const MARK = `${HEAD}:run`;

/** Another process has taken over. */
const takeOver = (entries: Map<string, string>) => entries.set(MARK, '{"v":2,"by":"another"}');

test('a push keeps the ids and the unknown creates of each natural key apart in one store', async () => {
  const { entries, run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'disconnect', reset: true, committed: false }, { method: 'POST', times: 9 });
  expect((await run([DESK], { ...ONCE, key: 'productNumber' })).done).toEqual(['1001 failed']);
  sandbox.faults.clear();
  expect((await run([SCREW], { ...ONCE, key: 'articleCode' })).done).toEqual(['1001 created']);
  expect(entries.get(HEAD)).toContain('"productNumber":{"sent":{"1001"');
  const { done } = await run([SCREW], { key: (row) => row.articleCode, keyName: 'article' });
  expect(done).toEqual(['1001 unchanged']);
  expect((await run([DESK], { key: 'productNumber' })).report.counts).toMatchObject({ created: 1 });
  expect((await run([DESK], { key: 'productNumber' })).done).toEqual(['1001 unchanged']);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Screw' }, { name: 'Desk' }]);
});

test('a push reports a conflict if the product of a stored id has no key', async () => {
  const { run } = setUpPush();
  await run([DESK]);
  // The same name for another key: a mistake of the caller.
  const { results, commits } = await run([SCREW], { key: ({ articleCode }) => articleCode });
  const reason = expect.stringContaining('product 1, which was pushed under this key before, has no key');
  expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'], reason }]);
  expect(commits).toEqual([]);
});

test('a push does not create a product again if its process was killed after a chunk of creates, and reads lag behind', async () => {
  const { entries, run, sandbox } = setUpPush([], { sandbox: { newRecords: { listedAfterMs: 3_600_000 } } });
  const rows = numbered(104);
  const killed = new AbortController();
  const set = (key: string, value: string) => {
    killed.signal.throwIfAborted();
    entries.set(key, value);
  };
  const store = { get: (key: string) => entries.get(key), set };
  let posts = 0;
  const stop = sandbox.onRequest(({ method }) => {
    if (method === 'POST' && ++posts === 102) killed.abort(new Error('killed'));
  });
  await caught(run(rows, { signal: killed.signal, concurrency: 1, store }));
  stop();
  // A request shows products that the list lacks, so it may lack those of the creates that were lost.
  const { report, results } = await run([...rows, { productNumber: 'NEW' }]);
  expect(report).toMatchObject({ complete: 'likely', counts: { created: 0, unchanged: 100, failed: 5 } });
  const message = expect.stringContaining('The list is incomplete');
  expect(results.filter(({ action }) => action === 'failed')).toMatchObject(
    Array(5).fill({ error: { code: 'unexpected_response', message } }),
  );
  await advance(3_600_000);
  expect((await run(rows)).report.counts).toMatchObject({ failed: 0 });
  const numbers = sandbox.store.products.all().map(({ productNumber }) => productNumber);
  expect([numbers.length, new Set(numbers).size]).toEqual([104, 104]);
});

test.each([
  ['version', HEAD, '"v":9'],
  ['an open create', HEAD, '"open":{"key":{"sent":{"A":{"draft":"{}"}},"made":{}}}'],
  ['a product', `${HEAD}:key:c`, '"products":{"a":["1"]}'],
  ['an id', `${HEAD}:key:c`, '"products":{"a":[1,null]}'],
])('a push rejects a store entry with damaged %s, and names it', async (_, key, damage) => {
  const { entries, run, sandbox } = setUpPush();
  // The product of p-3 is in part c.
  const rows = numbered(4);
  await run(rows);
  const [name] = damage.split(':');
  entries.set(key, (entries.get(key) ?? '').replace(new RegExp(`${name}:.*$`), `${damage}}`));
  sandbox.clearLogs();
  const error = await caught(run(rows));
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'checkpoint' } });
  expect((error as { cause: Error }).cause.message).toContain(key);
  expect(sandbox.requests).toEqual([]);
});

test('a second push of a tenant is rejected while the first runs in this process, by any copy of the package', async () => {
  const { run, sandbox } = setUpPush();
  const first = run([DESK]);
  const others = [{}, { prefix: 'other' }].map((options) => caught(run([DESK], options)));
  for (const error of await Promise.all(others))
    expect(error).toMatchObject({ code: 'concurrent_run', retryable: true });
  expect((await first).done).toEqual(['1001 created']);
  const name = `${sandbox.clientOptions.baseUrl}/api/public/v1 shop`;
  // One that has ended is forgotten.
  expect(runsOfProcess()).not.toContain(name);
  runsOfProcess().add(name);
  expect(await caught(run([DESK]))).toMatchObject({ code: 'concurrent_run' });
  runsOfProcess().delete(name);
  expect((await run([DESK])).done).toEqual(['1001 unchanged']);
});

/** The pushes that run in this process. */
const runsOfProcess = () =>
  (globalThis as Record<symbol, unknown>)[Symbol.for('accounting-data-sdk.pushes')] as Set<string>;

/** Another process does not know the pushes of this one. */
const asAnotherProcess = () => runsOfProcess().clear();

test('a push keeps another process out while it waits for a response', async () => {
  const { run } = setUpPush();
  let other: unknown;
  const confirm = async () => {
    await new Promise((resolve) => setTimeout(resolve, 20_300));
    asAnotherProcess();
    other = await caught(run([DESK]));
    return true;
  };
  expect((await run([DESK], { confirm })).done).toEqual(['1001 created']);
  expect(other).toMatchObject({ code: 'concurrent_run' });
});

test('a push says in its mark that it has ended, also if it rejects or is stopped, and a dry run writes none', async () => {
  const { entries, run, sandbox } = setUpPush();
  /** The mark of the last run, and what it says of itself. */
  const marks = () => {
    const names = [...entries.keys()].filter((key) => key.startsWith(`${HEAD}:alive`));
    return [entries.get(MARK), ...names.map((name) => entries.get(name))];
  };
  const expected = [expect.stringMatching(/^\{"v":2,"by":"[\w-]+"\}$/), '{"v":2,"alive":"ended"}'];
  sandbox.faults.add({ kind: 'status', status: 401, type: 'unauthenticated' }, { times: 1 });
  expect(await caught(run([DESK]))).toMatchObject({ code: 'push_failed' });
  expect(marks()).toEqual(expected);
  const stopped = new AbortController();
  const confirm = () => {
    stopped.abort(new Error('stopped'));
    return true;
  };
  expect(await caught(run([DESK], { signal: stopped.signal, confirm }))).toBe(stopped.signal.reason);
  expect(marks()).toEqual(expected);
  const before = [...entries];
  await run([{ ...DESK, name: 'Table' }], { dryRun: true });
  expect([...entries]).toEqual(before);
});

test('a push holds the lock of a store that can lock while it runs', async () => {
  const entries = new Map<string, string>();
  const locked = new Set<string>();
  const store = {
    ...storeOver(entries, () => undefined),
    lock(key: string) {
      if (locked.has(key)) return undefined;
      locked.add(key);
      return () => void locked.delete(key);
    },
  };
  const { run, sandbox } = setUpPush();
  sandbox.onRequest(() => expect([...locked]).toEqual([HEAD]));
  await run([DESK], { store });
  expect([locked.size, entries.has(MARK)]).toEqual([0, true]);
  locked.add(HEAD);
  expect(await caught(run([DESK], { store }))).toMatchObject({ code: 'concurrent_run' });
  expect((await run([DESK], { store: { ...store, lock: () => false } })).done).toEqual(['1001 unchanged']);
});

test('a push that stops keeps the creates of a killed push that it did not repeat', async () => {
  const setUp = setUpPush([], { sandbox: { hiddenRecords: ['1', '2'] } });
  const { entries, run, sandbox } = setUp;
  const rows = [DESK, { productNumber: '1002' }];
  await pushAndDie(setUp, rows, { creates: 2 });
  const denied = { kind: 'status', status: 401, type: 'unauthenticated' } as const;
  sandbox.faults.add(denied, { method: 'POST', times: 1 });
  await caught(run(rows, { concurrency: 1 }));
  for (const key of ['1001', '1002']) expect(entries.get(HEAD)).toContain(`"${key}":{"idempotencyKey"`);
  // Repeated under their keys, because the list does not show them.
  expect((await run(rows)).done).toEqual(['1001 created', '1002 created']);
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test.each([
  ['creates', { productNumber: '1002' }],
  ['updates', { ...DESK, name: 'Table' }],
] as const)('a push %s nothing if another process has taken over since it began', async (_, row) => {
  const { entries, run, sandbox } = setUpPush([{ productNumber: 'old' }]);
  await run([DESK]);
  const confirm = () => {
    takeOver(entries);
    return true;
  };
  const error = await caught(run([row], { confirm }));
  expect(error).toMatchObject({ code: 'concurrent_run' });
  expect(sandbox.journal).toEqual([]);
});
