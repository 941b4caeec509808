import { expect, test } from 'vitest';
import type { ApiError } from '../../../src/index.ts';
import type { Failure } from '../../../src/transport/failure.ts';
import { readResponse } from '../../../src/transport/read-response.ts';
import { caught } from '../../support/caught.ts';
import { problemResponse } from '../../support/scripted-fetch.ts';

const KEY = 's3cret/key';
const FACTS = { method: 'GET', path: '/accounts/1' } as const;

async function failureOf(response: Response, maxBodyBytes = 2 ** 24): Promise<Failure> {
  const expected = { kind: 'json', read: (body: unknown) => body } as const;
  return (await caught(
    readResponse(response, { expected, maxBodyBytes, apiKey: KEY, bareNotFound: 'error' }),
  )) as Failure;
}

test('an error answer says what the service said, without the key that it echoes', async () => {
  const failure = await failureOf(
    problemResponse(
      429,
      { type: 'https://books.example/errors#rate_limited', detail: `Slow down, ${KEY}`, shop: KEY },
      {
        'retry-after': 'Sat, 31 Jan 2026 12:00:30 GMT',
        date: 'Sat, 31 Jan 2026 12:00:10 GMT',
        'x-request-id': `r-${KEY}`,
        'x-ratelimit-limit': '100',
        'x-ratelimit-remaining': '0',
      },
    ),
  );
  expect(failure).toMatchObject({
    fault: 'status',
    answer: { status: 429, problemType: 'rate_limited', retryAfterMs: 20_000 },
  });
  expect(failure.toError(FACTS)).toMatchObject({
    code: 'rate_limited',
    detail: 'Slow down, [redacted]',
    extensions: { shop: '[redacted]' },
    requestId: 'r-[redacted]',
    rateLimit: { limit: 100, remaining: 0 },
    headers: { 'x-request-id': 'r-[redacted]' },
    retryAfterMs: 20_000,
  });
});

test.each([
  [400, false],
  [408, true],
  [409, false],
  [425, true],
  [429, true],
  [499, false],
  [500, true],
  [501, false],
  [502, true],
  [503, true],
  [504, true],
  [505, false],
  [599, true],
])('%i may succeed later: %s, unless the call knows better', async (status, retryable) => {
  const failure = await failureOf(problemResponse(status));
  expect(failure.toError(FACTS).retryable).toBe(retryable);
  expect(failure.toError({ ...FACTS, retryable: !retryable }).retryable).toBe(!retryable);
});

test.each([
  ['a page', new Response('<html>Bad gateway', { status: 502 })],
  ['a body that is not UTF-8', new Response(new Uint8Array([0xff]), { status: 502 })],
  ['no body', new Response(null, { status: 502 })],
])('an error answer with %s is still an error by its status', async (_, response) => {
  const error = (await failureOf(response)).toError(FACTS) as ApiError;
  expect(error).toMatchObject({ code: 'unknown_problem', status: 502, detail: undefined, violations: [] });
});

test('of an error answer no more is read than a megabyte, and no more than maxBodyBytes', async () => {
  const long = (length: number) => problemResponse(400, { detail: 'x', padding: 'y'.repeat(length) });
  const detailOf = async (response: Response, maxBodyBytes?: number) =>
    ((await failureOf(response, maxBodyBytes)).toError(FACTS) as ApiError).detail;
  expect(await detailOf(long(1_000_000))).toBe('x');
  expect(await detailOf(long(1_100_000))).toBeUndefined();
  expect(await detailOf(long(1_000), 500)).toBeUndefined();
});
