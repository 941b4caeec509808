import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { clientEvents } from '../../support/client-events.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { product, productJson } from '../../support/records.ts';
import { json, misbehave, problem, success } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { advance, stateOf, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

test.each(METHODS)('%s gives up an attempt after timeoutMs and sends it again', async (method) => {
  await using server = await scriptedServer(misbehave.stall, success);
  const { on, seen } = clientEvents();
  const call = callWith(quickClient(server.url, { on }), method);

  await server.received(1);
  await advance(29_999);
  expect(server.requests).toHaveLength(1);
  await advance(1);
  await seen('retry');
  await advance(5);
  await expect(call).resolves.not.toThrow();
  expect(server.requests).toHaveLength(2);
  expect(
    new Set(server.requests.map(({ body, headers }) => `${headers['idempotency-key']} ${body}`)).size,
  ).toBe(1);
});

test.each(METHODS)(
  '%s that never gets a response fails with outcome unknown after its last attempt',
  async (method) => {
    await using server = await scriptedServer(misbehave.stall);
    const { on, seen } = clientEvents();
    const options = { timeoutMs: 500, retry: { maxAttempts: 2, baseDelayMs: 1 }, on };
    const call = caught(callWith(quickClient(server.url, options), method));

    await server.received(1);
    await advance(500);
    await seen('retry');
    await advance(5);
    await server.received(2);
    await advance(500);
    expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', outcome: 'unknown', attempts: 2 });
  },
);

test.each([
  ['GET', 2],
  ['POST', 2],
  ['PATCH', 2],
  ['DELETE', 1],
] as const)('%s whose body stalls behind a 2xx makes %i request(s)', async (method, requests) => {
  await using server = await scriptedServer(misbehave.stallInBody, success);
  const { on, seen } = clientEvents();
  const call = callWith(quickClient(server.url, { timeoutMs: 500, on }), method);
  await seen('response');
  await advance(500);
  await seen('retry', requests - 1);
  await advance(5);
  await expect(call).resolves.not.toThrow();
  expect(server.requests).toHaveLength(requests);
});

test('an attempt ends after timeoutMs, however steadily its body arrives', async () => {
  const drip: ScriptedResponse = (_, { response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    let at = 0;
    const next = () => {
      if (response.destroyed || at >= productJson.length) return;
      response.write(productJson[at++]);
      setTimeout(next, 1_000);
    };
    next();
  };
  await using server = await scriptedServer(drip);
  const { on, seen } = clientEvents();
  const call = caught(quickClient(server.url, { retry: { maxAttempts: 1 }, on }).products.get('42'));
  await seen('response');
  for (let second = 0; second < 30; second += 1) await advance(1_000);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', outcome: 'applied', attempts: 1 });
});

test('the deadline ends a call in the middle of an attempt', async () => {
  await using server = await scriptedServer(misbehave.stall);
  const call = caught(quickClient(server.url, { timeoutMs: 60_000, deadlineMs: 2_000 }).products.get('42'));
  await server.received(1);
  await advance(2_000);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'deadline', outcome: 'unknown', attempts: 1 });
  await advance(600_000);
  expect(server.requests).toHaveLength(1);
});

test('the deadline is one for all attempts: the last of them ends with it', async () => {
  await using server = await scriptedServer(misbehave.stall);
  const { on, seen } = clientEvents();
  const call = quickClient(server.url, { timeoutMs: 800, deadlineMs: 1_000, on }).products.get('42');
  const end = caught(call);
  await server.received(1);
  await advance(800);
  await seen('retry');
  await advance(5);
  await server.received(2);
  await advance(190);
  expect(await stateOf(call)).toBe('pending');
  await advance(5);
  expect(await stateOf(call)).toBe('rejected');
  expect(await end).toMatchObject({ code: 'timeout', limit: 'deadline', outcome: 'unknown', attempts: 2 });
});

test('no attempt is made whose backoff would pass the deadline', async () => {
  await using server = await scriptedServer(problem(503, {}, { 'retry-after': '10' }));
  const error = await caught(quickClient(server.url, { deadlineMs: 5_000 }).products.get('42'));
  expect(error).toMatchObject({ code: 'unknown_problem', status: 503, attempts: 1, retryable: true });
});

test('time limits of a call take precedence over those of the client', async () => {
  await using server = await scriptedServer(misbehave.stall);
  const client = quickClient(server.url, { timeoutMs: 60_000, retry: { maxAttempts: 4 } });
  const call = caught(client.products.get('42', { timeoutMs: 100, retry: { maxAttempts: 1 } }));
  await server.received(1);
  await advance(100);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', attempts: 1 });
});

test('Infinity for every limit waits as long as it takes', async () => {
  await using server = await scriptedServer(
    (request, wire) => void setTimeout(() => success(request, wire), 3_600_000),
  );
  const unlimited = { timeoutMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY };
  const call = quickClient(server.url, unlimited).products.get('42');
  await server.received(1);
  await advance(3_600_000);
  await expect(call).resolves.toEqual(product);
});

test('a response that arrives in time leaves no timer behind', async () => {
  await using server = await scriptedServer(success);
  await quickClient(server.url, { rateLimiter: false }).products.get('42');
  expect(vi.getTimerCount()).toBe(0);
});

test('each page of a list has its own deadline', async () => {
  const slowPage: ScriptedResponse = (request, wire) => {
    const page = Number(new URL(request.url, 'http://x').searchParams.get('_page'));
    setTimeout(() => json(page <= 5 ? [{ id: String(page) }] : [])(request, wire), 900);
  };
  await using server = await scriptedServer(slowPage);
  const records = quickClient(server.url, { deadlineMs: 1_000 })
    .accounts.list({}, { prefetch: 0 })
    .toArray({ limit: 10 });
  for (let page = 1; page <= 6; page += 1) {
    await server.received(page);
    await advance(900);
  }
  await expect(records).resolves.toHaveLength(5);
});
