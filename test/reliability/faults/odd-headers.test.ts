import { createClient } from 'accounting-data-sdk';
import { expect, onTestFinished, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { quickClient } from '../../support/four-methods.ts';
import { json, respond } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

/** A response in bytes, because Node's server would normalize its headers. */
const raw =
  (...headers: readonly string[]): ScriptedResponse =>
  (_, { socket }) =>
    void socket.end(
      [
        'HTTP/1.1 200 OK',
        'content-type: application/json',
        'content-length: 12',
        ...headers,
        'connection: close',
        '',
        '[{"id":"7"}]',
      ].join('\r\n'),
    );

const firstPage = async (...headers: readonly string[]) => {
  await using server = await scriptedServer(raw(...headers));
  const client = createClient({ baseUrl: server.url, apiKey: 'key-of-the-company' });
  for await (const page of client.accounts.list({}, { prefetch: 0 }).pages()) return page;
  throw new Error('no page');
};

test('rate-limit headers and Date with whitespace after their values are read', async () => {
  const page = await firstPage(
    'x-ratelimit-limit: 100 \t',
    'x-ratelimit-remaining: 42  ',
    'date: Sat, 31 Jan 2026 12:00:00 GMT  ',
    'age: 10 ',
  );
  expect(page.rateLimit).toMatchObject({ limit: 100, remaining: 42 });
  expect(page.serverTime).toEqual(new Date('2026-01-31T11:59:50Z'));
});

test.each([
  'Mon, 30 Feb 2026 12:00:00 GMT',
  'Fri, 30 Jan 2026 24:00:00 GMT',
  'Sat, 31 Jan 2026 12:60:00 GMT',
  'Sun, 29 Feb 2026 12:00:00 GMT',
  'Sat, 00 Jan 2026 12:00:00 GMT',
])('a Date that does not exist counts as absent: %s', async (date) => {
  expect((await firstPage(`date: ${date}`)).serverTime).toBeUndefined();
});

test.each([
  [2026, '66', 2066],
  [2026, '86', 1986],
  [2026, '75', 2075],
  [2026, '77', 1977],
  [2080, '40', 2040],
  [2080, '20', 2120],
])('a Date of RFC 850 is within 50 years of now: in %i the year %s is %i', async (now, year, expected) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(now, 0) });
  onTestFinished(() => void vi.useRealTimers());
  const page = await firstPage(`date: Saturday, 31-Jan-${year} 12:00:00 GMT`);
  expect(page.serverTime?.getUTCFullYear()).toBe(expected);
});

test('a content type that is given twice is read', async () => {
  const twice = respond(200, { 'content-type': 'application/json, application/json' }, '{"id":"1"}');
  await using server = await scriptedServer(twice);
  await expect(quickClient(server.url).accounts.get('1')).resolves.toEqual({ id: '1' });
});

test.each([' x', 'x ', '\tx', ' '])(
  'a header of the caller with whitespace at an end is rejected: %j',
  async (value) => {
    await using server = await scriptedServer(json({ id: '1' }));
    const call = quickClient(server.url).accounts.get('1', { headers: { 'x-trace': value } });
    expect(await caught(call)).toMatchObject({ code: 'invalid_input', argument: 'headers.x-trace' });
    expect(server.requests).toHaveLength(0);
  },
);

test('rate-limit headers that a proxy sent twice are read', async () => {
  const page = await firstPage('x-ratelimit-limit: 100, 100', 'x-ratelimit-remaining: 42,42');
  expect(page.rateLimit).toMatchObject({ limit: 100, remaining: 42 });
  const other = await firstPage('x-ratelimit-limit: 100', 'x-ratelimit-remaining: 42, 41');
  expect(other.rateLimit).toBeUndefined();
});
