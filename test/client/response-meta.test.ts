import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import {
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';

const budget = (remaining: number) => ({
  'x-ratelimit-limit': '100',
  'x-ratelimit-remaining': String(remaining),
});

test('onResponse is called once, with the response that ended the call', async () => {
  const onResponse = vi.fn();
  const good = jsonResponse({ id: '1' }, 200, { ...budget(7), 'cf-ray': 'c1', 'x-request-id': 'r1' });
  await scriptedClient(scriptedFetch(problemResponse(503), good)).accounts.get('1', { onResponse });
  const rateLimit = expect.objectContaining({ limit: 100, remaining: 7 });
  const meta = expect.objectContaining({ status: 200, attempts: 2, requestId: 'r1', rateLimit });
  expect(onResponse).toHaveBeenCalledExactlyOnceWith(meta);
});

test('errors and the response event show what support asks for of the headers, and onResponse all of them', async () => {
  const shown = {
    age: '1',
    date: 'Sat, 31 Jan 2026 12:00:30 GMT',
    deprecation: '@1688169599',
    sunset: 'Fri, 31 Jul 2026 12:00:00 GMT',
    'retry-after': '1',
    'x-trace-id': 't1',
    ...budget(7),
  };
  const hidden = { 'set-cookie': 'a=b', 'x-other': 'o', server: 's', etag: '"1"', link: '</>; rel="next"' };
  const fetch = scriptedFetch(
    jsonResponse({ id: '1' }, 200, { ...shown, ...hidden }),
    problemResponse(404, {}, { ...shown, ...hidden }),
  );
  const [onResponse, response] = [vi.fn(), vi.fn()];
  const client = scriptedClient(fetch, { on: { response } });
  await client.accounts.get('1', { onResponse });
  const headers = { ...shown, 'content-type': 'application/json' };
  expect(onResponse.mock.calls[0]?.[0].headers).toEqual({ ...headers, ...hidden });
  expect(response.mock.calls[0]?.[0].headers).toEqual(headers);
  await caught(client.request({ path: '/accounts' }, { onResponse }));
  expect(onResponse.mock.calls[1]?.[0].headers).toMatchObject(hidden);
  const error = await caught(client.accounts.get('1'));
  expect(error).toMatchObject({ requestId: 't1' });
  expect(error).toHaveProperty('headers', { ...shown, 'content-type': 'application/problem+json' });
});

test('onResponse shows the values of a header that comes more than once', async () => {
  const onResponse = vi.fn();
  const response = jsonResponse({ id: '1' });
  for (const cookie of ['a=1', 'b=2']) response.headers.append('Set-Cookie', cookie);
  await scriptedClient(scriptedFetch(response)).accounts.get('1', { onResponse });
  expect(onResponse.mock.calls[0]?.[0].headers).toMatchObject({ 'set-cookie': 'a=1, b=2' });
});

test('a page says when the service made it: Date, less the Age that a cache adds', async () => {
  const date = 'Sat, 31 Jan 2026 12:00:30 GMT';
  const times = [];
  const ages = ['30', 'old', '30s', '-30'].map((age) => ({ date, age }));
  for (const headers of [{ date }, ...ages, { date: 'yesterday' }, {}] as Record<string, string>[]) {
    const client = scriptedClient(scriptedFetch(jsonResponse([{ id: '1' }], 200, headers)));
    const { value } = await client.accounts.list().pages().next();
    times.push(value?.serverTime?.toISOString().slice(17, 19));
  }
  expect(times).toEqual(['30', '00', '30', '30', '30', undefined, undefined]);
});

test('the client remembers the quota that was reported last, even with an error', async () => {
  const fetch = scriptedFetch(
    jsonResponse({ id: '1' }, 200, budget(9)),
    problemResponse(404, { status: 404 }, budget(8)),
    networkError('ECONNRESET'),
    jsonResponse({ id: '1' }),
  );
  const client = scriptedClient(fetch, { retry: { maxAttempts: 1 } });
  await client.accounts.get('1');
  expect(client.rateLimit).toMatchObject({ limit: 100, remaining: 9, observedAt: expect.any(Date) });
  await client.accounts.find('1');
  await caught(client.accounts.get('1'));
  await client.accounts.get('1');
  expect(client.rateLimit).toMatchObject({ remaining: 8 });
});
