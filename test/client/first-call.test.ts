import { createClient } from 'accounting-data-sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedFetch } from '../support/scripted-fetch.ts';

// The first call of a client loads ky. Bundlers put it into a file of its own, which can fail to load.

afterEach(() => void vi.doUnmock('ky'));

const failed = () => {
  throw new TypeError('Failed to fetch dynamically imported module: https://shop.example/ky.js');
};

test('a library that fails to load is a ConnectionError; the next call tries again', async () => {
  // A copy that has not loaded ky yet.
  vi.resetModules();
  vi.doMock('ky', failed as () => object);
  const { createClient } = await import('accounting-data-sdk');
  const fetch = scriptedFetch(jsonResponse({ id: '7' }, 201));
  const client = createClient({ baseUrl: 'https://x.example', apiKey: 'key', fetch, retry: false });
  const create = () => client.products.create({ name: 'Chair' }, { idempotencyKey: 'order-7' });
  expect(await caught(create())).toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('POST /products got no response'),
    method: 'POST',
    path: '/products',
    attempts: 1,
    idempotencyKey: 'order-7',
    outcome: 'not_sent',
    retryable: true,
  });
  expect(fetch.requests).toHaveLength(0);

  vi.doUnmock('ky');
  expect(await create()).toMatchObject({ id: '7' });
  expect(fetch.requests).toHaveLength(1);
});

test('each request uses the fetch that is global then, so that a test double may start late', async () => {
  const client = createClient({ baseUrl: 'https://x.example', apiKey: 'key' });
  for (const id of ['1', '2']) {
    vi.stubGlobal('fetch', async () => Response.json({ id }));
    await expect(client.accounts.get(id)).resolves.toEqual({ id });
  }
  vi.unstubAllGlobals();
});
