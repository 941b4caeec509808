import type { ResponseMeta } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught } from '../support/caught.ts';
import {
  type FetchResponse,
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';
import { advance, useVirtualClock } from '../support/virtual-clock.ts';

useVirtualClock();

/** A client whose key just got a 429 with a Retry-After of two seconds. */
async function pausedClient(...script: readonly FetchResponse[]) {
  const fetch = scriptedFetch(problemResponse(429, {}, { 'retry-after': '2' }), ...script);
  const wait = vi.fn();
  const client = scriptedClient(fetch, { rateLimiter: 'client', on: { wait } });
  await caught(client.accounts.get('limited', { maxWaitMs: 0 }));
  return { client, fetch, wait };
}

test('a call that the rate limiter delays reports how long: in an event, to onWait and in waitedMs', async () => {
  const { client, wait } = await pausedClient(jsonResponse({ id: '1' }));
  const onWait = vi.fn();
  const seen: ResponseMeta[] = [];
  const call = client.accounts.get('1', { onWait, onResponse: (meta) => void seen.push(meta) });
  await advance(2_000);
  await expect(call).resolves.toEqual({ id: '1' });

  expect(wait.mock.calls).toEqual([
    [expect.objectContaining({ method: 'GET', path: '/accounts/1', waitMs: 2_000 })],
  ]);
  expect(onWait.mock.calls).toEqual([[2_000, 'rate_limit']]);
  expect(seen).toMatchObject([{ status: 200, attempts: 1, waitedMs: 2_000 }]);
});

test('a call that the rate limiter would send too late says so, and when to try again', async () => {
  const { client } = await pausedClient();
  expect(await caught(client.accounts.get('1', { maxWaitMs: 1_000 }))).toMatchObject({
    code: 'rate_limited',
    message:
      'GET /accounts/1 was not sent: the quota of the key is used up for longer than maxWaitMs or deadlineMs allow. Try again in 2000 ms, when it is expected back, or allow longer waits.',
    status: undefined,
    retryAfterMs: 2_000,
    retryable: true,
    outcome: 'not_sent',
    attempts: 0,
  });
});

test('an interactive call overtakes a list that was queued before it', async () => {
  const { client, fetch } = await pausedClient(({ url }) =>
    jsonResponse(url.pathname.endsWith('/accounts') ? [] : { id: '1' }),
  );
  const calls = [client.accounts.list().toArray({ limit: 5 }), client.accounts.get('1')];
  await advance(2_000);
  await advance(1_000);
  await Promise.all(calls);
  expect(fetch.requests.slice(1).map(({ url }) => url.pathname.split('/v1')[1])).toEqual([
    '/accounts/1',
    '/accounts',
  ]);
});

test('the response event says how long the response took', async () => {
  const response = vi.fn();
  const fetch = scriptedFetch(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return jsonResponse({ id: '1' });
  });
  const call = scriptedClient(fetch, { on: { response } }).accounts.get('1');
  await advance(300);
  await call;
  expect(response).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ durationMs: 300 }));
});

test('the issues of an invalid row do not show the key', async () => {
  const row = { id: '1', 'key-of-the-company': 7 };
  const schemas = { products: z.strictObject({ id: z.string() }) };
  const client = scriptedClient(scriptedFetch(jsonResponse([row])), { schemas, validation: 'report' });
  const { value: page } = await client.products.list().pages().next();
  expect(page?.invalid).toMatchObject([{ issues: [expect.stringContaining('[redacted]')] }]);
  expect(page?.invalid[0]?.issues.join()).not.toContain('key-of-the-company');
});

test('only a request with a body names a content type', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  const client = scriptedClient(fetch);
  await client.accounts.get('1');
  await client.products.create({ name: 'Desk' });
  expect(fetch.requests.map(({ headers }) => headers.get('content-type'))).toEqual([
    null,
    'application/json',
  ]);
});
