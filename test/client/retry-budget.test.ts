import { afterEach, beforeAll, expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import {
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';
import { loadTransport, runToEnd, startVirtualClock, stopVirtualClock } from '../support/virtual-clock.ts';

beforeAll(loadTransport);
afterEach(stopVirtualClock);

const withoutDelay = { baseDelayMs: 0, maxDelayMs: 0 };

test('in an outage a call costs one request once the budget is gone', async () => {
  const fetch = scriptedFetch(networkError('ECONNRESET'));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  for (let n = 0; n < 34; n += 1) await caught(client.accounts.get('1'));
  expect(fetch.requests).toHaveLength(34 + 100);

  const error = await caught(client.accounts.get('1'));
  expect(fetch.requests).toHaveLength(35 + 100);
  expect(error).toMatchObject({ code: 'connection_failed', attempts: 1 });
});

test('calls that succeed at a retry never use the budget up', async () => {
  const fetch = scriptedFetch(
    ...Array.from({ length: 150 }, () => [networkError('ECONNRESET'), jsonResponse({ id: '1' })]).flat(),
  );
  const client = scriptedClient(fetch, { retry: { ...withoutDelay, maxAttempts: 2 }, rateLimiter: false });
  for (let n = 0; n < 150; n += 1) await client.accounts.get('1');
  expect(fetch.requests).toHaveLength(300);
});

test('a call that succeeds at once does not pay for a whole retry', async () => {
  const lost = Array.from({ length: 34 + 100 }, () => networkError('ECONNRESET'));
  const fetch = scriptedFetch(...lost, jsonResponse({ id: '1' }), networkError('ECONNRESET'));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  for (let n = 0; n < 34; n += 1) await caught(client.accounts.get('1'));
  await client.accounts.get('1');
  expect(await caught(client.accounts.get('1'))).toMatchObject({ code: 'connection_failed', attempts: 1 });
});

test('clients created by withOptions share the retry budget', async () => {
  const fetch = scriptedFetch(networkError('ECONNRESET'));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  for (let n = 0; n < 34; n += 1) await caught(client.withOptions({}).accounts.get('1'));
  expect(fetch.requests).toHaveLength(134);
});

test('a 429 takes nothing from the budget', async () => {
  startVirtualClock(1);
  const tooMany = Array.from({ length: 150 }, () =>
    problemResponse(429, { type: 'rate_limited' }, { 'retry-after': '0' }),
  );
  const fetch = scriptedFetch(...tooMany, networkError('ECONNRESET'), jsonResponse({ id: '1' }));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  const call = client.accounts.get('1');
  expect(await runToEnd(call)).toEqual({ id: '1' });
  expect(fetch.requests).toHaveLength(152);
});

test('successes never save up for more than a hundred retries', async () => {
  const good = Array.from({ length: 200 }, () => jsonResponse({ id: '1' }));
  const fetch = scriptedFetch(...good, networkError('ECONNRESET'));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  for (let n = 0; n < 200; n += 1) await client.accounts.get('1');
  for (let n = 0; n < 34; n += 1) await caught(client.accounts.get('1'));
  expect(fetch.requests).toHaveLength(200 + 34 + 100);
});

test('five calls that succeed at once pay for one retry', async () => {
  const lost = Array.from({ length: 34 + 100 }, () => networkError('ECONNRESET'));
  const good = Array.from({ length: 5 }, () => jsonResponse({ id: '1' }));
  const fetch = scriptedFetch(...lost, ...good, networkError('ECONNRESET'));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  for (let n = 0; n < 34; n += 1) await caught(client.accounts.get('1'));
  for (let n = 0; n < 5; n += 1) await client.accounts.get('1');
  expect(await caught(client.accounts.get('1'))).toMatchObject({ attempts: 2 });
});

test('a call that may not wait for its retry takes nothing from the budget', async () => {
  const later = Array.from({ length: 100 }, () => problemResponse(503, {}, { 'retry-after': '100' }));
  const fetch = scriptedFetch(...later, networkError('ECONNRESET'), jsonResponse({ id: '1' }));
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  for (let n = 0; n < 100; n += 1) await caught(client.accounts.get('1'));
  await expect(client.accounts.get('1')).resolves.toEqual({ id: '1' });
});
