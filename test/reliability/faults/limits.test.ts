import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { product, productJson } from '../../support/records.ts';
import { json, misbehave, problem, respond, success } from '../../support/responses.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { advance, stateOf, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

test.each(METHODS)('%s gives up an attempt after timeoutMs and sends it again', async (method) => {
  await using server = await scriptedServer(misbehave.stall, success);
  const call = callWith(quickClient(server.url), method);

  await server.received(1);
  await advance(29_999);
  expect(server.requests).toHaveLength(1);
  await advance(1);
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
    const call = caught(
      callWith(
        quickClient(server.url, { timeoutMs: 500, retry: { maxAttempts: 2, baseDelayMs: 1 } }),
        method,
      ),
    );

    await server.received(1);
    await advance(500);
    await advance(5);
    await server.received(2);
    await advance(500);
    expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', outcome: 'unknown', attempts: 2 });
  },
);

test.each([
  ['GET', 2, 'resolved'],
  ['POST', 2, 'resolved'],
  ['PATCH', 2, 'resolved'],
  ['DELETE', 1, 'resolved'],
] as const)('%s whose body stalls behind a 2xx makes %i request(s)', async (method, requests, end) => {
  await using server = await scriptedServer(misbehave.stallInBody, success);
  const call = callWith(quickClient(server.url, { timeoutMs: 500 }), method);
  await server.received(1);
  await advance(500);
  await advance(5);
  await server.received(requests);
  expect(await stateOf(call)).toBe(end);
  expect(server.requests).toHaveLength(requests);
});

test('a body that drips is given up after timeoutMs, however steadily it comes', async () => {
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
  const call = caught(quickClient(server.url, { retry: { maxAttempts: 1 } }).products.get('42'));
  await server.received(1);
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
  const limits = { timeoutMs: 800, deadlineMs: 1_000 };
  const call = quickClient(server.url, limits).products.get('42');
  const end = caught(call);
  await server.received(1);
  await advance(800);
  await advance(5);
  await server.received(2);
  await advance(190);
  expect(await stateOf(call)).toBe('pending');
  await advance(5);
  expect(await stateOf(call)).toBe('rejected');
  expect(await end).toMatchObject({ code: 'timeout', limit: 'deadline', outcome: 'unknown', attempts: 2 });
});

test('an update that is read back ends with its own deadline, not with another one', async () => {
  const late: ScriptedResponse = (_, { response }) =>
    void setTimeout(() => response.writeHead(204).end(), 700);
  await using server = await scriptedServer(late, misbehave.stall);
  const call = quickClient(server.url, { deadlineMs: 1_000 }).products.update('42', { name: 'Desk' });
  const end = caught(call);
  await server.received(1);
  await advance(700);
  await server.received(2);
  await advance(295);
  expect(await stateOf(call)).toBe('pending');
  await advance(5);
  expect(await stateOf(call)).toBe('rejected');
  expect(await end).toMatchObject({ code: 'unexpected_response', reason: 'empty', outcome: 'applied' });
});

test('no attempt is made whose backoff would pass the deadline', async () => {
  await using server = await scriptedServer(problem(503, {}, { 'retry-after': '10' }));
  const error = await caught(quickClient(server.url, { deadlineMs: 5_000 }).products.get('42'));
  expect(error).toMatchObject({ code: 'unknown_problem', status: 503, attempts: 1, retryable: true });
});

test('a backoff is never longer than maxWaitMs, and so is no reason to give up', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.999);
  await using server = await scriptedServer(problem(503), problem(429), success);
  const patience = {
    retry: { maxAttempts: 2, baseDelayMs: 20_000 },
    maxWaitMs: 300,
    rateLimiter: false,
  } as const;
  const call = quickClient(server.url, patience).products.get('42');
  await server.received(1);
  await advance(300);
  await server.received(2);
  await advance(300);
  await expect(call).resolves.toEqual(product);
});

test('the Retry-After of a 503 that is longer than maxWaitMs is thrown at once', async () => {
  await using server = await scriptedServer(problem(503, {}, { 'retry-after': '10' }));
  const error = await caught(quickClient(server.url, { maxWaitMs: 9_000 }).products.get('42'));
  expect(error).toMatchObject({ status: 503, attempts: 1 });
});

test('the Retry-After of a 503 is waited for', async () => {
  await using server = await scriptedServer(problem(503, {}, { 'retry-after': '7' }), success);
  const call = quickClient(server.url).products.get('42');
  await server.received(1);
  await advance(6_999);
  expect(server.requests).toHaveLength(1);
  await advance(1);
  await expect(call).resolves.toEqual(product);
});

test('limits given with a call stand over those of the client', async () => {
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

test('a body of maxBodyBytes is read, and one byte more is an error', async () => {
  const body = JSON.stringify({ id: '1', name: 'x'.repeat(50) });
  await using server = await scriptedServer(respond(200, { 'content-type': 'application/json' }, body));
  await expect(
    quickClient(server.url, { maxBodyBytes: body.length }).accounts.get('1'),
  ).resolves.toMatchObject({
    id: '1',
  });
  const error = await caught(quickClient(server.url, { maxBodyBytes: body.length - 1 }).accounts.get('1'));
  expect(error).toMatchObject({ code: 'unexpected_response', reason: 'too_large' });
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
