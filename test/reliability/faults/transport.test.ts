import type { CallOutcome, ClientOptions } from 'accounting-data-sdk';
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
  redirect,
  respond,
  success,
} from '../../support/responses.ts';
import { networkError } from '../../support/scripted-fetch.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { useFastClock } from '../../support/virtual-clock.ts';

/** What becomes of a call that meets a fault. Those that are sent again succeed if the fault has passed by then. */
const CELLS = {
  R: 'is sent again',
  X: 'fails at once',
  U: 'fails at once with outcome unknown',
  A: 'fails at once with outcome applied',
  'once U': 'is sent again one time, then fails with outcome unknown',
  'once A': 'is sent again one time, then fails with outcome applied',
  'once X': 'is sent again one time, then fails',
  reread: 'is followed by a GET of the record',
  look: 'is followed by a GET, which shows the record: fails with outcome unknown',
  done: 'succeeds',
} as const;
type Cell = keyof typeof CELLS;

interface Group {
  /** Of the error, if the fault persists. */
  readonly code: string;
  /** The outcome where the cell names none. */
  readonly outcome: CallOutcome;
  readonly cells: readonly [GET: Cell, POST: Cell, PATCH: Cell, DELETE: Cell];
  readonly faults: Readonly<Record<string, ScriptedResponse>>;
}

const NEVER = ['X', 'X', 'X', 'X'] as const;
const ALWAYS = ['R', 'R', 'R', 'R'] as const;
const PAGE = '\n <!doctype html><h1>Sign in</h1>';
const JSON_TYPE = { 'content-type': 'application/json' };
const HTML = { 'content-type': 'text/html' };
const TEXT = { 'content-type': 'text/plain' };
const XHTML = { 'content-type': 'application/xhtml+xml' };
const MAX_BODY_BYTES = 2_000;

const problems = (...statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [status, problem(status)]));
const redirects = (...statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [status, redirect(status, 'https://elsewhere.example/')]));

const groups: readonly Group[] = [
  {
    code: 'connection_failed',
    outcome: 'unknown',
    cells: ALWAYS,
    faults: {
      'a close before the response': misbehave.close,
      'a reset before the response': misbehave.reset,
      'a close in the headers': misbehave.closeInHeaders,
      'bytes that are not HTTP': misbehave.garbage,
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['R', 'R', 'R', 'done'],
    faults: {
      'a close in the body': misbehave.closeInBody,
      'a Content-Length that is too long': misbehave.wrongLength,
      'a Content-Length that is too short': misbehave.shortLength,
      'a bad chunk': misbehave.badChunk,
      'an end between chunks': misbehave.endInChunks,
      'corrupt gzip': misbehave.corruptGzip,
      'truncated JSON': misbehave.truncatedJson,
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['X', 'once A', 'reread', 'done'],
    faults: { '204': empty(204), '200 without a body': empty(200) },
  },
  {
    code: 'unexpected_response',
    outcome: 'unknown',
    cells: ['X', 'once U', 'U', 'done'],
    faults: { 'an empty page': respond(200, HTML) },
  },
  {
    code: 'unexpected_response',
    outcome: 'unknown',
    cells: ['X', 'once U', 'U', 'look'],
    faults: {
      'JSON as text/plain': respond(200, TEXT, '{}'),
      'a list in place of a record': json([product]),
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['X', 'once U', 'U', 'look'],
    faults: {
      'a record without an id': json({ name: 'Desk' }),
      'a report of a failure': json({ success: false }),
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'unknown',
    cells: ['X', 'once U', 'U', 'U'],
    faults: {
      'HTML with 200': html(),
      'HTML that names no type': respond(200, {}, PAGE),
      'HTML that says JSON': respond(200, JSON_TYPE, PAGE),
      'an HTML page that breaks off': misbehave.cutPage('text/html'),
      'an XHTML page that breaks off': misbehave.cutPage('application/xhtml+xml'),
      'an HTML page over the cap': respond(200, HTML, PAGE.repeat(100)),
      'an XHTML page over the cap': respond(200, XHTML, PAGE.repeat(100)),
      'a page in UTF-16': respond(200, {}, Buffer.from(`\ufeff${PAGE}`, 'utf16le')),
      'a page behind blank lines': respond(200, JSON_TYPE, '\r\n'.repeat(512) + PAGE),
      'a page in Latin-1': respond(200, JSON_TYPE, Buffer.from(`${PAGE}é`, 'latin1')),
      'plain text': respond(200, TEXT, 'blocked'),
      'plain text that breaks off': misbehave.cutPage('text/plain', 'del'),
      'HTML as plain text that breaks off': misbehave.cutPage('text/plain'),
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['X', 'A', 'A', 'done'],
    faults: {
      'invalid UTF-8': respond(200, JSON_TYPE, Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])),
      'money as a number': json({ ...product, salePrice: 129 }),
      'a body over the cap': json({ ...product, remark: 'x'.repeat(3_000) }),
      'a gzip bomb': gzipBomb(3_000_000),
    },
  },
  { code: 'redirected', outcome: 'rejected', cells: NEVER, faults: redirects(301, 307, 308) },
  { code: 'redirected', outcome: 'unknown', cells: NEVER, faults: redirects(300, 302, 303, 305) },
  { code: 'unknown_problem', outcome: 'unknown', cells: NEVER, faults: redirects(304) },
  { code: 'malformed_request', outcome: 'rejected', cells: NEVER, faults: problems(400) },
  { code: 'unauthenticated', outcome: 'rejected', cells: NEVER, faults: problems(401) },
  { code: 'forbidden', outcome: 'rejected', cells: NEVER, faults: problems(403) },
  { code: 'not_found', outcome: 'rejected', cells: NEVER, faults: problems(404, 410) },
  {
    code: 'unknown_problem',
    outcome: 'rejected',
    cells: NEVER,
    faults: {
      ...problems(402, 405, 406, 409, 413, 422, 451, 499),
      '409 of another type': problem(409, { type: 'stale' }),
      '422 of the type of a running create': problem(422, { type: 'request_in_progress' }),
    },
  },
  { code: 'unknown_problem', outcome: 'rejected', cells: ['X', 'X', 'once X', 'X'], faults: problems(415) },
  { code: 'unknown_problem', outcome: 'rejected', cells: ALWAYS, faults: problems(425) },
  { code: 'unknown_problem', outcome: 'unknown', cells: NEVER, faults: problems(501, 505) },
  {
    code: 'unknown_problem',
    outcome: 'unknown',
    cells: ALWAYS,
    faults: { ...problems(408, 500, 502, 503, 504), '502 with HTML': html(502) },
  },
];

const cases = groups.flatMap(({ faults, cells, ...expected }) =>
  Object.entries(faults).flatMap(([fault, response]) =>
    METHODS.map((method, index) => {
      const cell = cells[index] as Cell;
      const does = CELLS[cell];
      const outcome = /unknown|applied/.exec(does)?.[0] ?? expected.outcome;
      const again = cell === 'R' || cell === 'reread' || cell.startsWith('once');
      return { ...expected, fault, response, method, cell, does, outcome, again };
    }),
  ),
);

/**
 * What a call ends with that gets these responses, and its requests. A create sends one key and the same bytes in every
 * request; any other method sends no key.
 */
async function ended(method: FourMethods, script: readonly ScriptedResponse[], options: ClientOptions = {}) {
  await using server = await scriptedServer(...script);
  const retry = { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 3 };
  const client = quickClient(server.url, { maxBodyBytes: MAX_BODY_BYTES, retry, ...options });
  const end = await callWith(client, method).catch((error: unknown) => error);
  const { requests } = server;
  const sent = requests.filter((request) => request.method === method);
  expect(new Set(sent.map(({ url, body }) => `${url} ${body}`)).size).toBe(1);
  const keys = [...new Set(sent.map(({ headers }) => headers['idempotency-key']))];
  expect(keys).toEqual([method === 'POST' ? expect.stringMatching(/^[!-~]{16,}$/) : undefined]);
  if (end instanceof Error) expect(end).toMatchObject({ idempotencyKey: keys[0] });
  return { end, methods: requests.map((request) => request.method) };
}

test.each(cases)('$method that meets $fault $does', async (expected) => {
  const { method, response, cell, again, code, outcome } = expected;
  const passing = await ended(method, [response, success]);
  expect(passing.end instanceof Error).toBe(!again && cell !== 'done');
  const isLook = cell === 'reread' || cell === 'look';
  expect(passing.methods).toEqual(again || isLook ? [method, isLook ? 'GET' : method] : [method]);
  if (cell === 'done') return;

  const { end, methods } = again ? await ended(method, [response]) : passing;
  expect(methods).toHaveLength(cell === 'R' ? 3 : again || isLook ? 2 : 1);
  // A request in another form belongs to the attempt.
  const attempts = isLook || cell === 'once X' ? 1 : methods.length;
  expect(end).toMatchObject({ code, outcome, attempts, retryable: cell === 'R' });
});

test.each(cases.filter(({ method, again }) => method === 'POST' && again))(
  'a create that meets $fault is not sent again under retry.creates: false if it may have been applied',
  async ({ response, code, outcome }) => {
    const retry = { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 3, creates: false };
    const { end, methods } = await ended('POST', [response], { retry });
    expect(methods).toHaveLength(outcome === 'rejected' ? 3 : 1);
    expect(end).toMatchObject({ code, outcome, attempts: methods.length });
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

const RUNNING = [
  '/errors/request_in_progress',
  'idempotency_in_progress',
  'urn:e:idempotency',
  '#idempotency_key_in_use',
];
const runs = METHODS.flatMap((method) => RUNNING.map((type) => [method, type] as const));

test.each(runs)('%s of a 409 whose type %s says that the first request still runs', async (method, type) => {
  await using server = await scriptedServer(problem(409, { type }), success);
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
    message: expect.stringContaining('An earlier request with this idempotencyKey is still running'),
  });
});
