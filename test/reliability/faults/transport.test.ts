import type { AnyAccountingError, CallOutcome } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, type FourMethods, METHODS, quickClient } from '../../support/four-methods.ts';
import { product } from '../../support/records.ts';
import {
  empty,
  gzipBomb,
  html,
  json,
  misbehave,
  problem,
  respond,
  success,
} from '../../support/responses.ts';
import { networkError } from '../../support/scripted-fetch.ts';
import { type ScriptedResponse, type SeenRequest, scriptedServer } from '../../support/scripted-server.ts';
import { useFastClock } from '../../support/virtual-clock.ts';

/**
 * R: sent again. X: an error at once. U, A: an error at once, outcome unknown or applied. `once U`, `once A`, `once X`: sent
 * again one time, then so. `reread`: the record is read with GET. `done`: the call succeeds.
 */
type Cell = 'R' | 'X' | 'U' | 'A' | 'once U' | 'once A' | 'once X' | 'reread' | 'done';

interface Row {
  readonly fault: string;
  readonly response: ScriptedResponse;
  /** The code of the error, if the fault persists. */
  readonly code: string;
  /** The outcome of R and X, where the fault stays. */
  readonly outcome: CallOutcome;
  readonly cells: readonly [GET: Cell, POST: Cell, PATCH: Cell, DELETE: Cell];
}

const PAGE = '\n <!doctype html><h1>Sign in</h1>';
const row = (
  fault: string,
  response: ScriptedResponse,
  [code, outcome]: [string, CallOutcome],
  ...cells: [Cell, Cell, Cell, Cell]
): Row => ({ fault, response, code, outcome, cells });

const LOST: [string, CallOutcome] = ['connection_failed', 'unknown'];
const CUT: [string, CallOutcome] = ['unexpected_response', 'applied'];
const ODD: [string, CallOutcome] = ['unexpected_response', 'unknown'];
const INVALID: [string, CallOutcome] = ['unexpected_response', 'applied'];
const JSON_TYPE = { 'content-type': 'application/json' };
const MAX_BODY_BYTES = 2_000;

const rows: readonly Row[] = [
  row('a close before the response', misbehave.close, LOST, 'R', 'R', 'R', 'R'),
  row('a reset before the response', misbehave.reset, LOST, 'R', 'R', 'R', 'R'),
  row('a close in the headers', misbehave.closeInHeaders, LOST, 'R', 'R', 'R', 'R'),
  row('bytes that are not HTTP', misbehave.garbage, LOST, 'R', 'R', 'R', 'R'),
  row('a close in the body', misbehave.closeInBody, CUT, 'R', 'R', 'R', 'done'),
  row('a Content-Length that is too long', misbehave.wrongLength, CUT, 'R', 'R', 'R', 'done'),
  row('a bad chunk', misbehave.badChunk, CUT, 'R', 'R', 'R', 'done'),
  row('an end between chunks', misbehave.endInChunks, CUT, 'R', 'R', 'R', 'done'),
  row('corrupt gzip', misbehave.corruptGzip, CUT, 'R', 'R', 'R', 'done'),
  row('truncated JSON', misbehave.truncatedJson, CUT, 'R', 'R', 'R', 'done'),
  row('204', empty(204), INVALID, 'X', 'once A', 'reread', 'done'),
  row('200 without a body', empty(200), INVALID, 'X', 'once A', 'reread', 'done'),
  row('an empty page', respond(200, { 'content-type': 'text/html' }), ODD, 'X', 'once U', 'U', 'done'),
  row('HTML with 200', html(), ODD, 'X', 'once U', 'U', 'U'),
  row('HTML that names no type', respond(200, {}, PAGE), ODD, 'X', 'once U', 'U', 'U'),
  row(
    'HTML that says JSON',
    respond(200, { 'content-type': 'application/json' }, PAGE),
    ODD,
    'X',
    'once U',
    'U',
    'U',
  ),
  row(
    'JSON as text/plain',
    respond(200, { 'content-type': 'text/plain' }, '{}'),
    ODD,
    'X',
    'once U',
    'U',
    'done',
  ),
  ...(['text/html', 'application/xhtml+xml'] as const).flatMap((type) => [
    row(`a ${type} page that breaks off`, misbehave.cutPage(type), ODD, 'X', 'once U', 'U', 'U'),
    row(
      `a ${type} page over the cap`,
      respond(200, { 'content-type': type }, PAGE.repeat(100)),
      ODD,
      'X',
      'once U',
      'U',
      'U',
    ),
  ]),
  row(
    'a page in UTF-16',
    respond(200, {}, Buffer.from(`\ufeff${PAGE}`, 'utf16le')),
    ODD,
    'X',
    'once U',
    'U',
    'U',
  ),
  row(
    'a page behind blank lines',
    respond(200, JSON_TYPE, '\r\n'.repeat(512) + PAGE),
    ODD,
    'X',
    'once U',
    'U',
    'U',
  ),
  row(
    'a page in Latin-1',
    respond(200, JSON_TYPE, Buffer.from(`${PAGE}é`, 'latin1')),
    ODD,
    'X',
    'once U',
    'U',
    'U',
  ),
  row('plain text', respond(200, { 'content-type': 'text/plain' }, 'blocked'), ODD, 'X', 'once U', 'U', 'U'),
  row('plain text that breaks off', misbehave.cutPage('text/plain', 'del'), ODD, 'X', 'once U', 'U', 'U'),
  row('HTML as plain text that breaks off', misbehave.cutPage('text/plain'), ODD, 'X', 'once U', 'U', 'U'),
  row('a list in place of a record', json([product]), ODD, 'X', 'once U', 'U', 'done'),
  row(
    'invalid UTF-8',
    respond(200, JSON_TYPE, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])),
    INVALID,
    'X',
    'A',
    'A',
    'done',
  ),
  row('a record of the wrong shape', json({ ...product, name: 7 }), INVALID, 'X', 'A', 'A', 'done'),
  row('a record without an id', json({ name: 'Desk' }), INVALID, 'X', 'A', 'A', 'done'),
  row('a body over the cap', json({ ...product, remark: 'x'.repeat(3_000) }), INVALID, 'X', 'A', 'A', 'done'),
  row('a gzip bomb', gzipBomb(3_000_000), INVALID, 'X', 'A', 'A', 'done'),
  ...[300, 301, 302, 303, 304, 305, 307, 308].map((status) => {
    const outcome = [301, 307, 308].includes(status) ? 'rejected' : 'unknown';
    const elsewhere = respond(status, { location: 'https://elsewhere.example/' });
    return row(`${status}`, elsewhere, ['redirected', outcome], 'X', 'X', 'X', 'X');
  }),
  ...[
    [400, 'malformed_request'],
    [401, 'unauthenticated'],
    [402, 'unknown_problem'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [405, 'unknown_problem'],
    [406, 'unknown_problem'],
    [410, 'not_found'],
    [413, 'unknown_problem'],
    [422, 'unknown_problem'],
    [451, 'unknown_problem'],
    [499, 'unknown_problem'],
  ].map(([status, code]) =>
    row(`${status}`, problem(Number(status)), [String(code), 'rejected'], 'X', 'X', 'X', 'X'),
  ),
  row('415', problem(415), ['unknown_problem', 'rejected'], 'X', 'X', 'once X', 'X'),
  ...[501, 505].map((status) =>
    row(`${status}`, problem(status), ['unknown_problem', 'unknown'], 'X', 'X', 'X', 'X'),
  ),
  row('408', problem(408), ['unknown_problem', 'unknown'], 'R', 'R', 'R', 'R'),
  row('425', problem(425), ['unknown_problem', 'rejected'], 'R', 'R', 'R', 'R'),
  row('409', problem(409), ['unknown_problem', 'rejected'], 'X', 'X', 'X', 'X'),
  row(
    '409 of another type',
    problem(409, { type: 'stale' }),
    ['unknown_problem', 'rejected'],
    'X',
    'X',
    'X',
    'X',
  ),
  row(
    '422 of the type of a running create',
    problem(422, { type: 'request_in_progress' }),
    ['unknown_problem', 'rejected'],
    'X',
    'X',
    'X',
    'X',
  ),
  ...[500, 502, 503, 504].map((status) =>
    row(`${status}`, problem(status), ['unknown_problem', 'unknown'], 'R', 'R', 'R', 'R'),
  ),
  row('502 with HTML', html(502), ['unknown_problem', 'unknown'], 'R', 'R', 'R', 'R'),
];

const cases = rows.flatMap(({ cells, ...rest }) =>
  METHODS.map((method, index) => ({ ...rest, method, cell: cells[index] as Cell })),
);

/** One key and the same bytes in every request of a create; no key in any other. */
function expectSameRequest(requests: readonly SeenRequest[], method: FourMethods): void {
  const sent = requests.filter((request) => request.method === method);
  expect(new Set(sent.map(({ url, body }) => `${url} ${body}`)).size).toBe(1);
  const keys = [...new Set(sent.map(({ headers }) => headers['idempotency-key']))];
  expect(keys).toEqual([method === 'POST' ? expect.stringMatching(/^[!-~]{16,}$/) : undefined]);
}

test.each(cases)('$method meets $fault: $cell', async ({ response: fault, method, cell, code, outcome }) => {
  await using passing = await scriptedServer(fault, success);
  const passed = await callWith(quickClient(passing.url, { maxBodyBytes: MAX_BODY_BYTES }), method).then(
    () => 'resolved',
    () => 'rejected',
  );
  const again = cell === 'R' || cell === 'reread' || cell.startsWith('once');
  expect(passed).toBe(again || cell === 'done' ? 'resolved' : 'rejected');
  expect(passing.requests.map((request) => request.method)).toEqual(
    again ? [method, cell === 'reread' ? 'GET' : method] : [method],
  );
  expectSameRequest(passing.requests, method);
  if (cell === 'done') return;

  await using staying = await scriptedServer(fault);
  const client = quickClient(staying.url, {
    maxBodyBytes: MAX_BODY_BYTES,
    retry: { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 3 },
  });
  const error = (await caught(callWith(client, method))) as AnyAccountingError;
  const requests = cell === 'R' ? 3 : again ? 2 : 1;
  expect(staying.requests).toHaveLength(requests);
  expectSameRequest(staying.requests, method);
  const { code: found, outcome: is, attempts, retryable } = error;
  expect({ code: found, outcome: is, attempts, retryable }).toEqual({
    code,
    retryable: cell === 'R',
    outcome: cell.endsWith('U') ? 'unknown' : cell.endsWith('A') ? 'applied' : outcome,
    // A request in another form belongs to the attempt.
    attempts: cell === 'reread' || cell === 'once X' ? 1 : requests,
  });
  expect(error.idempotencyKey).toBe(staying.requests[0]?.headers['idempotency-key']);
});

test.each(rows)(
  'a create that meets $fault is not sent again under retry.creates: false if it may have been applied',
  async ({ response: fault, code, outcome, cells: [, cell] }) => {
    await using server = await scriptedServer(fault);
    const client = quickClient(server.url, {
      maxBodyBytes: MAX_BODY_BYTES,
      retry: { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 3, creates: false },
    });
    const error = (await caught(callWith(client, 'POST'))) as AnyAccountingError;
    const sent = cell === 'R' && outcome === 'rejected' ? 3 : 1;
    expect(server.requests).toHaveLength(sent);
    expect({ code: error.code, outcome: error.outcome, attempts: error.attempts }).toEqual({
      code,
      outcome: cell.endsWith('U') ? 'unknown' : cell.endsWith('A') ? 'applied' : outcome,
      attempts: sent,
    });
    expect(error.idempotencyKey).toBe(server.requests[0]?.headers['idempotency-key']);
  },
);

test('retry.creates: false does not keep a 429 and a request that was never sent from being sent again', async () => {
  const retry = { baseDelayMs: 1, maxDelayMs: 5, creates: false };
  await using server = await scriptedServer(problem(429, {}, { 'retry-after': '0' }), success);
  await callWith(quickClient(server.url, { retry }), 'POST');
  expect(server.requests).toHaveLength(2);

  let failures = 0;
  const client = quickClient(server.url, {
    retry,
    fetch: async (url, init) => {
      if (failures++ === 0) throw networkError('ECONNREFUSED');
      return fetch(url, init);
    },
  });
  await callWith(client, 'POST');
  expect([failures, server.requests.length]).toEqual([2, 3]);
});

test.each([
  ['creates', ['GET', 'PATCH', 'DELETE']],
  ['updates', ['GET', 'POST', 'DELETE']],
] as const)('retry.%s: false keeps no other method from being sent again', async (option, methods) => {
  for (const method of methods) {
    await using server = await scriptedServer(misbehave.close, success);
    await callWith(quickClient(server.url, { retry: { baseDelayMs: 1, [option]: false } }), method);
    expect(server.requests).toHaveLength(2);
  }
});

describe('a page that stalls', () => {
  useFastClock();

  test.each(METHODS)('%s: is not the response of the service', async (method) => {
    await using server = await scriptedServer(misbehave.stalledPage);
    const client = quickClient(server.url, { timeoutMs: 10_000 });
    expect(await caught(callWith(client, method))).toMatchObject({ outcome: 'unknown' });
    expect(server.requests).toHaveLength(method === 'POST' ? 2 : 1);
  });
});

test.each([506, 511, 520, 599])('a %i, as proxies add it, is sent again only for a read', async (status) => {
  for (const method of METHODS) {
    await using server = await scriptedServer(problem(status), success);
    const error = await callWith(quickClient(server.url), method).catch((reason: unknown) => reason);
    if (method === 'GET') expect(error).not.toBeInstanceOf(Error);
    else expect(error).toMatchObject({ status, outcome: 'unknown', attempts: 1, retryable: true });
  }
});

test('an object in place of a list is an error at once', async () => {
  await using server = await scriptedServer(json({ id: '1' }));
  const error = await caught(quickClient(server.url).accounts.list().toArray({ limit: 10 }));
  expect(error).toMatchObject({ code: 'unexpected_response', reason: 'wrong_content', attempts: 1 });
  expect(server.requests).toHaveLength(1);
});

test.each(METHODS)('%s of a 409 whose type says that the first request still runs', async (method) => {
  await using server = await scriptedServer(problem(409, { type: '/errors/request_in_progress' }), success);
  const outcome = await callWith(quickClient(server.url), method).then(
    () => 'resolved',
    () => 'rejected',
  );
  expect([outcome, server.requests.length]).toEqual(method === 'POST' ? ['resolved', 2] : ['rejected', 1]);
});

test('a create whose first request still runs at the last attempt has outcome unknown and is retryable', async () => {
  await using server = await scriptedServer(problem(409, { type: '/errors/request_in_progress' }));
  expect(await caught(callWith(quickClient(server.url), 'POST'))).toMatchObject({
    status: 409,
    outcome: 'unknown',
    attempts: 5,
    retryable: true,
    inProgress: true,
    message: expect.stringContaining('An earlier request with this idempotencyKey is still running'),
  });
});

test('a create does not blame an earlier request for a 409 after a lost response of its own', async () => {
  const running = problem(409, { type: '/errors/request_in_progress' });
  await using server = await scriptedServer(misbehave.close, running);
  const error = await caught(callWith(quickClient(server.url), 'POST'));
  expect(error).toMatchObject({ status: 409, outcome: 'unknown', attempts: 5, inProgress: false });
});
