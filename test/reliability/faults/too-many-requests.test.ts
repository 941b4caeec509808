import { ApiError, isAccountingError, isApiError, RateLimitedError } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { clientEvents } from '../../support/client-events.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { misbehave, problem, respond, success } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const tooMany = (headers: Record<string, string> = {}) => problem(429, { type: 'rate_limited' }, headers);
const date = (ms: number) => new Date(Date.parse('2026-01-31T12:00:00Z') + ms).toUTCString();

const forms = {
  seconds: { 'retry-after': '30' },
  'an HTTP-date, measured against Date': { 'retry-after': date(630_000), date: date(600_000) },
};
const rateLimiters = ['shared', 'client', false] as const;
const cases = rateLimiters.flatMap((rateLimiter) =>
  Object.entries(forms).map(([form, headers]) => ({ rateLimiter, form, headers })),
);

test.each(cases)(
  'a 429 waits as long as Retry-After says: $form, rate limiter $rateLimiter',
  async ({ rateLimiter, headers }) => {
    await using server = await scriptedServer(tooMany(headers), success);
    const { on, seen } = clientEvents();
    const call = quickClient(server.url, { rateLimiter, on }).products.get('42');
    await seen('wait');
    await advance(29_900);
    expect(server.requests).toHaveLength(1);
    await advance(200);
    await expect(call).resolves.toMatchObject({ id: '42' });
    expect(server.requests).toHaveLength(2);
  },
);

test.each(METHODS)('%s that meets 429 is sent again with the same key and bytes', async (method) => {
  await using server = await scriptedServer(tooMany({ 'retry-after': '1' }), success);
  const { on, seen } = clientEvents();
  const call = callWith(quickClient(server.url, { on }), method);
  await seen('wait');
  await advance(1_100);
  await call;
  expect(server.requests).toHaveLength(2);
  expect(
    new Set(server.requests.map(({ body, headers }) => `${headers['idempotency-key']} ${body}`)).size,
  ).toBe(1);
});

test.each(rateLimiters)(
  'a wait that is longer than maxWaitMs is thrown at once, rate limiter %s',
  async (rateLimiter) => {
    await using server = await scriptedServer(tooMany({ 'retry-after': '61' }));
    const error = (await caught(
      quickClient(server.url, { rateLimiter }).products.get('42'),
    )) as RateLimitedError;
    expect(error).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 61_000,
      retryAt: new Date('2026-01-31T12:01:01Z'),
      retryable: true,
      outcome: 'rejected',
      attempts: 1,
    });
    expect(server.requests).toHaveLength(1);
  },
);

test('a Retry-After of centuries is thrown at once, not slept through', async () => {
  await using server = await scriptedServer(tooMany({ 'retry-after': '99999999999999999999' }));
  const error = await caught(quickClient(server.url).products.get('42'));
  expect(error).toMatchObject({
    code: 'rate_limited',
    retryAfterMs: Number.MAX_SAFE_INTEGER,
    retryAt: undefined,
  });
});

test('a call gives up at the deadline if every response is a 429', async () => {
  await using server = await scriptedServer(tooMany({ 'retry-after': '10' }));
  const { on, seen } = clientEvents();
  const call = caught(quickClient(server.url, { deadlineMs: 35_000, on }).products.get('42'));
  for (let wait = 1; wait <= 3; wait += 1) {
    await seen('wait', wait);
    // With the jitter after several 429s in a row.
    await advance(11_000);
  }
  expect(await call).toMatchObject({ code: 'rate_limited', outcome: 'rejected' });
  expect(server.requests).toHaveLength(4);
});

test('a call that the rate limiter would delay for too long is rate_limited, and says when the quota is back', async () => {
  await using server = await scriptedServer(tooMany({ 'retry-after': '120' }), success);
  const client = quickClient(server.url);
  await caught(client.products.get('42'));
  const error = await caught(client.products.get('43'));
  expect(error).toMatchObject({
    name: 'RateLimitedError',
    code: 'rate_limited',
    status: undefined,
    outcome: 'not_sent',
    attempts: 0,
    retryable: true,
    retryAfterMs: expect.toSatisfy((ms: number) => ms > 100_000 && ms <= 120_000),
    retryAt: expect.any(Date),
  });
  expect(error).toBeInstanceOf(RateLimitedError);
  expect(error).not.toBeInstanceOf(ApiError);
  expect(isApiError(error)).toBe(false);
  expect(isAccountingError(error, 'rate_limited')).toBe(true);
  expect(server.requests).toHaveLength(1);
});

test('a call that got a 429, and is then throttled because of the longer pause of another call, fails for its own 429', async () => {
  let rejectSecond = () => {};
  await using server = await scriptedServer(success, (request, wire) => {
    if (request.url.endsWith('/1')) return tooMany({ 'retry-after': '1' })(request, wire);
    rejectSecond = () => void tooMany({ 'retry-after': '120' })(request, wire);
  });
  const { on, seen } = clientEvents();
  const client = quickClient(server.url, { on });
  await client.products.get('42');
  const first = caught(client.accounts.get('1'));
  const second = caught(client.accounts.get('2'));
  await server.received(3);
  await seen('wait');
  rejectSecond();
  expect(await second).toMatchObject({ code: 'rate_limited', retryAfterMs: 120_000 });
  await advance(1_100);
  expect(await first).toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 1_000,
    attempts: 1,
    outcome: 'rejected',
  });
  expect(server.requests).toHaveLength(3);
});

test('a call whose deadline ends before the first response is a timeout that was not sent', async () => {
  await using server = await scriptedServer(misbehave.stall);
  const client = quickClient(server.url, { deadlineMs: 60_000 });
  const first = client.accounts.get('1').catch(() => undefined);
  await server.received(1);
  const second = caught(client.accounts.get('2', { deadlineMs: 1_000 }));
  await advance(1_000);
  expect(await second).toMatchObject({
    code: 'timeout',
    limit: 'deadline',
    outcome: 'not_sent',
    attempts: 0,
    message: expect.stringContaining('deadlineMs (1000 ms) ran out'),
  });
  expect(server.requests).toHaveLength(1);
  await server.close();
  await advance(60_000);
  await first;
});

test.each(rateLimiters)(
  'a 429 without Retry-After is not sent again at once, even if maxWaitMs is small; rate limiter %s',
  async (rateLimiter) => {
    await using server = await scriptedServer(tooMany());
    const client = quickClient(server.url, { rateLimiter });
    const impatient = caught(client.accounts.get('1', { maxWaitMs: 50 }));
    await server.received(1);
    expect(await impatient).toMatchObject({ code: 'rate_limited', status: 429, attempts: 1 });
    expect(server.requests).toHaveLength(1);
  },
);

test.each(rateLimiters)(
  'a proxy’s 429 page with a Retry-After of one day pauses the key for a minute; rate limiter %s',
  async (rateLimiter) => {
    const page = respond(429, { 'content-type': 'text/html', 'retry-after': '86400' }, '<h1>Slow down</h1>');
    await using server = await scriptedServer(page, success);
    const { on, seen } = clientEvents();
    const call = quickClient(server.url, { rateLimiter, on }).products.get('42');
    await seen('wait');
    await advance(59_900);
    expect(server.requests).toHaveLength(1);
    await advance(200);
    await expect(call).resolves.toMatchObject({ id: '42' });
  },
);

test.each([
  ['a problem document', problem(429, { type: 'rate_limited' }, { 'retry-after': '86400' })],
  [
    'the headers of the quota',
    respond(429, { 'retry-after': '86400', 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '0' }, 'Slow'),
  ],
])('a 429 of the service, with %s, can pause the key for a day', async (_, of) => {
  await using server = await scriptedServer(of);
  const error = await caught(quickClient(server.url).products.get('42'));
  expect(error).toMatchObject({ code: 'rate_limited', attempts: 1, retryAfterMs: 86_400_000 });
});
