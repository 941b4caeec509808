import { createSandbox, type FaultMatch } from 'accounting-data-sdk/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { call, createProduct } from './support/call.ts';

const first = { name: 'Desk', salePrice: '129.5000', tags: ['12.50'] };

describe('content of a response', () => {
  test('a status has the type and headers of every other one, before or after the commit', async () => {
    const sandbox = createSandbox({ problemType: 'urn' });
    for (const [status, retryAfter, committed, remaining] of [
      [429, 7, false, '9999'],
      [503, undefined, true, '9998'],
      [429, 0, false, '9997'],
    ] as const) {
      const before = sandbox.store.products.count;
      sandbox.faults.next({ kind: 'status', status, retryAfter, committed });
      const { headers, ...response } = await createProduct(sandbox, first);
      expect([response.status, headers.get('retry-after')]).toEqual([status, retryAfter?.toString() ?? null]);
      expect(headers.get('content-type')).toBe('application/problem+json');
      expect(headers.get('x-ratelimit-remaining')).toBe(remaining);
      expect(sandbox.store.products.count - before).toBe(Number(committed));
      const error = status === 429 ? 'rate_limited' : 'internal_error';
      expect(sandbox.requests.at(-1)).toMatchObject({ status, error });
    }
    sandbox.faults.next({ kind: 'status', status: 409, type: 'period_closed' });
    expect((await call(sandbox, '/accounts')).record.type).toBe('urn:accounting:error:period_closed');
    sandbox.faults.next({ kind: 'status', status: 404, type: 'not_found' });
    expect((await call(sandbox, '/accounts')).record).toMatchObject({ status: 404, title: 'No such record' });
    // Of several types with one status, the usual one.
    for (const [status, type] of [
      [403, 'forbidden'],
      [422, 'validation_failed'],
      [418, 'error'],
      [502, 'internal_error'],
    ] as const) {
      sandbox.faults.next({ kind: 'status', status });
      expect((await call(sandbox, '/accounts')).record.type).toBe(`urn:accounting:error:${type}`);
    }
  });

  test('rewrite changes status, headers and body, and processes the request unless it is not committed', async () => {
    const sandbox = createSandbox();
    sandbox.store.accounts.insert({ name: 'a' });
    sandbox.faults.next({
      kind: 'rewrite',
      status: 203,
      headers: { 'x-ratelimit-limit': null, Age: '60', 'content-type': 'application/ld+json' },
      body: (text) => text.replace('"a"', '"b"'),
    });
    const response = await call(sandbox, '/accounts');
    const seen = ['age', 'x-ratelimit-limit', 'content-type'].map((name) => response.headers.get(name));
    expect([response.status, ...seen]).toEqual([203, '60', null, 'application/ld+json']);
    // The other headers are as they were.
    expect([...response.headers.keys()]).toEqual(expect.arrayContaining(['date', 'x-ratelimit-remaining']));
    expect(response.json).toEqual([{ id: '1', name: 'b' }]);
    expect(sandbox.requests.at(-1)).toMatchObject({ status: 203, records: 1 });

    for (const committed of [false, true]) {
      sandbox.faults.next({ kind: 'rewrite', committed, body: '' });
      expect((await createProduct(sandbox, first)).json).toBeUndefined();
      expect(sandbox.store.products.count).toBe(Number(committed));
    }
  });
});

describe('matching', () => {
  test('next applies to one request, add to those that match, the oldest rule first', async () => {
    const sandbox = createSandbox();
    const add = (status: number, match: FaultMatch) => sandbox.faults.add({ kind: 'status', status }, match);
    const rules = [
      sandbox.faults.next({ kind: 'status', status: 500 }),
      sandbox.faults.next({ kind: 'status', status: 505 }),
      add(503, { method: 'post', times: 2 }),
      add(502, { collection: 'boms', skip: 2 }),
      add(504, { path: '/api/public/v1/budgets/5', times: 1 }),
      add(501, { when: ({ query }) => query.includes('_page=3'), times: 1 }),
      add(507, { path: /\/bank-/g, times: 2 }),
    ];
    const bank = '/bank-feed-accounts';
    const paths = ['/accounts', '/accounts', '/boms', '/boms', '/boms', '/boms/1', '/budgets', '/budgets/5'];
    const statuses = [];
    for (const path of [...paths, '/budgets?_page=3', bank, bank, bank])
      statuses.push((await call(sandbox, path)).status);
    for (const _ of Array(3)) statuses.push((await createProduct(sandbox, first)).status);
    expect(statuses).toEqual([500, 505, 200, 200, 502, 502, 200, 504, 501, 507, 507, 200, 503, 503, 201]);
    expect(rules.map(({ hits }) => hits)).toEqual([1, 1, 2, 2, 1, 1, 2]);
    expect([sandbox.faults.rules, rules.filter(({ active }) => active)]).toEqual([[rules[3]], [rules[3]]]);
    // Every delay beside one other fault, which is the one of the log.
    sandbox.faults.clear();
    for (const kind of ['delay', 'status', 'delay'] as const)
      sandbox.faults.next(kind === 'delay' ? { kind, ms: 0 } : { kind, status: 500 });
    expect((await call(sandbox, '/accounts')).status).toBe(500);
    expect([sandbox.requests.at(-1)?.fault, sandbox.faults.rules]).toEqual(['status', []]);
  });

  test('probability selects the same requests with the same seed, after a reset too, and others with another', async () => {
    const met = async (seed: number, sandbox = createSandbox({ seed })) => {
      sandbox.faults.add({ kind: 'status', status: 500 }, { probability: 0.3 });
      const statuses = [];
      for (let i = 0; i < 100; i += 1) statuses.push((await call(sandbox, '/accounts')).status);
      return statuses.map((status, i) => (status === 500 ? i : -1)).filter((i) => i !== -1);
    };
    const sandbox = createSandbox({ seed: 1 });
    const once = await met(1, sandbox);
    expect(await met(1)).toEqual(once);
    sandbox.reset();
    expect(await met(1, sandbox)).toEqual(once);
    expect(await met(2)).not.toEqual(once);
    sandbox.reset({ seed: 2 });
    expect(await met(2, sandbox)).toEqual(await met(2));
    // 100 draws at 0.3: far from the ends for this seed, which is all that can be said of one.
    expect(Math.abs(once.length - 30)).toBeLessThan(15);
  });
});

test('a fault ends after forMs where timers are numbers', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((...of: Parameters<typeof setTimeout>) => Number(setTimeout(...of))) as never;
  const sandbox = createSandbox();
  const fault = sandbox.faults.add({ kind: 'status', status: 503 }, { forMs: 5_000 });
  vi.advanceTimersByTime(4_999);
  expect((await call(sandbox, '/accounts')).status).toBe(503);
  vi.advanceTimersByTime(1);
  expect((await call(sandbox, '/accounts')).status).toBe(200);
  fault.remove();
  // Longer than a timer can wait: Node would end it at once.
  const month = sandbox.faults.add({ kind: 'status', status: 503 }, { forMs: 31 * 86_400_000 });
  vi.advanceTimersByTime(86_400_000);
  expect(month.active).toBe(true);
});
