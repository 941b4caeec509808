import type { Listeners } from 'accounting-data-sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import {
  type FetchResponse,
  jsonResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';
import { settle } from '../support/scripted-server.ts';
import { stateOf } from '../support/virtual-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a call discards a response that arrives after the timeout: emits no event and cancels its body', async () => {
  const statuses: number[] = [];
  const on: Listeners = { response: ({ status }) => void statuses.push(status) };
  const late = jsonResponse({ id: 'late' });
  const cancel = vi.spyOn(late.body as ReadableStream, 'cancel');
  let respondLate: (response: Response) => void = () => {};
  // A fetch that does not listen to its signal.
  const deaf: FetchResponse = () =>
    new Promise<Response>((resolve) => {
      respondLate = resolve;
    });
  const client = scriptedClient(scriptedFetch(deaf, jsonResponse({ id: '1' })), { on, timeoutMs: 500 });

  const call = client.accounts.get('1');
  await settle();
  await vi.advanceTimersByTimeAsync(510);
  expect(await call).toEqual({ id: '1' });
  respondLate(late);
  await settle();
  expect(statuses).toEqual([200]);
  expect(cancel).toHaveBeenCalledTimes(1);
});

test('a call gives the body the time that the headers have left of timeoutMs', async () => {
  const headersLate: FetchResponse = () =>
    new Promise<Response>((resolve) => {
      const headers = { 'content-type': 'application/json' };
      setTimeout(() => resolve(new Response(new ReadableStream(), { headers })), 400);
    });
  const client = scriptedClient(scriptedFetch(headersLate), { timeoutMs: 500, retry: { maxAttempts: 1 } });
  const call = caught(client.accounts.get('1'));
  await settle();
  await vi.advanceTimersByTimeAsync(400);
  await settle();
  await vi.advanceTimersByTimeAsync(99);
  expect(await stateOf(call)).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(await stateOf(call)).toBe('resolved');
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt' });
});

test('a call stops with the reason of the signal while a body stalls that ignores it', async () => {
  const controller = new AbortController();
  const headers = { 'content-type': 'application/json' };
  const fetch = scriptedFetch(new Response(new ReadableStream(), { headers }));
  const call = caught(scriptedClient(fetch).accounts.get('1', { signal: controller.signal }));
  await settle();
  controller.abort('enough');
  expect(await stateOf(call)).toBe('resolved');
  expect(await call).toBe('enough');
});
