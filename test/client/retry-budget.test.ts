import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import {
  type FetchResponse,
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';
import { loadTransport, runToEnd, startVirtualClock, stopVirtualClock } from '../support/virtual-clock.ts';

// The budget of a client holds a hundred retries.

beforeAll(loadTransport);
beforeEach(() => startVirtualClock(1));
afterEach(stopVirtualClock);

const lost = networkError('ECONNRESET');
const good = jsonResponse({ id: '1' });
const many = (count: number, ...responses: FetchResponse[]) =>
  Array.from({ length: count }, () => responses).flat();
const withoutDelay = { baseDelayMs: 0, maxDelayMs: 0 };

/** A client, and calls one after the other that succeed or fail. */
function clientOf(...script: readonly FetchResponse[]) {
  const fetch = scriptedFetch(...script);
  const client = scriptedClient(fetch, { retry: withoutDelay, rateLimiter: false });
  const calls = async (count: number, of = client) => {
    for (let n = 0; n < count; n += 1) await runToEnd(of.accounts.get('1').catch(() => undefined));
  };
  const attemptsOfNext = async () =>
    ((await runToEnd(caught(client.accounts.get('1')))) as { attempts: number }).attempts;
  return { fetch, client, calls, attemptsOfNext };
}

test('in an outage a call costs one request once the budget is gone, also for clients of withOptions', async () => {
  const { fetch, client, calls, attemptsOfNext } = clientOf(lost);
  await calls(17);
  await calls(17, client.withOptions({}));
  expect(fetch.requests).toHaveLength(34 + 100);
  expect(await attemptsOfNext()).toBe(1);
});

test.each([
  [4, 1],
  [5, 2],
])(
  '%i calls that succeed at once pay for enough that the next call makes %i attempt(s)',
  async (successes, attempts) => {
    const { calls, attemptsOfNext } = clientOf(...many(34 + 100, lost), ...many(successes, good), lost);
    await calls(34 + successes);
    expect(await attemptsOfNext()).toBe(attempts);
  },
);

test('calls that succeed pay for nothing beyond a full budget', async () => {
  const { fetch, calls, attemptsOfNext } = clientOf(...many(200, good), lost);
  await calls(200 + 34);
  expect(fetch.requests).toHaveLength(200 + 34 + 100);
  expect(await attemptsOfNext()).toBe(1);
});

test('a call whose retry succeeds gives back what the retry took', async () => {
  const { fetch, calls } = clientOf(...many(130, lost, good));
  await calls(130);
  expect(fetch.requests).toHaveLength(260);
});

test('neither a 429 nor a call that may not wait for its retry takes anything from the budget', async () => {
  const [busy, limited] = [
    problemResponse(503, {}, { 'retry-after': '100' }),
    problemResponse(429, {}, { 'retry-after': '0' }),
  ];
  const { client, calls } = clientOf(...many(100, busy), ...many(100, limited), lost, good);
  await calls(100);
  await expect(runToEnd(client.accounts.get('1'))).resolves.toEqual({ id: '1' });
});
