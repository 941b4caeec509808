import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { redirect, respond } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

const statuses = [301, 302, 303, 307, 308];
test.each(statuses)('a %i to another path of the same origin is not followed either', async (status) => {
  await using server = await scriptedServer(redirect(status, '/elsewhere'));
  const error = await caught(callWith(quickClient(server.url), 'GET'));
  expect(error).toMatchObject({ code: 'redirected', status, locationOrigin: undefined });
  expect(server.requests).toHaveLength(1);
});

test('a redirect without a Location is a redirected error too', async () => {
  await using server = await scriptedServer(respond(302, {}));
  expect(await caught(callWith(quickClient(server.url), 'GET'))).toMatchObject({
    code: 'redirected',
    status: 302,
  });
});

test('a redirect that a browser makes opaque is an error at once', async () => {
  let calls = 0;
  const opaque = Object.defineProperties(Response.error(), {
    type: { value: 'opaqueredirect' },
  });
  const fetch = async () => {
    calls += 1;
    return opaque;
  };
  const error = await caught(callWith(quickClient('https://opaque.example', { fetch }), 'POST'));
  expect(error).toMatchObject({ code: 'redirected', status: 0, outcome: 'unknown' });
  expect(calls).toBe(1);
});

test('a response that a custom fetch was redirected to is a redirected error too', async () => {
  const followed = Object.defineProperty(Response.json({ id: '42' }), 'redirected', { value: true });
  const fetch = async () => followed;
  const error = await caught(callWith(quickClient('https://followed.example', { fetch }), 'GET'));
  expect(error).toMatchObject({ code: 'redirected', status: 200, attempts: 1, outcome: 'unknown' });
});

test.each(statuses)('a %i whose body never ends is given up unread', async (status) => {
  let cancelled = 0;
  const body = new ReadableStream({
    cancel() {
      cancelled += 1;
    },
  });
  const fetch = async () => new Response(body, { status, headers: { location: '/elsewhere' } });
  const error = await caught(callWith(quickClient('https://endless.example', { fetch }), 'GET'));
  expect(error).toMatchObject({ code: 'redirected', status });
  expect(cancelled).toBe(1);
});
