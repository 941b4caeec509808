import { createClient, type PushResult, push } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { productNumber } from '../../support/push.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';

const SECOND = 1_000;

useVirtualClock();

test.each([
  ['a create', 'POST', 0],
  ['an update', 'PATCH', 1],
] as const)('a push counts maxOutageMs from the first failed attempt of %s', async (_, method, existing) => {
  const sandbox = createSandbox({ rateLimit: false });
  for (let n = 0; n < existing; n++) sandbox.store.products.insert({ productNumber: 'A', name: 'Old' });
  const client = createClient({
    ...sandbox.clientOptions,
    timeoutMs: 20 * SECOND,
    fetch: (input, init) => {
      if (init?.method !== method) return sandbox.fetch(input, init);
      return new Promise((_resolve, reject) => {
        init.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    },
  });
  const startedAt = Date.now();
  const rows = [{ productNumber: 'A', name: 'New' }];
  const options = { tenant: 'shop', rows, key: productNumber, maxOutageMs: 60 * SECOND };
  const ended = caught(push(client.products, options));
  expect(await runToEnd(ended)).toMatchObject({ code: 'push_failed', cause: { code: 'timeout' } });
  // The attempts of 20 s of one call and the waits between them, and no second series of attempts.
  expect(Date.now() - startedAt).toBeLessThan(125 * SECOND);
});

test.each([true, false])(
  'a push writes every row after the service returned 500 for a minute, with retry.creates %s',
  async (creates) => {
    const sandbox = createSandbox({
      rateLimit: false,
      idempotency: { replay: creates ? 'stored' : 'ignored' },
    });
    let downAt: number | undefined;
    let posts = 0;
    const client = createClient({
      ...sandbox.clientOptions,
      timeoutMs: 5 * SECOND,
      retry: { creates },
      fetch: async (input, init) => {
        const isPost = init?.method === 'POST';
        if (isPost && ++posts > 5) downAt ??= Date.now();
        if (downAt === undefined || Date.now() - downAt >= 60 * SECOND) return sandbox.fetch(input, init);
        return Response.json({ title: 'An error occurred', status: 500 }, { status: 500 });
      },
    });
    const rows = Array.from({ length: 40 }, (_, n) => ({ productNumber: `P-${n}`, name: 'New' }));
    const ended = push(client.products, { tenant: 'shop', rows, key: productNumber });
    expect(await runToEnd(ended)).toMatchObject({ counts: { created: 40, failed: 0 } });
    expect(sandbox.store.products.all()).toHaveLength(40);
    expect(posts).toBeLessThan(120);
  },
);

test.each([true, false])(
  'a push fails only the row that always gets a 500, with retry.creates %s',
  async (creates) => {
    const sandbox = createSandbox({ rateLimit: false });
    const client = createClient({
      ...sandbox.clientOptions,
      timeoutMs: 5 * SECOND,
      retry: { creates },
      fetch: async (input, init) => {
        if (!String(init?.body).includes('P-3')) return sandbox.fetch(input, init);
        return Response.json({ title: 'An error occurred', status: 500 }, { status: 500 });
      },
    });
    const rows = Array.from({ length: 10 }, (_, n) => ({ productNumber: `P-${n}`, name: 'New' }));
    const failed: unknown[] = [];
    const ended = push(client.products, {
      tenant: 'shop',
      rows,
      key: productNumber,
      concurrency: 1,
      onResult: ({ key, action }) => void (action === 'failed' && failed.push(key)),
    });
    expect(await runToEnd(ended)).toMatchObject({ counts: { created: 9, failed: 1 } });
    expect(failed).toEqual(['P-3']);
  },
);

/** A service that ignores Idempotency-Key. An outage begins with the first create: its gateway returns 503. */
function serviceWithOutage({ forMs, isDown, isCarriedOut = false, maxAttempts, spares = 0 }: Outage) {
  const sandbox = createSandbox({ rateLimit: false, idempotency: { replay: 'ignored' } });
  let startedAt: number | undefined;
  const client = createClient({
    ...sandbox.clientOptions,
    timeoutMs: 5 * SECOND,
    retry: { creates: false, maxAttempts },
    fetch: async (input, init) => {
      const method = init?.method ?? 'GET';
      if (method === 'POST') startedAt ??= Date.now();
      const isOver = startedAt === undefined || Date.now() - startedAt >= forMs;
      const isSpared = spares > 0 && ++requests % spares === 0;
      if (isOver || isSpared || !isDown.includes(method)) return sandbox.fetch(input, init);
      if (isCarriedOut && method === 'POST') await sandbox.fetch(input, init);
      posts += Number(method === 'POST');
      return new Response('down', { status: 503 });
    },
  });
  let requests = 0;
  let posts = 0;
  const run = async (maxOutageMs: number) => {
    const rows = Array.from({ length: 100 }, (_, n) => ({ productNumber: `P-${n}`, name: 'New' }));
    const results: PushResult[] = [];
    const ended = push(client.products, {
      tenant: 'shop',
      rows,
      key: productNumber,
      maxOutageMs,
      onResult: (result) => void results.push(result),
    }).catch((error: unknown) => error);
    await runToEnd(ended);
    return { ended: await ended, results, seconds: (Date.now() - (startedAt ?? 0)) / SECOND, posts };
  };
  return { sandbox, run };
}

interface Outage {
  readonly forMs: number;
  readonly isDown: readonly string[];
  readonly isCarriedOut?: boolean;
  readonly maxAttempts?: number;
  /** Every so many requests one succeeds. */
  readonly spares?: number;
}

test.each<[string, Outage]>([
  ['creates fail', { forMs: 60 * SECOND, isDown: ['POST'] }],
  ['creates that are carried out fail', { forMs: 60 * SECOND, isDown: ['POST'], isCarriedOut: true }],
  ['everything fails', { forMs: 60 * SECOND, isDown: ['POST', 'GET'] }],
  ['creates with one attempt fail', { forMs: 60 * SECOND, isDown: ['POST'], maxAttempts: 1 }],
  ['the first creates fail', { forMs: SECOND / 10, isDown: ['POST'] }],
])('a push without repeated creates outlasts an outage in which %s', async (_, outage) => {
  const { sandbox, run } = serviceWithOutage(outage);
  const { ended, posts } = await run(120 * SECOND);
  expect(ended).toMatchObject({ counts: { created: 100, failed: 0 } });
  const keys = sandbox.store.products.all().map(({ productNumber: key }) => key);
  expect(new Set(keys).size).toBe(100);
  expect(keys).toHaveLength(100);
  // One at a time for each of four writers. From the second failure of each on, the delay is at least 5 s, at random.
  expect(posts).toBeLessThanOrEqual(4 * (2 + 60 / 5));
});

test('a push without repeated creates does not treat a few failures as an outage if maxOutageMs is 0', async () => {
  for (const outage of [{ forMs: SECOND / 10 }, { forMs: 5 * SECOND, spares: 2 }]) {
    const { run } = serviceWithOutage({ ...outage, isDown: ['POST'] });
    const { ended } = await run(0);
    expect(ended).toMatchObject({ counts: { created: 100, failed: 0 } });
  }
});

test('a push without repeated creates stops after maxOutageMs and reports the creates that may have been carried out', async () => {
  const { sandbox, run } = serviceWithOutage({ forMs: 3_600 * SECOND, isDown: ['POST'] });
  const { ended, results, seconds, posts } = await run(60 * SECOND);
  expect(ended).toMatchObject({ code: 'push_failed', cause: { status: 503 } });
  expect(seconds).toBeGreaterThanOrEqual(60);
  expect(seconds).toBeLessThan(90);
  expect(results.length).toBe(posts);
  expect(new Set(results.map(({ key }) => key)).size).toBe(posts);
  expect(results.every(({ action, error }) => action === 'failed' && error?.outcome === 'unknown')).toBe(
    true,
  );
  expect(sandbox.store.products.all()).toEqual([]);
});
