import { createSandbox, type FaultMatch } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, send } from './support/call.ts';

const first = { name: 'Desk', salePrice: '129.5000', tags: ['12.50'] };

describe('content of a response', () => {
  test.each([
    [7, '7'],
    ['soon', 'soon'],
    [undefined, null],
  ])(
    'a status sends Retry-After %j, and the type and headers of every other one',
    async (retryAfter, header) => {
      const sandbox = createSandbox();
      sandbox.faults.next({ kind: 'status', status: 429, retryAfter });
      const response = await createProduct(sandbox, first);
      expect([response.status, response.record.type]).toEqual([429, 'rate_limited']);
      expect(response.headers.get('retry-after')).toBe(header);
      expect(response.headers.get('x-ratelimit-limit')).toBe('10000');
      expect(sandbox.store.products.count).toBe(0);
    },
  );

  test('status sends a status, before or after the commit', async () => {
    const sandbox = createSandbox();
    for (const committed of [false, true]) {
      sandbox.faults.next({ kind: 'status', status: 503, committed, retryAfter: 3 });
      const response = await createProduct(sandbox, first);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3']);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
      expect(sandbox.store.products.count).toBe(committed ? 1 : 0);
    }
  });

  test('status sends any type, or no document', async () => {
    const sandbox = createSandbox({ problemType: 'urn' });
    sandbox.faults.next({ kind: 'status', status: 409, type: 'period_closed' });
    expect((await call(sandbox, '/accounts')).record.type).toBe('urn:accounting:error:period_closed');
    sandbox.faults.next({ kind: 'status', status: 404, type: 'not_found' });
    expect((await call(sandbox, '/accounts')).record).toMatchObject({ status: 404, title: 'No such record' });
    sandbox.faults.next({ kind: 'status', status: 503, body: '' });
    expect((await call(sandbox, '/accounts')).json).toBeUndefined();
  });

  test('status 200 with a body of HTML commits nothing', async () => {
    const sandbox = createSandbox();
    sandbox.faults.next({ kind: 'status', status: 200, body: '<h1>Oops</h1>' });
    const response = await send(sandbox, '/accounts');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(await response.text()).toBe('<h1>Oops</h1>');

    sandbox.faults.next({ kind: 'status', status: 502, body: '<h1>Oops</h1>' });
    await expect(createProduct(sandbox, first)).rejects.toThrow(SyntaxError);
    sandbox.faults.next({ kind: 'status', status: 200, body: '<h1>Oops</h1>', committed: true });
    await expect(createProduct(sandbox, first)).rejects.toThrow(SyntaxError);
    expect(sandbox.store.products.count).toBe(1);
  });

  test('rewrite of the body or the content type processes the request', async () => {
    const sandbox = createSandbox();
    sandbox.faults.next({ kind: 'rewrite', body: '' });
    const empty = await createProduct(sandbox, first);
    expect([empty.status, empty.json]).toEqual([201, undefined]);

    sandbox.faults.next({ kind: 'rewrite', headers: { 'Content-Type': 'text/plain' } });
    const wrong = await createProduct(sandbox, first);
    expect([wrong.status, wrong.headers.get('content-type')]).toEqual([201, 'text/plain']);
    expect(sandbox.store.products.count).toBe(2);
  });

  test('rewrite changes status, headers and body', async () => {
    const sandbox = createSandbox();
    sandbox.store.accounts.insert({ name: 'a' });
    sandbox.faults.next({
      kind: 'rewrite',
      status: 203,
      headers: { 'x-ratelimit-limit': null, Age: '60', 'content-type': 'application/ld+json' },
      body: (text) => text.replace('"a"', '"b"'),
    });
    const response = await call(sandbox, '/accounts');
    expect([response.status, response.headers.get('age'), response.headers.has('x-ratelimit-limit')]).toEqual(
      [203, '60', false],
    );
    // The other headers are as they were, and the one that was given takes the place of its namesake.
    expect(response.headers.get('content-type')).toBe('application/ld+json');
    expect([response.headers.has('date'), response.headers.has('x-ratelimit-remaining')]).toEqual([
      true,
      true,
    ]);
    expect(response.json).toEqual([{ id: '1', name: 'b' }]);

    sandbox.faults.next({ kind: 'rewrite', committed: false, body: '[]' });
    expect((await call(sandbox, '/accounts/1')).json).toEqual([]);
  });
});

describe('matching', () => {
  test.each<[what: string, match: FaultMatch]>([
    ['nothing', {}],
    ['a method', { method: 'GET' }],
    ['a skip', { skip: 1 }],
    ['a collection', { collection: 'boms' }],
    ['a pattern', { path: /boms/ }],
    ['a condition', { when: () => true }],
  ])('a fault that matches %s lasts until it is cleared', async (_, match) => {
    const sandbox = createSandbox();
    sandbox.faults.add({ kind: 'status', status: 429 }, match);
    if (match.skip) expect((await call(sandbox, '/boms')).status).toBe(200);
    for (const _ of Array(5)) expect((await call(sandbox, '/boms')).status).toBe(429);
    sandbox.faults.clear();
    expect((await call(sandbox, '/boms')).status).toBe(200);
  });

  test('next applies to one request, add to those that match, the oldest rule first', async () => {
    const sandbox = createSandbox();
    const next = sandbox.faults.next({ kind: 'status', status: 500 });
    const second = sandbox.faults.next({ kind: 'status', status: 505 });
    const writes = sandbox.faults.add({ kind: 'status', status: 503 }, { method: 'POST', times: 2 });
    const boms = sandbox.faults.add({ kind: 'status', status: 502 }, { collection: 'boms', skip: 1 });
    const one = sandbox.faults.add(
      { kind: 'status', status: 504 },
      { path: '/api/public/v1/budgets/5', times: 1 },
    );
    const filtered = sandbox.faults.add(
      { kind: 'status', status: 501 },
      { when: ({ query }) => query.includes('_page=3'), times: 1 },
    );
    const pattern = sandbox.faults.add({ kind: 'status', status: 507 }, { path: /\/bank-/g, times: 2 });

    const statuses = [];
    for (const path of [
      '/accounts',
      '/accounts',
      '/boms',
      '/boms',
      '/boms/1',
      '/budgets',
      '/budgets/5',
      '/budgets?_page=3',
    ]) {
      statuses.push((await call(sandbox, path)).status);
    }
    expect(statuses).toEqual([500, 505, 200, 502, 502, 200, 504, 501]);
    for (const expected of [507, 507, 200])
      expect((await call(sandbox, '/bank-feed-accounts')).status).toBe(expected);
    for (const expected of [503, 503, 201])
      expect((await createProduct(sandbox, first)).status).toBe(expected);

    expect(
      [next, second, writes, boms, one, filtered, pattern].map(({ hits, active }) => [hits, active]),
    ).toEqual([
      [1, false],
      [1, false],
      [2, false],
      [2, true],
      [1, false],
      [1, false],
      [2, false],
    ]);
    expect(sandbox.faults.rules).toEqual([boms]);
    sandbox.faults.clear();
    expect([boms.active, (await call(sandbox, '/boms')).status]).toEqual([false, 200]);
  });

  test('probability selects the same requests with the same seed, and others with another', async () => {
    const met = async (seed: number) => {
      const sandbox = createSandbox({ seed });
      sandbox.faults.add({ kind: 'status', status: 500 }, { probability: 0.3 });
      const statuses = [];
      for (let i = 0; i < 200; i += 1) statuses.push((await call(sandbox, '/accounts')).status);
      return statuses.map((status, i) => (status === 500 ? i : -1)).filter((i) => i !== -1);
    };
    const once = await met(1);
    expect(await met(1)).toEqual(once);
    expect(await met(2)).not.toEqual(once);
    // 200 draws at 0.3: far from the ends for this seed, which is all that can be said of one.
    expect(once.length).toBeGreaterThan(40);
    expect(once.length).toBeLessThan(80);
  });
});
