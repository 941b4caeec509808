import type { ProductDraft, PushProgress, PushResult } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, type PushSetUp, setUpPush } from '../../support/push.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

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
  const error = await caught(run([...news, ...changed(3)], { ...FAST, missing: 'delete', onResult }));
  expect(error).toMatchObject({
    code: 'push_failed',
    cause: { code: 'unknown_problem' },
    report: { counts: { created: 0, updated: 3, failed: 1, deleted: 0 } },
  });
  expect(results.map(({ action }) => action)).toEqual(['failed', 'updated', 'updated', 'updated']);
});

test('a push sends no more writes of a kind after 220 403s in a row, and fails the rest', async () => {
  const { run, sandbox } = setUpPush(rows(250), { sandbox: { lockedRecords: 1 } });
  const { report, results } = await run([{ productNumber: 'NEW' }, ...changed(250)]);
  expect(report.counts).toMatchObject({ created: 1, failed: 250 });
  const sent = sandbox.count(({ method }) => method === 'PATCH');
  // So many are in flight when the last of them arrives.
  expect([220, 221, 222, 223]).toContain(sent);
  expect(results.filter(({ reason }) => reason?.startsWith('not sent'))).toHaveLength(250 - sent);
});

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

test('a push calls onProgress with its phase, its waits, and how many writes are done', async () => {
  const { run, sandbox } = setUpPush(rows(3));
  sandbox.faults.add({ kind: 'status', status: 503 }, { method: 'POST', times: 2 });
  const seen: PushProgress[] = [];
  const onProgress = (progress: PushProgress) => void seen.push(progress);
  await run(rows(5), { retry: { maxAttempts: 1 }, onProgress });
  expect(seen.find(({ waiting }) => waiting)).toMatchObject({ phase: 'write', total: 2 });
  expect(seen.at(-1)).toMatchObject({ phase: 'write', done: 2, total: 2, waiting: false });
});
