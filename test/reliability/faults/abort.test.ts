import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { json, misbehave, problem, respond } from '../../support/responses.ts';
import { scriptedServer, settle } from '../../support/scripted-server.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

// The clock stands still: a rejection that arrives here took no time at all.
useVirtualClock();

const reason = { why: 'the user has left' };

test.each(METHODS)(
  '%s rejects with the signal’s own reason while it waits for the response',
  async (method) => {
    await using server = await scriptedServer(misbehave.stall);
    const controller = new AbortController();
    const call = caught(callWith(quickClient(server.url), method, { signal: controller.signal }));
    await server.received(1);
    controller.abort(reason);
    expect(await call).toBe(reason);
    await advance(600_000);
    expect(server.requests).toHaveLength(1);
  },
);

test.each(METHODS)('%s rejects with the reason in the middle of a body', async (method) => {
  await using server = await scriptedServer(misbehave.stallInBody);
  const controller = new AbortController();
  const call = caught(callWith(quickClient(server.url), method, { signal: controller.signal }));
  await server.received(1);
  await settle();
  controller.abort(reason);
  expect(await call).toBe(reason);
  await advance(600_000);
  expect(server.requests).toHaveLength(1);
});

test.each(METHODS)('%s rejects with the reason during a backoff', async (method) => {
  await using server = await scriptedServer(problem(503, {}, { 'retry-after': '30' }));
  const controller = new AbortController();
  const call = caught(callWith(quickClient(server.url), method, { signal: controller.signal }));
  await server.received(1);
  await settle();
  controller.abort(reason);
  expect(await call).toBe(reason);
  await advance(600_000);
  expect(server.requests).toHaveLength(1);
});

test.each(METHODS)('%s rejects with the reason of the signal during the wait after a 429', async (method) => {
  await using server = await scriptedServer(problem(429, { type: 'rate_limited' }, { 'retry-after': '30' }));
  const controller = new AbortController();
  const call = caught(callWith(quickClient(server.url), method, { signal: controller.signal }));
  await server.received(1);
  await settle();
  controller.abort(reason);
  expect(await call).toBe(reason);
  await advance(600_000);
  expect(server.requests).toHaveLength(1);
});

test.each(METHODS)('%s with a signal that has fired sends nothing', async (method) => {
  await using server = await scriptedServer(respond(500, {}));
  const signal = AbortSignal.abort(reason);
  expect(await caught(callWith(quickClient(server.url), method, { signal }))).toBe(reason);
  expect(server.requests).toHaveLength(0);
});

test('a signal that fires while apiKey is running stops the call', async () => {
  await using server = await scriptedServer(json({ id: '42' }));
  const controller = new AbortController();
  const apiKey = () => new Promise<string>(() => {});
  const call = caught(quickClient(server.url, { apiKey }).products.get('42', { signal: controller.signal }));
  await settle();
  controller.abort(reason);
  expect(await call).toBe(reason);
  expect(server.requests).toHaveLength(0);
});

test('a signal that fires while apiKey fetches another key after a 401 stops the call', async () => {
  await using server = await scriptedServer(problem(401, { type: 'unauthenticated' }));
  const controller = new AbortController();
  let asked = 0;
  const apiKey = () => (++asked === 1 ? 'first' : new Promise<string>(() => {}));
  const call = caught(quickClient(server.url, { apiKey }).products.get('42', { signal: controller.signal }));
  await server.received(1);
  await settle();
  controller.abort(reason);
  expect(await call).toBe(reason);
});

test('the reason of a timeout signal and of a bare abort arrive as they are', async () => {
  await using server = await scriptedServer(misbehave.stall);
  const controller = new AbortController();
  const call = caught(quickClient(server.url).products.get('42', { signal: controller.signal }));
  await server.received(1);
  controller.abort();
  expect(await call).toBe(controller.signal.reason);
  expect(await call).toMatchObject({ name: 'AbortError' });
});

test('a signal that fires while an update is read back stops the call', async () => {
  await using server = await scriptedServer(respond(204, {}), misbehave.stall);
  const controller = new AbortController();
  const call = caught(
    quickClient(server.url).products.update('42', { name: 'x' }, { signal: controller.signal }),
  );
  await server.received(2);
  controller.abort(reason);
  expect(await call).toBe(reason);
});

test('a signal stops a pagination and its prefetched page', async () => {
  await using server = await scriptedServer(json([{ id: '1' }]), misbehave.stall);
  const controller = new AbortController();
  const pages = quickClient(server.url).accounts.list({}, { signal: controller.signal }).pages();
  expect((await pages.next()).value?.records).toEqual([{ id: '1' }]);
  await server.received(2);
  controller.abort(reason);
  expect(await caught(pages.next())).toBe(reason);
  await advance(600_000);
  expect(server.requests).toHaveLength(2);
});
