import type { ClientOptions } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { misbehave, problem } from '../../support/responses.ts';
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

const never = () => new Promise<string>(() => {});
const keys = ['first'];
const limited = problem(429, { type: 'rate_limited' }, { 'retry-after': '30' });

type Moment = readonly [when: string, requests: number, response: ScriptedResponse, options?: ClientOptions];

const moments: readonly Moment[] = [
  ['reads a body', 1, misbehave.stallInBody],
  ['waits before a retry', 1, problem(503)],
  ['waits before a retry as long as Retry-After says', 1, problem(503, {}, { 'retry-after': '30' })],
  ['waits after a 429', 1, limited],
  ['waits after a 429 without a rate limiter', 1, limited, { rateLimiter: false }],
  ['waits for its key', 0, misbehave.stall, { apiKey: never }],
  ['waits for another key', 1, problem(401), { apiKey: () => keys.shift() ?? never() }],
];

test.for(moments)(
  'a call that is aborted while it %s rejects with the reason',
  async ([, requests, response, own]) => {
    await using server = await scriptedServer(response);
    await expectToStop(server, requests, (options) =>
      quickClient(server.url, own).products.get('42', options),
    );
  },
);

test.each(METHODS)('an aborted %s rejects with the reason of the signal', async (method) => {
  await using server = await scriptedServer(misbehave.stall);
  const fired = AbortSignal.abort(reason);
  expect(await caught(callWith(quickClient(server.url), method, { signal: fired }))).toBe(reason);
  const byListener = new AbortController();
  const on = { request: () => byListener.abort(reason) };
  const { signal } = byListener;
  expect(await caught(callWith(quickClient(server.url, { on }), method, { signal }))).toBe(reason);
  expect(server.requests).toHaveLength(0);
  await expectToStop(server, 1, (options) => callWith(quickClient(server.url), method, options));
});

test('a call stops with the reason of its signal while a body stalls that ignores it', async () => {
  const stalled = () =>
    new Response(new ReadableStream(), { headers: { 'content-type': 'application/json' } });
  const controller = new AbortController();
  const client = quickClient('http://localhost:1', { fetch: async () => stalled() });
  const call = caught(client.accounts.get('42', { signal: controller.signal }));
  await advance(0);
  controller.abort(reason);
  expect(await call).toBe(reason);
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
  }
  expect(calls).toContain(false);
  expect(calls).not.toContain(true);
});

test('an apiKey function that rejects after the signal has fired is not an unhandled rejection', async () => {
  const unhandled = vi.fn();
  process.on('unhandledRejection', unhandled);
  const apiKey = async () => Promise.reject(new Error('vault is down'));
  const client = quickClient('http://localhost:1', { apiKey });
  expect(await caught(client.accounts.get('1', { signal: AbortSignal.abort(reason) }))).toBe(reason);
  const stop = new AbortController();
  const stopped = caught(client.accounts.get('1', { signal: stop.signal }));
  stop.abort(reason);
  expect(await stopped).toBe(reason);
  await settle();
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});
