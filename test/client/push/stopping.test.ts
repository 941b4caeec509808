import type { ProductDraft, PushProgress, PushResult } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, type PushSetUp, setUpPush } from '../../support/push.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';
import { loggerOfWarnings } from '../../support/warnings.ts';

useVirtualClock();

const rows = numbered;
const changed = (count: number) => numbered(count, { name: 'changed' });

const FAST = { ...ONCE, concurrency: 1 };

const unauthenticated = { kind: 'status', status: 401, type: 'unauthenticated' } as const;

test.each([
  ['401', unauthenticated, 'unauthenticated'],
  ['503 for longer than maxOutageMs', { kind: 'status', status: 503 }, 'unknown_problem'],
] as const)('a push stops at a %s and reports what was done', async (_, fault, code) => {
  const { run, sandbox } = setUpPush();
  sandbox.faults.add(fault, { method: 'POST', skip: 2, times: 1000 });
  // A service that is down lists nothing either; one that rejects creates is not down.
  if (fault.status === 503) sandbox.faults.add(fault, { method: 'GET', skip: 2, times: 1000 });
  const error = await caught(run(rows(10), FAST));
  expect(error).toMatchObject({
    code: 'push_failed',
    cause: { code },
    report: { rows: 10, counts: { created: 2, failed: 1 } },
  });
  const { message } = error as Error;
  expect(message).toContain('10 rows read; 2 created');
  const isOfKey = code === 'unauthenticated';
  expect(message.endsWith(' What was written stays written; run it again to continue.')).toBe(!isOfKey);
  expect(sandbox.count(({ method }) => method === 'POST')).toBe(3);
  sandbox.faults.clear();
  expect((await run(rows(10))).report.counts).toMatchObject({ created: 8, unchanged: 2 });
});

/** A login or block page, as firewalls and proxies send it. */
const page = (status: number) =>
  new Response('<html>Blocked</html>', { status, headers: { 'content-type': 'text/html' } });
const problem = (status: number, type: string) => Response.json({ type, title: type, status }, { status });

const REJECTIONS: readonly (readonly [what: string, response: () => Response, code: string])[] = [
  ['a 405', () => problem(405, 'method_not_allowed'), 'unknown_problem'],
  ['a 406 that is a page', () => page(406), 'unknown_problem'],
  ['a 403 scope_required', () => problem(403, 'scope_required'), 'scope_required'],
  ['a 401 that is a page', () => page(401), 'unauthenticated'],
];

/** A service whose firewall rejects some requests. */
function setUpFirewall(
  existing: ProductDraft[],
  reject: (url: string, init: RequestInit) => Response | undefined,
): PushSetUp {
  const setUp = setUpPush(existing, {
    client: {
      fetch: async (url, init = {}) => reject(String(url), init) ?? (await setUp.sandbox.fetch(url, init)),
    },
  });
  return setUp;
}

/** Rejects writes whose body has a text. */
const rejecting =
  (text: string, response: () => Response) =>
  (_: string, { body }: RequestInit) =>
    String(body ?? '').includes(text) ? response() : undefined;

test.each(REJECTIONS)('%s fails its row alone after a success of its kind', async (_, response, code) => {
  const { run } = setUpFirewall(rows(5), rejecting('DROP TABLE', response));
  const [odd, oddNew] = [{ productNumber: 'P-4', remark: 'DROP TABLE' }, { productNumber: 'DROP TABLE' }];
  const { report, results } = await run([...changed(4), odd, ...rows(9).slice(5), oddNew], FAST);
  expect(report.counts).toMatchObject({ updated: 4, created: 4, failed: 2 });
  for (const { key } of results.filter(({ error }) => error?.code === code))
    expect(['P-4', 'DROP TABLE']).toContain(key);
});

test.each(REJECTIONS)(
  'a push whose every create gets %s sends one, then the updates, and rejects',
  async (_, response, code) => {
    const { run } = setUpFirewall(rows(3), rejecting('NEW', response));
    const results: PushResult[] = [];
    const news = numbered(5).map(({ productNumber }) => ({ productNumber: `NEW ${productNumber}` }));
    const error = await caught(
      run([...news, ...changed(3)], {
        ...FAST,
        missing: 'delete',
        onResult: (result) => results.push(result),
      }),
    );
    expect(error).toMatchObject({
      code: 'push_failed',
      cause: { code },
      report: { counts: { created: 0, updated: 3, failed: 1, deleted: 0 } },
    });
    expect(results.map(({ action }) => action)).toEqual(['failed', 'updated', 'updated', 'updated']);
  },
);

test.each([
  { type: 'unauthenticated', status: 401 },
  { code: 401, message: 'Expired JWT Token' },
])('a push stops at a 401 with %j, although creates succeeded before', async (body) => {
  const denied = () => Response.json(body, { status: 401 });
  const { run } = setUpFirewall([], rejecting('P-3', denied));
  const report = { counts: { created: 3, failed: 1 } };
  expect(await caught(run(rows(10), FAST))).toMatchObject({ code: 'push_failed', report });
});

test('a push sends no more writes of a kind after 220 403s in a row, and fails the rest', async () => {
  const { run, sandbox } = setUpPush(rows(250), { sandbox: { lockedRecords: 1 } });
  const { report, results } = await run([{ productNumber: 'NEW' }, ...changed(250)]);
  expect(report.counts).toMatchObject({ created: 1, failed: 250 });
  const sent = sandbox.count(({ method }) => method === 'PATCH');
  expect(sent).toBeGreaterThanOrEqual(220);
  // So many are in flight when the last of them arrives.
  expect(sent).toBeLessThan(220 + 4);
  const unsent = results.filter(({ reason }) => reason?.startsWith('not sent'));
  expect(unsent).toHaveLength(250 - sent);
  for (const result of unsent)
    expect(result).toMatchObject({ action: 'failed', error: { code: 'forbidden' } });
});

test.each([
  ['the first 230', (n: number) => n < 230],
  ['all but ten in the middle', (n: number) => n < 117 || n >= 127],
])(
  'a push creates and updates the ten of 240 rows that are allowed, if the service denies %s',
  async (_, isDenied) => {
    const reject = (url: string, { method, body }: RequestInit) => {
      const name = method === 'POST' ? JSON.parse(String(body)).productNumber : url;
      const n = Number(/\d+$/.exec(name)?.[0]) - (method === 'PATCH' ? 1 : 0);
      return method !== 'GET' && isDenied(n) ? problem(403, 'forbidden') : undefined;
    };
    for (const existing of [[], rows(240)]) {
      const { report } = await setUpFirewall(existing, reject).run(changed(240));
      expect(report.counts.created + report.counts.updated).toBe(10);
    }
  },
);

test.each([
  ['DELETE', 'delete' as const],
  ['PATCH', () => ({ isInactive: true })],
])('a push sends at most twenty %ss of missing products if each gets a 403', async (method, missing) => {
  const { run, sandbox } = setUpPush(rows(26));
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method, times: 99 });
  const { report } = await run(rows(1), { missing, maxCandidates: 25, concurrency: 1 });
  expect(report.counts).toMatchObject({ unchanged: 1, failed: 25 });
  expect(sandbox.count((request) => request.method === method)).toBe(20);
});

test('a push does not create later what it did not send after 220 403s', async () => {
  const { run, sandbox } = setUpPush();
  const fault = { kind: 'status', status: 403, type: 'forbidden' } as const;
  sandbox.faults.add(fault, { method: 'POST', times: 220 });
  expect((await run(rows(230), { concurrency: 1 })).report.counts).toMatchObject({ failed: 230 });
  expect(sandbox.count(({ method }) => method === 'POST')).toBe(220);
  expect((await run(rows(230))).report.counts).toMatchObject({ created: 230 });
});

test('a push begins no further write once a failed write has stopped it', async () => {
  const { run, sandbox } = setUpPush();
  const fault = { kind: 'status', status: 401, type: 'unauthenticated' } as const;
  sandbox.faults.add(fault, { method: 'POST', skip: 2, times: 1 });
  await caught(run(rows(40), { ...FAST, concurrency: 3 }));
  // The third create gets the 401 while at most two others are in flight, or were sent before it was read.
  expect(sandbox.count(({ method }) => method === 'POST')).toBeLessThanOrEqual(3 + 2);
});

test('a push sends every write if no twenty 403s come in a row', async () => {
  const { run, sandbox } = setUpPush(rows(39));
  for (const [type, times] of [
    ['forbidden', 19],
    ['validation_failed', 1],
    ['forbidden', 19],
  ] as const) {
    const status = type === 'forbidden' ? 403 : 422;
    sandbox.faults.add({ kind: 'status', status, type }, { method: 'PATCH', times });
  }
  const { report } = await run(changed(39), { concurrency: 1 });
  expect(report.counts).toMatchObject({ updated: 0, failed: 39 });
  expect(sandbox.count(({ method }) => method === 'PATCH')).toBe(39);
});

test('a push rejects with the reason of its signal, and a later push continues', async () => {
  const { entries, run, sandbox } = setUpPush();
  const controller = new AbortController();
  const reason = new Error('enough');
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') controller.abort(reason);
  });
  expect(await caught(run(rows(20), { concurrency: 3, signal: controller.signal }))).toBe(reason);
  await advance(60_000);
  expect(sandbox.count(({ method }) => method === 'POST')).toBeLessThanOrEqual(3);
  // What was not sent need not be looked for.
  expect([...entries.values()].join('').match(/idempotencyKey/g)?.length).toBeLessThanOrEqual(3);
  expect((await run(rows(20))).report.counts.failed).toBe(0);
  expect(sandbox.store.products.all()).toHaveLength(20);
  expect(await caught(run(rows(1), { signal: AbortSignal.abort(reason) }))).toBe(reason);
});

test('a push with concurrency 3 keeps three writes of each kind in flight, and no more', async () => {
  const { sandbox } = setUpPush(rows(20));
  const inFlight: Record<string, number> = {};
  const most: Record<string, number> = {};
  const fetch: typeof sandbox.fetch = async (url, init) => {
    const { method = '' } = init ?? {};
    inFlight[method] = (inFlight[method] ?? 0) + 1;
    most[method] = Math.max(most[method] ?? 0, inFlight[method]);
    const response = await sandbox.fetch(url, init);
    inFlight[method] -= 1;
    return response;
  };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  await run([...changed(10), ...rows(30).slice(20)], {
    concurrency: 3,
    missing: 'delete',
    maxCandidates: 10,
  });
  expect(most).toMatchObject({ POST: 3, PATCH: 3, DELETE: 3 });
});

test('a push calls onProgress with its phase, its waits, and how many rows or writes are done', async () => {
  const { run, sandbox } = setUpPush(rows(3));
  sandbox.faults.add({ kind: 'status', status: 503 }, { method: 'POST', times: 2 });
  const seen: PushProgress[] = [];
  const onProgress = (progress: PushProgress) => void seen.push(progress);
  await run(rows(5), { retry: { maxAttempts: 1 }, onProgress });
  expect(new Set(seen.map(({ phase }) => phase))).toEqual(new Set(['read', 'write']));
  expect(seen.filter(({ waiting }) => waiting)[0]).toMatchObject({ phase: 'write', total: 2 });
  expect(seen.at(-1)).toMatchObject({ phase: 'write', done: 2, total: 2, waiting: false });
  seen.length = 0;
  await run(rows(2_000).with(999, { productNumber: 'P-0' }), { dryRun: true, onProgress });
  expect(seen.filter(({ phase }) => phase === 'rows').map(({ done }) => done)).toEqual([1_000, 2_000]);
});

const failure = new Error('the screen is gone');
const fails = () => {
  throw failure;
};

test.each([
  ['onResult', 'throws', fails],
  ['onResult', 'rejects', async () => fails()],
  ['onProgress', 'throws', fails],
] as const)(
  'a push continues if %s %s, and writes that to the logger of the client',
  async (name, _, callback) => {
    const { logger, warnings } = loggerOfWarnings();
    const { run } = setUpPush([], { client: { logger } });
    for (const each of [run, setUpPush().run])
      expect((await each(rows(2), { [name]: callback })).report.counts.created).toBe(2);
    expect(warnings).toContain(`accounting-data-sdk: ${name} threw Error: the screen is gone`);
  },
);

test.each([{ key: 'salePrice' }, { keyName: 'a b' }, { store: { get: () => undefined } }])(
  'a push rejects %j before it reads or sends anything',
  async (options) => {
    const { run, sandbox } = setUpPush();
    const argument = Object.keys(options)[0];
    expect(await caught(run(rows(1), options as object))).toMatchObject({ code: 'invalid_input', argument });
    expect(sandbox.requests).toEqual([]);
  },
);
