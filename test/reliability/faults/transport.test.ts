import type { CallOutcome } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
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
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';

/** What becomes of a call that meets a fault. Those that are sent again succeed if the fault has passed by then. */
const CELLS = {
  R: 'is sent again',
  X: 'fails at once',
  'X for now': 'fails at once, and may succeed later',
  U: 'fails at once with outcome unknown',
  A: 'fails at once with outcome applied',
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
const MAX_BODY_BYTES = 2_000;

const problems = (...statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [status, problem(status)]));
const redirects = (...statuses: readonly number[]) =>
  Object.fromEntries(statuses.map((status) => [status, redirect(status, 'https://elsewhere.example/')]));

/** Types of a 409 that say that the first request still runs. */
const RUNNING = ['/errors/request_in_progress', 'idempotency_in_progress'];

const groups: readonly Group[] = [
  {
    code: 'connection_failed',
    outcome: 'unknown',
    cells: ALWAYS,
    faults: {
      'a close before the response': misbehave.close,
      'a close in the headers': misbehave.closeInHeaders,
      'bytes that are not HTTP': misbehave.garbage,
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['R', 'A', 'R', 'done'],
    faults: {
      'a close in the body': misbehave.closeInBody,
      'corrupt gzip': misbehave.corruptGzip,
      'truncated JSON': misbehave.truncatedJson,
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['X', 'A', 'reread', 'done'],
    faults: { '204': empty(204), '200 without a body': empty(200) },
  },
  {
    code: 'unexpected_response',
    outcome: 'unknown',
    cells: ['X', 'U', 'U', 'done'],
    faults: { 'an empty page': respond(200, HTML) },
  },
  {
    code: 'unexpected_response',
    outcome: 'unknown',
    cells: ['X', 'U', 'U', 'look'],
    faults: {
      'JSON as text/plain': respond(200, TEXT, '{}'),
      'a list in place of a record': json([product]),
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'applied',
    cells: ['X', 'U', 'U', 'look'],
    faults: {
      'a record without an id': json({ name: 'Desk' }),
      'a report of a failure': json({ success: false }),
    },
  },
  {
    code: 'unexpected_response',
    outcome: 'unknown',
    cells: ['X', 'U', 'U', 'U'],
    faults: {
      'HTML with 200': html(),
      'HTML that says JSON': respond(200, JSON_TYPE, PAGE),
      'an HTML page that breaks off': misbehave.cutPage('text/html'),
      'a page in UTF-16': respond(200, {}, Buffer.from(`\ufeff${PAGE}`, 'utf16le')),
      'a page behind blank lines': respond(200, JSON_TYPE, '\r\n'.repeat(512) + PAGE),
      'plain text': respond(200, TEXT, 'blocked'),
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
  {
    code: 'unknown_problem',
    outcome: 'unknown',
    cells: ['X', 'R', 'X', 'X'],
    faults: Object.fromEntries(RUNNING.map((type) => [`409 ${type}`, problem(409, { type })])),
  },
  { code: 'unknown_problem', outcome: 'rejected', cells: ['X', 'X', 'once X', 'X'], faults: problems(415) },
  { code: 'unknown_problem', outcome: 'rejected', cells: ALWAYS, faults: problems(425) },
  { code: 'unknown_problem', outcome: 'unknown', cells: NEVER, faults: problems(501, 505) },
  {
    code: 'unknown_problem',
    outcome: 'unknown',
    cells: ['R', 'X for now', 'X for now', 'X for now'],
    faults: problems(506, 520, 599),
  },
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
      const again = cell === 'R' || cell === 'reread' || cell === 'once X';
      return { ...expected, fault, response, method, cell, does, outcome, again };
    }),
  ),
);

/**
 * What a call ends with that gets these responses, and its requests. A create sends one key and the same bytes in every
 * request; any other method sends no key.
 */
async function ended(method: FourMethods, ...script: readonly ScriptedResponse[]) {
  await using server = await scriptedServer(...script);
  const retry = { baseDelayMs: 1, maxDelayMs: 5, maxAttempts: 3 };
  const client = quickClient(server.url, { maxBodyBytes: MAX_BODY_BYTES, retry });
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
  const passing = await ended(method, response, success);
  expect(passing.end instanceof Error).toBe(!again && cell !== 'done');
  const isLook = cell === 'reread' || cell === 'look';
  expect(passing.methods).toEqual(again || isLook ? [method, isLook ? 'GET' : method] : [method]);
  if (cell === 'done') return;

  const { end, methods } = again ? await ended(method, response) : passing;
  expect(methods).toHaveLength(cell === 'R' ? 3 : again || isLook ? 2 : 1);
  // A request in another form belongs to the attempt.
  const attempts = isLook || cell === 'once X' ? 1 : methods.length;
  expect(end).toMatchObject({ code, outcome, attempts, retryable: cell === 'R' || cell === 'X for now' });
});
