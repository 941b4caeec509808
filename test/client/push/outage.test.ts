import type {
  AnyAccountingError,
  ProductDraft,
  PushError,
  PushProgress,
  PushResult,
} from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, type PushSetUp, setUpPush } from '../../support/push.ts';
import { networkError, noResponse } from '../../support/scripted-fetch.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

const SECOND = 1_000;

useVirtualClock();

const rows = numbered;
const serverError = () => Response.json({ title: 'An error occurred', status: 500 }, { status: 500 });

type Respond = (
  init: RequestInit,
  carryOut: () => Promise<Response>,
) => Response | undefined | Promise<Response | undefined>;

/** A service of which some requests get what `respond` returns, and a way to push to it. */
function withResponses(
  respond: Respond,
  { creates = true, existing = [] }: { creates?: boolean; existing?: ProductDraft[] } = {},
) {
  const idempotency = { replay: creates ? 'stored' : 'ignored' } as const;
  const { sandbox } = setUpPush(existing, { sandbox: { rateLimit: false, idempotency } });
  const fetch: typeof sandbox.fetch = async (url, init = {}) => {
    const carryOut = () => sandbox.fetch(url, init);
    return (await respond(init, carryOut)) ?? carryOut();
  };
  const retry = { creates };
  const client = { ...sandbox.clientOptions, fetch, timeoutMs: 5 * SECOND, retry };
  return { sandbox, run: setUpPush([], { client }).run };
}

test('a push counts an update whose response was lost as updated', async () => {
  const { sandbox, run } = setUpPush([{ productNumber: 'A', name: 'Old' }]);
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'PATCH', times: 1 });
  const startedAt = Date.now();
  const { report, results } = await run([{ productNumber: 'A', name: 'New' }], ONCE);
  expect(results).toMatchObject([{ action: 'updated', fields: ['name'] }]);
  expect(Number(report.startedAt)).toBe(startedAt);
  expect(Number(report.endedAt)).toBeGreaterThanOrEqual(startedAt + 5 * SECOND);
});

test('a push counts maxOutageMs from the first failed attempt of a create', async () => {
  let isDown = false;
  const { run } = withResponses(({ method, signal }) => {
    isDown ||= method === 'POST';
    return isDown ? noResponse(signal) : undefined;
  });
  const startedAt = Date.now();
  const error = await caught(run(rows(1), { maxOutageMs: 60 * SECOND, timeoutMs: 20 * SECOND }));
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'timeout' } });
  // The attempts of 20 s of one call, the waits between them and one list, and no second series of attempts.
  expect(Date.now() - startedAt).toBeLessThan(150 * SECOND);
});

test('a push fails only the row that always gets a 503', async () => {
  const respond = ({ body }: RequestInit) =>
    String(body).includes('P-3') ? new Response('down', { status: 503 }) : undefined;
  const { sandbox, run } = withResponses(respond);
  const { done } = await run(rows(10), { concurrency: 1 });
  expect(done.filter((result) => !result.endsWith('created'))).toEqual(['P-3 failed']);
  expect(sandbox.store.products.count).toBe(9);
});

test('a push sends a create that failed in an outage again as any other, although the service has applied others', async () => {
  let isUpAt: number | undefined;
  let failures = 1;
  const { run } = withResponses(({ body }) => {
    const isSecond = String(body).includes('P-1');
    if (isSecond) isUpAt ??= Date.now() + 60 * SECOND;
    const isDown = isUpAt !== undefined && Date.now() < isUpAt;
    return isDown || (isSecond && failures-- > 0) ? new Response('down', { status: 503 }) : undefined;
  });
  const { done } = await run(rows(2), { concurrency: 1 });
  expect([done, failures]).toEqual([['P-0 created', 'P-1 created'], -1]);
});

test('a push takes a 503 that asks for a wait for a sign of an outage, although the list responds after the wait', async () => {
  let failures = 2;
  const { run } = withResponses(({ body }) =>
    String(body).includes('P-1') && failures-- > 0
      ? new Response('down', { status: 503, headers: { 'retry-after': '5' } })
      : undefined,
  );
  const { done } = await run(rows(2), { concurrency: 1, retry: { maxAttempts: 1 } });
  expect(done).toEqual(['P-0 created', 'P-1 created']);
});

interface Outage {
  readonly forMs: number;
  readonly isDown: readonly string[];
  readonly isCarriedOut?: boolean;
}

/** A service whose outage begins with the first create: its gateway returns 503. It ignores Idempotency-Key. */
function serviceWithOutage({ forMs, isDown, isCarriedOut = false }: Outage) {
  let startedAt: number | undefined;
  let posts = 0;
  let requests = 0;
  const respond: Respond = async ({ method = 'GET' }, carryOut) => {
    requests += 1;
    if (method === 'POST') startedAt ??= Date.now();
    const isOver = startedAt === undefined || Date.now() - startedAt >= forMs;
    if (isOver || !isDown.includes(method)) return undefined;
    if (isCarriedOut && method === 'POST') await carryOut();
    posts += Number(method === 'POST');
    return new Response('down', { status: 503 });
  };
  const { sandbox, run } = withResponses(respond, { creates: false });
  const pushAll = (maxOutageMs: number, more = {}) => run(rows(20), { maxOutageMs, ...more });
  const figures = () => ({ seconds: (Date.now() - (startedAt ?? 0)) / SECOND, posts, requests });
  return { sandbox, pushAll, figures };
}

test.each([
  ['fail', false],
  ['that fail are applied', true],
])('a push outlasts an outage in which creates %s', async (_, isCarriedOut) => {
  const outage = { forMs: 60 * SECOND, isDown: ['POST', 'GET'], isCarriedOut };
  const { sandbox, pushAll, figures } = serviceWithOutage(outage);
  expect((await pushAll(120 * SECOND)).report.counts).toMatchObject({ created: 20, failed: 0 });
  const keys = sandbox.store.products.all().map(({ productNumber }) => productNumber);
  expect([keys.length, new Set(keys).size]).toEqual([20, 20]);
  // No create is sent before a list responds.
  expect(figures().posts).toBeLessThanOrEqual(4);
});

test('a push sends no create in an outage after the response to one that was on its way, nor in a second outage', async () => {
  const begins = ['"P-0"', '"P-4"'];
  let downUntil = 0;
  let sent = 0;
  const { run } = withResponses(async ({ method, body }, carryOut) => {
    if (String(body).includes('"P-1"')) {
      await new Promise((resolve) => setTimeout(resolve, 2 * SECOND));
      return await carryOut();
    }
    if (method === 'POST' && Date.now() < downUntil) sent += 1;
    if (begins[0] !== undefined && String(body).includes(begins[0])) {
      begins.shift();
      downUntil = Date.now() + 30 * SECOND;
    }
    return Date.now() < downUntil ? new Response('down', { status: 503 }) : undefined;
  });
  const { report } = await run(rows(8), { concurrency: 2, retry: { maxAttempts: 1 } });
  expect([report.counts.created, begins, sent]).toEqual([8, [], expect.toSatisfy((n: number) => n < 2)]);
});

test('a push repeats an update whose response was another object if the product shows that it was not carried out', async () => {
  let isFirst = true;
  const respond = ({ method }: RequestInit) => {
    const response = isFirst && method === 'PATCH' ? Response.json({ ok: true }) : undefined;
    isFirst &&= response === undefined;
    return response;
  };
  const { run, sandbox } = withResponses(respond, { existing: [{ productNumber: 'A', name: 'Old' }] });
  expect((await run([{ productNumber: 'A', name: 'New' }])).done).toEqual(['A updated']);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'New' }]);
});

test('a push outlasts an outage in which it looks whether an update was applied', async () => {
  let downUntil = 0;
  const { run } = withResponses(
    async ({ method }, carryOut) => {
      if (Date.now() < downUntil) return new Response('down', { status: 503 });
      if (method !== 'PATCH') return undefined;
      await carryOut();
      downUntil = Date.now() + 30 * SECOND;
      return Response.json({ ok: true });
    },
    { existing: [{ productNumber: 'A', name: 'Old' }] },
  );
  const { results } = await run([{ productNumber: 'A', name: 'New' }], { retry: { maxAttempts: 1 } });
  expect(results).toMatchObject([{ action: 'updated', fields: ['name'] }]);
});

test('a push fails creates that always fail while lists succeed, after three rounds', async () => {
  const { pushAll, figures } = serviceWithOutage({ forMs: 3_600 * SECOND, isDown: ['POST'] });
  const { report, results } = await pushAll(60 * SECOND);
  expect(report.counts).toMatchObject({ created: 0, failed: 20 });
  // Those that look whether the service is back too.
  expect(report.attempts).toBe(figures().requests);
  expect(figures().posts).toBe(60);
  for (const { error, reason } of results) {
    expect(error).toMatchObject({ status: 503, outcome: 'unknown' });
    expect(reason).toMatch(/run the push again/);
  }
});

test.each([
  ['a 500', () => serverError(), { status: 500 }],
  ['a reset', () => Promise.reject(networkError('ECONNRESET')), { code: 'connection_failed' }],
])(
  'a push repeats a row once that alone gets %s, in each run, and keeps its create in the store',
  async (_, respond, error) => {
    let attempts = 0;
    let isMended = false;
    const { run, sandbox } = withResponses(({ method, body }) => {
      if (isMended || method !== 'POST' || !String(body).includes('"P-0"')) return undefined;
      attempts += 1;
      return respond();
    });
    const reason = expect.stringContaining('look at this row');
    // The second run creates nothing else.
    for (const created of [5, 0]) {
      attempts = 0;
      const { results, report } = await run(rows(6));
      const failed = { action: 'failed', reason, error };
      expect(results.find(({ key }) => key === 'P-0')).toMatchObject(failed);
      expect(report.counts).toMatchObject({ created, failed: 1 });
      expect(attempts).toBeLessThanOrEqual(6);
    }
    isMended = true;
    expect((await run(rows(6))).report.counts).toMatchObject({ created: 1, unchanged: 5 });
    expect(sandbox.store.products.count).toBe(6);
  },
);

test('a push repeats an update once that alone gets a 500', async () => {
  let attempts = 0;
  const respond = ({ body }: RequestInit) => {
    if (!String(body).includes('bad')) return undefined;
    attempts += 1;
    return serverError();
  };
  const { run } = withResponses(respond, { existing: rows(3) });
  const { report, results } = await run([{ productNumber: 'P-0', name: 'bad' }, ...changed(3).slice(1)]);
  expect(report.counts).toMatchObject({ updated: 2, failed: 1 });
  const reason = expect.stringContaining('look at this row');
  const failed = { action: 'failed', id: '1', error: { status: 500 } };
  expect(results.find(({ key }) => key === 'P-0')).toMatchObject({ ...failed, reason });
  expect(attempts).toBe(6);
  // Alone, it may as well be the service.
  const { results: alone } = await run([{ productNumber: 'P-0', name: 'bad' }]);
  expect(alone).toMatchObject([{ ...failed, reason: expect.stringContaining('run the push again') }]);
});

test('a push stops after maxOutageMs and reports the creates that may have been applied', async () => {
  const { sandbox, pushAll, figures } = serviceWithOutage({ forMs: 3_600 * SECOND, isDown: ['POST', 'GET'] });
  const results: PushResult[] = [];
  const onResult = (result: PushResult) => results.push(result);
  const error = await caught(pushAll(60 * SECOND, { onResult }));
  expect(error).toMatchObject({ code: 'push_failed', cause: { status: 503 } });
  // No write was completed.
  expect(`${error}`).not.toContain('Completed writes');
  const { seconds, posts } = figures();
  expect(seconds).toBeGreaterThanOrEqual(60);
  expect(seconds).toBeLessThan(90);
  expect(new Set(results.map(({ key }) => key)).size).toBe(posts);
  const failed = { action: 'failed', error: { outcome: 'unknown' } };
  expect(results).toMatchObject(Array.from({ length: posts }, () => failed));
  expect(sandbox.store.products.all()).toEqual([]);
});

test.each([
  ['maxWaitMs', { maxWaitMs: 60 * SECOND, maxOutageMs: 7_200 * SECOND }],
  ['maxOutageMs', { maxWaitMs: 7_200 * SECOND, maxOutageMs: 60 * SECOND }],
])('a push stops at once if the service asks it to wait for longer than %s', async (_, limits) => {
  let posts = 0;
  const respond = ({ method }: RequestInit) => {
    if (method !== 'POST' || ++posts > 1) return undefined;
    return new Response('down', { status: 503, headers: { 'retry-after': '3600' } });
  };
  const { run } = withResponses(respond);
  const startedAt = Date.now();
  const error = await caught(run(rows(2), { concurrency: 1, ...limits }));
  expect(error).toMatchObject({ code: 'push_failed', cause: { status: 503 } });
  expect([posts, Date.now() - startedAt]).toEqual([1, expect.toSatisfy((ms: number) => ms < 600 * SECOND)]);
});

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
    // Two creates were applied; whether the third was is not known after a 503.
    outcome: fault.status === 401 ? 'applied' : 'unknown',
    report: { rows: 10, counts: { created: 2, failed: 1 } },
  });
  const { attempts, report } = error as PushError;
  expect([attempts, report.attempts]).toEqual([sandbox.count(), sandbox.count()]);
  const { message } = error as Error;
  expect(message).toContain('10 rows read; 2 created');
  const isOfKey = code === 'unauthenticated';
  expect(message.endsWith(' Completed writes are kept; run it again to continue.')).toBe(!isOfKey);
  const { cause, retryable } = error as PushError & { cause: AnyAccountingError };
  const advice = isOfKey
    ? cause.hint
    : 'The next run looks for the product of a create whose outcome is unknown';
  expect([retryable, message.includes(`${advice}`)]).toEqual([!isOfKey, true]);
  expect(sandbox.count(({ method }) => method === 'POST')).toBe(3);
  sandbox.faults.clear();
  expect((await run(rows(10))).report.counts).toMatchObject({ created: 8, unchanged: 2 });
});

test('a push stops at a 401 of an update, and reports a row that failed before once', async () => {
  const { run, sandbox } = setUpPush(rows(3));
  const invalid = { kind: 'status', status: 422, type: 'validation_failed' } as const;
  sandbox.faults.add(invalid, { method: 'PATCH', times: 1 });
  sandbox.faults.add(unauthenticated, { method: 'PATCH', times: 9 });
  const error = await caught(run(changed(3), FAST));
  const report = { counts: { updated: 0, failed: 2 } };
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'unauthenticated' }, report });
  expect(sandbox.count(({ method }) => method === 'PATCH')).toBe(2);
});

/** A service whose firewall rejects some requests. */
function setUpFirewall(
  existing: ProductDraft[],
  isRejected: (url: string, init: RequestInit) => boolean,
  status: number,
): PushSetUp {
  const setUp = setUpPush(existing, {
    client: {
      fetch: async (url, init = {}) =>
        isRejected(String(url), init)
          ? Response.json({ status }, { status })
          : await setUp.sandbox.fetch(url, init),
    },
  });
  return setUp;
}

test('a push whose every create gets a 405 sends one, then the updates, and rejects', async () => {
  const { run } = setUpFirewall(rows(3), (_, { body }) => String(body ?? '').includes('NEW'), 405);
  const results: PushResult[] = [];
  const onResult = (result: PushResult) => void results.push(result);
  const news = numbered(5).map(({ productNumber }) => ({ productNumber: `NEW ${productNumber}` }));
  const error = await caught(run([...news, ...changed(3)], { ...FAST, onResult }));
  expect(error).toMatchObject({
    code: 'push_failed',
    cause: { code: 'unknown_problem' },
    report: { counts: { created: 0, updated: 3, failed: 1 } },
  });
  expect(results.map(({ action }) => action)).toEqual(['failed', 'updated', 'updated', 'updated']);
});

test('a push sends no more writes of a kind after twenty 403s in a row, and fails the rest', async () => {
  const { run, sandbox } = setUpPush(rows(250), { sandbox: { lockedRecords: 1 } });
  const { report, results } = await run([{ productNumber: 'NEW' }, ...changed(250)]);
  expect(report.counts).toMatchObject({ created: 1, failed: 250 });
  const sent = sandbox.count(({ method }) => method === 'PATCH');
  // So many are in flight when the last of them arrives.
  expect([20, 21, 22, 23]).toContain(sent);
  const unsent = results.filter(({ reason }) => reason?.startsWith('not sent'));
  expect(unsent).toHaveLength(250 - sent);
  expect(unsent.map(({ id }) => id)).not.toContain(undefined);
});

test('a push finds the rows that are allowed behind 25 that are denied', async () => {
  const lockedRecords = Array.from({ length: 25 }, (_, n) => `${n + 1}`);
  const { run } = setUpPush(rows(200), { sandbox: { lockedRecords } });
  expect((await run(changed(200))).report.counts).toMatchObject({ updated: 175, failed: 25 });
  const isDenied = ({ body }: RequestInit) => /"P-(?:1?\d|2[0-4])"/.test(String(body));
  const creates = setUpFirewall([], (_, init) => isDenied(init), 403);
  expect((await creates.run(rows(200))).report.counts).toMatchObject({ created: 175, failed: 25 });
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

test('the listeners of the client hear of each wait in an outage', async () => {
  const [retry, end] = [vi.fn(), vi.fn()];
  const { sandbox } = setUpPush();
  const startedAt = Date.now();
  const fetch: typeof sandbox.fetch = async (url, init) =>
    Date.now() - startedAt < 20 * SECOND
      ? new Response('down', { status: 503 })
      : await sandbox.fetch(url, init);
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch, on: { retry, end } } });
  await run(rows(1), { retry: { maxAttempts: 1 }, store: new Map() });
  const first = end.mock.calls[0]?.[0];
  expect(first).toMatchObject({ method: 'GET', result: 'ok' });
  expect(first.waitedMs).toBeGreaterThanOrEqual(20 * SECOND);
  const waits = retry.mock.calls.map(([event]) => event).filter(({ call }) => call === first.call);
  expect(waits.length).toBeGreaterThan(1);
  for (const wait of waits) expect(wait).toMatchObject({ reason: 'status 503', waitMs: expect.any(Number) });
});

test('a push that waits for a service that is down rejects at once with the reason of its signal', async () => {
  const stopped = new AbortController();
  let isDown = false;
  let stoppedAt = 0;
  const stop = () => {
    stoppedAt ||= Date.now();
    stopped.abort('enough');
  };
  const { run } = withResponses(({ method }) => {
    if (isDown && method === 'GET') stop();
    isDown ||= method === 'POST';
    return isDown ? new Response('down', { status: 503 }) : undefined;
  });
  expect(await caught(run(rows(1), { signal: stopped.signal }))).toBe('enough');
  expect(Date.now()).toBe(stoppedAt);
});

test('a push that waits until its writes are visible rejects at once with the reason of its signal', async () => {
  const { entries, run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
  const stopped = new AbortController();
  let stoppedAt = 0;
  let stored = '';
  const onProgress = ({ waitingUntil }: PushProgress) => {
    const waitMs = waitingUntil === undefined ? 0 : waitingUntil.getTime() - Date.now();
    if (waitMs < 20 * SECOND || stoppedAt > 0) return;
    stored = [...entries.values()].join('');
    stoppedAt = Date.now() + SECOND;
    setTimeout(() => stopped.abort('enough'), SECOND);
  };
  expect(await caught(run(rows(2), { ...ONCE, signal: stopped.signal, onProgress }))).toBe('enough');
  expect(Date.now()).toBe(stoppedAt);
  // What is known is stored before the wait.
  expect(stored).toContain('"p-1":["');
});

test.each([
  [3, { concurrency: 3 }],
  [4, {}],
])('a push keeps %d writes of each kind in flight, and no more, with %j', async (expected, options) => {
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
  await run([...changed(10), ...rows(30).slice(20)], options);
  expect(most).toMatchObject({ POST: expected, PATCH: expected });
});

test('a push calls onProgress with its phase, its waits, and how many writes are done', async () => {
  const { run, sandbox } = setUpPush(rows(3));
  sandbox.faults.add({ kind: 'status', status: 503 }, { method: 'POST', times: 2 });
  const seen: PushProgress[] = [];
  const onProgress = (progress: PushProgress) => void seen.push(progress);
  await run(rows(5), { retry: { maxAttempts: 1 }, onProgress });
  expect(seen.find(({ waiting }) => waiting)).toMatchObject({ phase: 'write', total: 2 });
  expect(seen.at(-1)).toMatchObject({ phase: 'write', done: 2, total: 2, waiting: false });

  // A product that seems to be deleted counts as a write.
  sandbox.store.products.delete('1');
  await run(rows(5), { onProgress });
  expect(seen.at(-1)).toMatchObject({ phase: 'write', done: 1, total: 1 });

  // The wait before another attempt of a write.
  seen.length = 0;
  sandbox.faults.add({ kind: 'status', status: 503 }, { method: 'POST', times: 1 });
  await run(rows(6), { onProgress });
  expect(seen.find(({ waiting }) => waiting)).toMatchObject({
    phase: 'write',
    waitingUntil: expect.any(Date),
  });

  // And of the list.
  seen.length = 0;
  sandbox.faults.add({ kind: 'status', status: 503 }, { method: 'GET', times: 1 });
  await run(rows(6), { onProgress });
  expect(seen.find(({ waiting }) => waiting)).toMatchObject({
    phase: 'read',
    total: undefined,
    waitingUntil: expect.any(Date),
  });
  expect(seen.findLast(({ phase }) => phase === 'read')).toMatchObject({ done: 6, waiting: false });
  expect(seen.filter(({ phase }) => phase === 'rows')).toEqual([]);
  await run(rows(2_001), { dryRun: true, onProgress });
  expect(seen.filter(({ phase }) => phase === 'rows').map(({ done }) => done)).toEqual([1_000, 2_000]);
});

test('a push sends each request with its headers, and waits for a write as long as its maxWaitMs', async () => {
  const { run, sandbox } = setUpPush(rows(2));
  sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 90 }, { method: 'POST', times: 1 });
  const options = { headers: { 'X-Run': '7' }, maxWaitMs: 120 * SECOND };
  const { report } = await run(
    [{ productNumber: 'NEW' }, ...rows(1), { productNumber: 'P-1', name: 'y' }],
    options,
  );
  expect(report.counts).toMatchObject({ created: 1, updated: 1, unchanged: 1 });
  expect(new Set(sandbox.requests.map(({ method }) => method))).toEqual(new Set(['GET', 'POST', 'PATCH']));
  for (const { headers } of sandbox.requests) expect(headers).toMatchObject({ 'x-run': '7' });
});

test.each(['POST', 'GET'])('a push ends a %s after its timeoutMs', async (method) => {
  const { run } = withResponses((init) => (init.method === method ? noResponse(init.signal) : undefined));
  const end = await run(rows(1), { ...ONCE, timeoutMs: 3 * SECOND }).then(
    ({ results }) => results[0]?.error,
    (error: PushError) => error.cause,
  );
  expect(end).toMatchObject({ code: 'timeout', message: expect.stringContaining('timeoutMs (3000 ms)') });
});

test('a push ends a write after its deadlineMs', async () => {
  const { run } = withResponses(({ method, signal }) => (method === 'POST' ? noResponse(signal) : undefined));
  const { results } = await run(rows(1), { deadlineMs: 3 * SECOND, retry: { maxAttempts: 1 } });
  expect(results).toMatchObject([{ action: 'failed', error: { code: 'timeout', limit: 'deadline' } }]);
});

test('a report says what became of the writes and how many requests were sent, also of a push that wrote nothing', async () => {
  const { run, sandbox } = setUpPush(rows(1));
  const unchanged = await run(rows(1));
  expect(unchanged.report).toMatchObject({ outcome: 'not_sent', attempts: sandbox.count() });
  sandbox.faults.add(
    { kind: 'status', status: 422, type: 'validation_failed' },
    { method: 'POST', times: 1 },
  );
  expect((await run([{ productNumber: 'NEW' }])).report).toMatchObject({ outcome: 'rejected' });
  const created = await run([{ productNumber: 'NEW' }]);
  expect(created.report).toMatchObject({ outcome: 'applied', attempts: sandbox.count() });
  const ofKey = await caught(run(rows(1), { rows: null as never }));
  expect(ofKey).toMatchObject({ outcome: 'not_sent', attempts: 0 });
});
