import type { Listeners } from 'accounting-data-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import {
  advance,
  loadTransport,
  runToEnd,
  startVirtualClock,
  stopVirtualClock,
} from '../../support/virtual-clock.ts';

/** Listeners that record every event. */
function recorder() {
  const events: [name: string, event: Record<string, unknown>][] = [];
  const names = ['request', 'response', 'retry', 'wait', 'error', 'end', 'invalidRecord'] as const;
  const on = Object.fromEntries(
    names.map((name) => [name, (event: object) => void events.push([name, { ...event }])]),
  ) as Listeners;
  return { on, events };
}

test('a retried call emits each step under one number', async () => {
  await loadTransport();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { on, events } = recorder();
  const fetch = scriptedFetch(
    networkError('ECONNRESET'),
    problemResponse(503),
    jsonResponse({ id: '42' }, 200, {
      'x-ratelimit-limit': '10',
      'x-ratelimit-remaining': '9',
      'x-request-id': 'r1',
    }),
  );
  const options = { on, baseUrl: 'https://events.example/proxy', retry: { baseDelayMs: 10 } };
  await runToEnd(scriptedClient(fetch, options).products.get('42'));

  expect(events.map(([name, { attempt }]) => `${name} ${attempt}`)).toEqual([
    'request 1',
    'retry 1',
    'request 2',
    'response 2',
    'retry 2',
    'request 3',
    'response 3',
    'end 3',
  ]);
  expect(new Set(events.map(([, { call }]) => call)).size).toBe(1);
  for (const [, event] of events) {
    expect(event).toMatchObject({
      method: 'GET',
      origin: 'https://events.example',
      basePath: '/proxy/api/public/v1',
      path: '/products/42',
      template: '/products/{id}',
    });
  }
  const [, retry, , , again, , last, end] = events.map(([, event]) => event);
  expect([retry, again]).toMatchObject([
    { reason: 'lost', waitMs: expect.any(Number) },
    { reason: 'status 503' },
  ]);
  const rateLimit = { limit: 10, remaining: 9 };
  expect(last).toMatchObject({ status: 200, durationMs: expect.any(Number), rateLimit, requestId: 'r1' });
  const waitedMs = Number(retry?.waitMs) + Number(again?.waitMs);
  expect(end).toMatchObject({ result: 'ok', durationMs: waitedMs, waitedMs });
});

test('a call that fails emits end once, after its error, even if the listener of the error aborts it', async () => {
  const { on, events } = recorder();
  const controller = new AbortController();
  const listeners = [on, { error: () => controller.abort() }];
  const client = scriptedClient(scriptedFetch(problemResponse(404)), { on: listeners });
  await caught(client.products.get('1', { signal: controller.signal }));
  expect(events.map(([name]) => name)).toEqual(['request', 'response', 'error', 'end']);
  expect(events[3]?.[1]).toMatchObject({ result: 'error', attempt: 1, waitedMs: 0 });
});

test('a call that waits for the quota until it is given up emits how long that was', async () => {
  await loadTransport();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { on, events } = recorder();
  const client = scriptedClient(() => new Promise(() => {}), { on, rateLimiter: 'client' });
  const controller = new AbortController();
  const first = caught(client.products.get('1', { signal: controller.signal }));
  const second = caught(client.products.get('2', { deadlineMs: 30 }));
  await advance(30);
  await second;
  controller.abort();
  await first;
  const ends = events.flatMap(([name, event]) => (name === 'end' ? [event] : []));
  expect(ends[0]).toMatchObject({ result: 'error', path: '/products/2', attempt: 0, waitedMs: 30 });
});

test('no event shows a key that was used as a path segment or a bound', async () => {
  const { on, events } = recorder();
  const apiKey = 'secret-7f3a9c1e';
  const client = scriptedClient(scriptedFetch(jsonResponse({ [apiKey]: 1 })), { apiKey, on });
  await client.request({ path: [apiKey] });
  expect(events[0]?.[1]).toMatchObject({ template: '/[redacted]', path: '/[redacted]' });
  const error = await caught(client.accounts.list({ id: { gte: apiKey } }).first());
  expect(JSON.stringify([events, error])).not.toContain(apiKey);
});

test('events name a request of the caller by its first segment, and a list by its page or bounds', async () => {
  const { on, events } = recorder();
  const client = scriptedClient(scriptedFetch(jsonResponse({}), jsonResponse({}), jsonResponse([])), { on });
  await client.request({ path: '/invoices/7' });
  await client.request({ path: ['invoices', '8'] });
  await client.accounts.list({ page: 2, updatedSince: '2026-01-31T12:00:00Z' }).first();
  const requests = events.flatMap(([name, event]) => (name === 'request' ? [event] : []));
  expect(requests.map(({ template, query }) => [template, query])).toEqual([
    ['/invoices', undefined],
    ['/invoices', undefined],
    ['/accounts', '_page=2'],
  ]);
});
