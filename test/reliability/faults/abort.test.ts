import { createClient } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { json, misbehave, problem, respond } from '../../support/responses.ts';
import {
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
  settle,
} from '../../support/scripted-server.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

// The clock stands still: a rejection that arrives here took no time at all.
useVirtualClock();

const reason = { why: 'the user has left' };

/** Aborts a call after so many requests; it rejects with the reason, and nothing is sent after that. */
async function expectToStop(
  server: ScriptedServer,
  requests: number,
  call: (options: { signal: AbortSignal }) => Promise<unknown>,
): Promise<void> {
  const controller = new AbortController();
  const ended = caught(call({ signal: controller.signal }));
  await server.received(requests);
  await settle();
  controller.abort(reason);
  expect(await ended).toBe(reason);
  await advance(600_000);
  expect(server.requests).toHaveLength(requests);
}

const moments: readonly (readonly [string, ScriptedResponse])[] = [
  ['while it waits for the response', misbehave.stall],
  ['in the middle of a body', misbehave.stallInBody],
  ['during a backoff', problem(503, {}, { 'retry-after': '30' })],
  ['during the wait after a 429', problem(429, { type: 'rate_limited' }, { 'retry-after': '30' })],
];

test.each(moments.flatMap(([when, response]) => METHODS.map((method) => ({ when, response, method }))))(
  '$method rejects with the reason of the signal $when',
  async ({ response, method }) => {
    await using server = await scriptedServer(response);
    await expectToStop(server, 1, (options) => callWith(quickClient(server.url), method, options));
  },
);

test.each(METHODS)('%s with a signal that has fired sends nothing', async (method) => {
  await using server = await scriptedServer(respond(500, {}));
  const signal = AbortSignal.abort(reason);
  expect(await caught(callWith(quickClient(server.url), method, { signal }))).toBe(reason);
  expect(server.requests).toHaveLength(0);
});

test('a create calls no fetch after the signal, whenever it fires', async () => {
  const calls: boolean[] = [];
  for (let ticks = 0; ticks < 100; ticks += 1) {
    const controller = new AbortController();
    const { signal } = controller;
    const fetch = vi.fn(async () => {
      calls.push(signal.aborted);
      return Response.json({ id: '42' });
    });
    const client = quickClient('http://localhost:1', { fetch, rateLimiter: false });
    const call = callWith(client, 'POST', { signal }).catch((error: unknown) => error);
    for (let tick = 0; tick < ticks; tick += 1) await undefined;
    controller.abort(reason);
    await call;
    await settle();
  }
  expect(calls).toContain(false);
  expect(calls).not.toContain(true);
});

test('a signal that fires while apiKey is running stops the call', async () => {
  await using server = await scriptedServer(json({ id: '42' }));
  const apiKey = () => new Promise<string>(() => {});
  await expectToStop(server, 0, (options) => quickClient(server.url, { apiKey }).products.get('42', options));
});

test('a signal that fires while apiKey fetches another key after a 401 stops the call', async () => {
  await using server = await scriptedServer(problem(401, { type: 'unauthenticated' }));
  let asked = 0;
  const apiKey = () => (++asked === 1 ? 'first' : new Promise<string>(() => {}));
  await expectToStop(server, 1, (options) => quickClient(server.url, { apiKey }).products.get('42', options));
});

test('a signal that fires while an update is read back stops the call', async () => {
  await using server = await scriptedServer(respond(204, {}), misbehave.stall);
  await expectToStop(server, 2, (options) =>
    quickClient(server.url).products.update('42', { name: 'x' }, options),
  );
});

test('the reason of a bare abort arrives as it is', async () => {
  await using server = await scriptedServer(misbehave.stall);
  const controller = new AbortController();
  const call = caught(quickClient(server.url).products.get('42', { signal: controller.signal }));
  await server.received(1);
  controller.abort();
  expect(await call).toBe(controller.signal.reason);
  expect(await call).toMatchObject({ name: 'AbortError' });
});

test('a signal stops a pagination and its prefetched page', async () => {
  await using server = await scriptedServer(json([{ id: '1' }]), misbehave.stall);
  const controller = new AbortController();
  const options = { pagination: 'page', signal: controller.signal } as const;
  const pages = quickClient(server.url).accounts.list({}, options).pages();
  expect((await pages.next()).value?.records).toEqual([{ id: '1' }]);
  await server.received(2);
  controller.abort(reason);
  expect(await caught(pages.next())).toBe(reason);
  await advance(600_000);
  expect(server.requests).toHaveLength(2);
});

test('an apiKey function that rejects after the signal has fired is not an unhandled rejection', async () => {
  await using server = await scriptedServer(json({ id: '1' }));
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const apiKey = vi.fn(async () => Promise.reject(new Error('vault is down')));
  const client = createClient({ baseUrl: server.url, apiKey });
  const signal = AbortSignal.abort(new Error('stopped'));
  expect(await caught(client.accounts.get('1', { signal }))).toBe(signal.reason);

  const stop = new AbortController();
  const stopped = caught(client.accounts.get('1', { signal: stop.signal }));
  stop.abort('enough');
  expect(await stopped).toBe('enough');
  await settle();
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
  expect(server.requests).toHaveLength(0);
});
