import type { ProductDraft, PushProgress, Store } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, type PushSetUp, setUpPush, storeOver } from '../../support/push.ts';
import { advance, runUntilSettled, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const DESK: ProductDraft = { productNumber: '1001', name: 'Desk' };
const HEAD = 'accounting-data-sdk:shop:products-push';
/** The mark of the run. */
const MARK = `${HEAD}:run`;

/** Another process has taken over. */
const takeOver = (entries: Map<string, string>) => entries.set(MARK, '{"v":2,"by":"another"}');

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const posts = ({ sandbox }: PushSetUp) => sandbox.count(({ method }) => method === 'POST');

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
  runsOfProcess()?.add(name);
  expect(await caught(run([DESK]))).toMatchObject({ code: 'concurrent_run' });
  runsOfProcess()?.delete(name);
  expect((await run([DESK])).done).toEqual(['1001 unchanged']);
});

/** The pushes that run in this process. */
const runsOfProcess = () =>
  (globalThis as Record<symbol, unknown>)[Symbol.for('accounting-data-sdk.pushes')] as
    | Set<string>
    | undefined;

/** Another process does not know the pushes of this one. */
const asAnotherProcess = () => runsOfProcess()?.clear();

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

test('a push says that it has ended after the last sign of life that its store still writes', async () => {
  const entries = new Map<string, string>();
  const set = async (key: string, value: string) => {
    if (/"alive":\d/.test(value)) await sleep(5_000);
    entries.set(key, value);
  };
  const { run } = setUpPush();
  await run([DESK], { store: { get: (key) => entries.get(key), set } });
  await advance(10_000);
  expect([...entries].find(([key]) => key.includes(':alive:'))?.[1]).toBe('{"v":2,"alive":"ended"}');
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

test('a push that waits for a Retry-After sends nothing more if another process has taken over meanwhile', async () => {
  const setUp = setUpPush([], { client: { rateLimiter: false } });
  const { entries, run, sandbox } = setUp;
  sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 4 }, { method: 'POST', times: 4 });
  const stop = sandbox.onRequest(({ method }) => {
    if (method === 'POST' && posts(setUp) === 4) setTimeout(() => takeOver(entries), 1_000);
  });
  expect(await caught(run(numbered(9), { concurrency: 4 }))).toMatchObject({ code: 'concurrent_run' });
  stop();
  expect([posts(setUp), sandbox.journal]).toEqual([4, []]);
});

test('a push sends nothing more after its machine was suspended, which stops the monotonic clock, if another process has taken over', async () => {
  const setUp = setUpPush();
  const { entries, run, sandbox } = setUp;
  const stop = sandbox.onRequest(({ method }) => {
    if (method !== 'POST') return;
    takeOver(entries);
    vi.setSystemTime(Date.now() + 60_000);
  });
  const error = await caught(run(numbered(9), { concurrency: 1 }));
  stop();
  expect([error, posts(setUp)]).toMatchObject([{ code: 'concurrent_run' }, 1]);
});

test('a push writes nothing on the word of a store that took three seconds to say it', async () => {
  const setUp = setUpPush();
  const { entries, run } = setUp;
  const store: Store = {
    ...storeOver(entries, () => undefined),
    async get(key) {
      const text = entries.get(key);
      if (text?.includes('"by"')) await sleep(3_000);
      return text;
    },
  };
  expect(await caught(run([DESK], { store }))).toMatchObject({ code: 'concurrent_run' });
  expect(posts(setUp)).toBe(0);
});

test('a push leaves what is known of products as it is if another process has taken over before its end', async () => {
  const { entries, run } = setUpPush();
  const store = storeOver(entries, (key) => {
    // The creates are stored. Their products are at the end.
    if (key !== HEAD) return;
    takeOver(entries);
    vi.setSystemTime(Date.now() + 60_000);
  });
  await caught(run([DESK], { store }));
  expect([...entries.keys()].filter((key) => key.includes(':key:'))).toEqual([]);
});

/** A service that takes 200 ms for a write, and two processes that push 120 rows to it with one store, one a little later. */
async function pushTwice(store: Store, secondAfterMs: number) {
  const sandbox = createSandbox({ rateLimit: false });
  const fetch: typeof sandbox.fetch = async (url, init) => {
    if (init?.method === 'POST') await sleep(200);
    return await sandbox.fetch(url, init);
  };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  const start = async (afterMs: number) => {
    await sleep(afterMs);
    asAnotherProcess();
    return await run(numbered(120), { store }).then(
      ({ report }) => report.counts.created,
      (error: { code?: string }) => error.code,
    );
  };
  const ends = await runUntilSettled(Promise.all([start(0), start(secondAfterMs)]));
  return { ends, products: sandbox.store.products.count };
}

/** A lock of so many ms, as `SET NX PX` makes it. */
function expiringLock(ms: number): Store {
  const locks = new Map<string, number>();
  return {
    ...storeOver(new Map(), () => undefined),
    lock(key: string) {
      if ((locks.get(key) ?? 0) > Date.now()) return undefined;
      locks.set(key, Date.now() + ms);
      return () => void locks.delete(key);
    },
  };
}

/** A store without a lock, one write of which takes so long. */
function hangingStore(ms: number): Store {
  const entries = new Map<string, string>();
  let renewals = 0;
  return {
    get: (key) => entries.get(key),
    async set(key, value) {
      if (key.includes(':alive:') && ++renewals === 2) await sleep(ms);
      entries.set(key, value);
    },
  };
}

test.each<[string, () => Store, number]>([
  ['a lock that expires after 2 s', () => expiringLock(2_000), 2_500],
  ['a lock that expires at once', () => expiringLock(0), 5],
  ['no lock, and both begin at once', () => storeOver(new Map(), () => undefined), 0],
  [
    'no lock, and the second begins while the first one settles',
    () => storeOver(new Map(), () => undefined),
    1_000,
  ],
  [
    'no lock, and the second begins while the first one writes',
    () => storeOver(new Map(), () => undefined),
    4_000,
  ],
  ['no lock, and one renewal hangs for 12 s', () => hangingStore(12_000), 4_000],
  ['no lock, and one renewal hangs for 3 s', () => hangingStore(3_000), 4_000],
])(
  'of two processes that push at nearly the same time with %s, each product is created once',
  async (_, store, ms) => {
    const { ends, products } = await pushTwice(store(), ms);
    expect(products).toBe(120);
    // The other one ends, or begins when this one has ended or is silent, and creates only what is left.
    const created = ends.map((end) => (end === 'concurrent_run' ? 0 : Number(end)));
    expect(created.reduce((sum, count) => sum + count, 0)).toBe(120);
  },
);

test('of two pushes that begin at once without a lock, the one whose mark arrives last creates each product once', async () => {
  let marks = 0;
  const entries = new Map<string, string>();
  const store: Store = {
    get: (key) => entries.get(key),
    async set(key, value) {
      if (key === MARK && ++marks === 2) await sleep(1_500);
      entries.set(key, value);
    },
  };
  expect(await pushTwice(store, 0)).toEqual({ ends: ['concurrent_run', 120], products: 120 });
});

test('a push that was stopped between its looks at the mark does not end the one that has taken it meanwhile', async () => {
  let looks = 0;
  const entries = new Map<string, string>();
  const store: Store = {
    ...storeOver(entries, () => undefined),
    async get(key) {
      const text = entries.get(key);
      if (key === MARK && ++looks === 2) await sleep(8_000);
      return text;
    },
  };
  expect(await pushTwice(store, 3_000)).toEqual({ ends: ['concurrent_run', 120], products: 120 });
});

test.each([
  [30_000, { timeoutMs: 20_000, visibleAfterMs: 10_000 }],
  [60_000, { timeoutMs: Number.POSITIVE_INFINITY }],
])(
  'a push takes over from a run that shows no sign of life for five seconds, and waits %d ms for what it may have sent',
  async (waitMs, waits) => {
    const { entries, run, sandbox } = setUpPush();
    takeOver(entries);
    entries.set(`${HEAD}:alive:another`, '{"v":2,"alive":7}');
    const startedAt = Date.now();
    let firstAfterMs: number | undefined;
    sandbox.onRequest(() => {
      firstAfterMs ??= Date.now() - startedAt;
    });
    const ends = new Set<number>();
    const onProgress = ({ waitingUntil }: PushProgress) => {
      if (waitingUntil !== undefined) ends.add(waitingUntil.getTime() - startedAt);
    };
    expect((await run([DESK], { ...waits, onProgress })).done).toEqual(['1001 created']);
    // It reports each look at the other run, too.
    expect(ends.size).toBeGreaterThan(25);
    expect(firstAfterMs).toBeGreaterThanOrEqual(5_000 + waitMs);
    expect(firstAfterMs).toBeLessThan(5_000 + waitMs + 3_000);
    // Its sign of life is deleted, and the next push need not wait.
    expect(entries.has(`${HEAD}:alive:another`)).toBe(false);
    const again = Date.now();
    expect((await run([DESK], waits)).done).toEqual(['1001 unchanged']);
    expect(Date.now() - again).toBeLessThan(1_000);
  },
);

test('a push begins without that wait if the run that it watches says that it has ended', async () => {
  const { entries, run } = setUpPush();
  takeOver(entries);
  const alive = `${HEAD}:alive:another`;
  entries.set(alive, '{"v":2,"alive":7}');
  setTimeout(() => entries.set(alive, '{"v":2,"alive":"ended"}'), 1_000);
  const startedAt = Date.now();
  expect((await run([DESK])).done).toEqual(['1001 created']);
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test('a push that finds another one at work leaves the store as it was', async () => {
  const { entries, run, sandbox } = setUpPush();
  takeOver(entries);
  const before = [...entries];
  let count = 0;
  const get = (key: string) => (key.includes(':alive:') ? `{"v":2,"alive":${++count}}` : entries.get(key));
  const store = { ...storeOver(entries, () => undefined), get };
  expect(await caught(run([DESK], { store }))).toMatchObject({ code: 'concurrent_run' });
  expect([[...entries], sandbox.count()]).toEqual([before, 0]);
});

test('a push goes on after its machine was suspended several times', async () => {
  const { run, sandbox } = setUpPush();
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') vi.setSystemTime(Date.now() + 60_000);
  });
  expect((await run(numbered(4), { concurrency: 1 })).report.counts.created).toBe(4);
});

test('a push with a store that is too slow to show another run rejects, and says so, before it sends anything', async () => {
  const entries = new Map<string, string>();
  const { run, sandbox } = setUpPush();
  const slow: Store = {
    async get(key) {
      await sleep(1_100);
      return entries.get(key);
    },
    async set(key, value) {
      await sleep(1_100);
      entries.set(key, value);
    },
  };
  const error = await caught(run([DESK], { store: slow }));
  const message = expect.stringContaining('Use a store whose calls take less than 0.8 s');
  expect(error).toMatchObject({ code: 'concurrent_run', retryable: true, message });
  expect(sandbox.requests).toEqual([]);
});
