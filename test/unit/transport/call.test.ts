import { expect, test, vi } from 'vitest';
import { ConnectionError } from '../../../src/errors/connection-error.ts';
import { resolveOptions } from '../../../src/options.ts';
import { Call } from '../../../src/transport/call.ts';
import type { CallSettings } from '../../../src/transport/call-options.ts';
import { Failure, type Fault } from '../../../src/transport/failure.ts';
import type { ApiRequest, Method } from '../../../src/transport/request.ts';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const { settings } = resolveOptions({ baseUrl: 'https://books.example', apiKey: 'k' }).habits;

function callOf(method: Method, own: Partial<CallSettings> = {}, id = 'a/b'): Call {
  const request: ApiRequest<undefined> = {
    method,
    path: ['products', id],
    template: '/products/{id}',
    expected: { kind: 'nothing', value: undefined },
    priority: 'interactive',
    settings: { ...settings, ...own },
    options: {},
  };
  return new Call(request, { origin: 'https://books.example', basePath: '/api/public/v1' });
}

/** A failed attempt whose error names it. */
const failed = (fault: Fault, status?: number, problemType = '') =>
  new Failure(
    fault,
    (facts) => new ConnectionError(`${fault} ${status}`, facts),
    status === undefined ? undefined : { status, problemType, retryAfterMs: undefined, missing: true },
  );

test('a wait may be as long as maxWaitMs, and ends before the deadline', () => {
  const hurried = callOf('GET', { maxWaitMs: 500, deadlineMs: 1_000 });
  expect([hurried.canWait(500), hurried.canWait(501)]).toEqual([true, false]);
  const patient = callOf('GET', { maxWaitMs: 5_000, deadlineMs: 1_000 });
  expect([patient.canWait(999), patient.canWait(1_000)]).toEqual([true, false]);
});

test('a path shows no key, also where the service has made an id of it', () => {
  const call = callOf('GET');
  expect(call.path).toBe('/products/a%2Fb');
  const withKey = callOf('GET', {}, 'id-of-key-0123');
  withKey.apiKey = 'key-0123';
  expect(withKey.event().path).toBe('/products/id-of-[redacted]');
  withKey.apiKey = 'id-of-key';
  expect(withKey.event().path).toBe('/products/[redacted]-0123');
  // So short a text may be part of many an id.
  withKey.apiKey = 'ey-0123';
  expect(withKey.event().path).toBe('/products/id-of-key-0123');
});

test('only a call that was just refused for the budget goes to the front of the gate', () => {
  const call = callOf('GET');
  expect(call.refused).toBe(false);
  call.refused = true;
  call.judge(failed('status', 503));
  expect(call.refused).toBe(false);
});

test('a call that is held back fails for the 429 before, unless something else came between', () => {
  const call = callOf('GET');
  call.judge(failed('status', 429));
  call.judge(failed('held_back'));
  expect(call.error(failed('held_back')).message).toBe('status 429');

  call.judge(failed('status', 503));
  call.judge(failed('held_back'));
  expect(call.error(failed('held_back')).message).toBe('held_back undefined');
});

test('what would have been tried again, had attempts been left, may be tried again by the caller', async () => {
  const running = scriptedFetch(problemResponse(409, { type: 'request_in_progress' }));
  const create = scriptedClient(running, { retry: { maxAttempts: 1 } }).products.create({});
  expect(await caught(create)).toMatchObject({ status: 409, attempts: 1, retryable: true });

  const stale = scriptedClient(scriptedFetch(problemResponse(409, { type: 'stale' }))).products.create({});
  expect(await caught(stale)).toMatchObject({ status: 409, attempts: 1, retryable: false });
});

test('a create that is answered without the record is repeated once, and no more', async () => {
  const fetch = scriptedFetch(new Response(null, { status: 204 }));
  const client = scriptedClient(fetch, { retry: { baseDelayMs: 0, maxDelayMs: 0 } });
  const create = caught(client.products.create({ name: 'Desk' }));
  await advance(10);
  expect(await create).toMatchObject({ code: 'unexpected_response', outcome: 'applied', attempts: 2 });
  expect(fetch.requests).toHaveLength(2);
});

test('a create that failed otherwise before may still be repeated once', async () => {
  const fetch = scriptedFetch(problemResponse(503), new Response(null, { status: 204 }));
  const client = scriptedClient(fetch, { retry: { baseDelayMs: 0, maxDelayMs: 0 } });
  const create = caught(client.products.create({ name: 'Desk' }));
  await advance(10);
  expect(await create).toMatchObject({ code: 'unexpected_response', attempts: 3 });
});

test('the end event says how long the call took, and how long of that it waited', async () => {
  const end = vi.fn();
  const slowly = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return problemResponse(503);
  };
  const fetch = scriptedFetch(slowly, jsonResponse({ id: '1' }));
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const client = scriptedClient(fetch, { on: { end }, retry: { baseDelayMs: 400, maxDelayMs: 400 } });
  const call = client.accounts.get('1');
  await advance(300);
  await advance(300);
  await call;
  expect(end).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ result: 'ok', durationMs: 600, waitedMs: 300 }),
  );
});
