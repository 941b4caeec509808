import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../src/index.ts';
import { parseProblem } from '../../../src/schemas/problem.ts';
import type { RetryPolicy } from '../../../src/transport/call-options.ts';
import { Failure, type Fault } from '../../../src/transport/failure.ts';
import type { Method } from '../../../src/transport/request.ts';
import { effectOf, type Verdict, verdictOn, worseOf } from '../../../src/transport/retry-policy.ts';

const retry: RetryPolicy = {
  maxAttempts: 4,
  baseDelayMs: 100,
  maxDelayMs: 20_000,
  updates: true,
  creates: true,
  inProgressTypes: ['request_in_progress'],
};
const failure = (fault: Fault, status = 0, problemType = ''): Failure => {
  if (fault === 'redirect') return new Failure(fault, { kind: fault, status, locationOrigin: undefined });
  if (fault !== 'status') return new Failure(fault, { kind: 'not_a_response' });
  const problem = parseProblem({ type: problemType });
  const unknown = { requestId: undefined, rateLimit: undefined, headers: {}, retryAfterMs: undefined };
  return new Failure(fault, { kind: fault, response: { status, problem, content: 'problem', ...unknown } });
};
const first = { retry, outcomeBefore: 'not_sent', repeated: false, keyRefreshed: true } as const;
const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const satisfies readonly Method[];

const FAULTS: readonly [
  Fault,
  GET: Verdict,
  POST: Verdict,
  PATCH: Verdict,
  DELETE: Verdict,
  effect: Outcome,
][] = [
  ['unsent', 'retry', 'retry', 'retry', 'retry', 'not_sent'],
  ['blocked', 'throw', 'throw', 'throw', 'throw', 'not_sent'],
  ['lost', 'retry', 'retry', 'retry', 'retry', 'unknown'],
  ['cut', 'retry', 'retry', 'retry', 'done', 'applied'],
  ['empty', 'throw', 'retry_once', 'reread', 'done', 'applied'],
  ['wrong_content', 'throw', 'retry_once', 'throw', 'throw', 'unknown'],
  ['unreadable', 'throw', 'throw', 'throw', 'done', 'applied'],
  ['too_large', 'throw', 'throw', 'throw', 'done', 'applied'],
  ['not_a_response', 'throw', 'throw', 'throw', 'throw', 'unknown'],
  ['throttled', 'throw', 'throw', 'throw', 'throw', 'not_sent'],
];

test.each(FAULTS)('%s: GET %s, POST %s, PATCH %s, DELETE %s, effect %s', (fault, ...row) => {
  const verdicts = METHODS.map((method) => verdictOn(failure(fault), { ...first, method }));
  expect([...verdicts, effectOf(failure(fault), retry)]).toEqual(row);
});

const STATUSES: readonly [number, Verdict, Outcome][] = [
  ...[400, 401, 402, 403, 404, 405, 406, 409, 410, 413, 415, 418, 422, 431, 451].map(
    (status) => [status, 'throw', 'rejected'] as [number, Verdict, Outcome],
  ),
  [408, 'retry', 'unknown'],
  [425, 'retry', 'rejected'],
  [429, 'wait', 'rejected'],
  [500, 'retry', 'unknown'],
  [501, 'throw', 'unknown'],
  [502, 'retry', 'unknown'],
  [503, 'retry', 'unknown'],
  [504, 'retry', 'unknown'],
  [505, 'throw', 'unknown'],
];

test.each(STATUSES)('%i: %s in every method, effect %s', (status, verdict, effect) => {
  for (const method of METHODS) {
    expect(verdictOn(failure('status', status), { ...first, method })).toBe(verdict);
  }
  expect(effectOf(failure('status', status), retry)).toBe(effect);
});

test.each([
  [301, 'rejected'],
  [302, 'unknown'],
  [303, 'unknown'],
  [307, 'rejected'],
  [308, 'rejected'],
  [0, 'unknown'],
] as const)('a redirect with %i is thrown in every method, effect %s', (status, effect) => {
  for (const method of METHODS)
    expect(verdictOn(failure('redirect', status), { ...first, method })).toBe('throw');
  expect(effectOf(failure('redirect', status), retry)).toBe(effect);
});

test('a 409 which says that the first request still runs is retried for a create alone, and its end is unknown', () => {
  const running = failure('status', 409, 'request_in_progress');
  const verdicts = METHODS.map((method) => verdictOn(running, { ...first, method }));
  expect(verdicts).toEqual(['throw', 'retry', 'throw', 'throw']);
  expect(effectOf(running, retry)).toBe('unknown');
  expect(verdictOn(failure('status', 409, 'stale'), { ...first, method: 'POST' })).toBe('throw');
  expect(verdictOn(failure('status', 422, 'request_in_progress'), { ...first, method: 'POST' })).toBe(
    'throw',
  );
});

test.each([404, 410])(
  'a delete that meets %i is done only after an attempt that may have removed it',
  (status) => {
    const verdicts = (['not_sent', 'rejected', 'unknown', 'applied'] as const).map((outcomeBefore) =>
      verdictOn(failure('status', status), { ...first, method: 'DELETE', outcomeBefore }),
    );
    expect(verdicts).toEqual(['throw', 'throw', 'done', 'done']);
    expect(
      verdictOn(failure('status', status), { ...first, method: 'PATCH', outcomeBefore: 'unknown' }),
    ).toBe('throw');
  },
);

test.each([400, 401, 403, 409, 422, 501])(
  'a delete that meets %i after an attempt that may have removed the record is not a success',
  (status) => {
    for (const outcomeBefore of ['unknown', 'applied'] as const) {
      expect(verdictOn(failure('status', status), { ...first, method: 'DELETE', outcomeBefore })).toBe(
        'throw',
      );
    }
  },
);

test('what may be repeated once is thrown the second time', () => {
  for (const fault of ['empty', 'wrong_content'] as const) {
    expect(verdictOn(failure(fault), { ...first, method: 'POST', repeated: true })).toBe('throw');
  }
});

test('updates: false stops the repetition of an update that may have been applied, and of nothing else', () => {
  const careful = { ...first, retry: { ...retry, updates: false } };
  const verdicts = (method: Method) =>
    [failure('lost'), failure('cut'), failure('status', 503), failure('status', 408)].map((what) =>
      verdictOn(what, { ...careful, method }),
    );
  expect(verdicts('PATCH')).toEqual(['throw', 'throw', 'throw', 'throw']);
  expect(verdicts('POST')).toEqual(['retry', 'retry', 'retry', 'retry']);
  expect(verdictOn(failure('unsent'), { ...careful, method: 'PATCH' })).toBe('retry');
  expect(verdictOn(failure('status', 425), { ...careful, method: 'PATCH' })).toBe('retry');
  expect(verdictOn(failure('status', 429), { ...careful, method: 'PATCH' })).toBe('wait');
  expect(verdictOn(failure('empty'), { ...careful, method: 'PATCH' })).toBe('reread');
});

const outcomes = fc.constantFrom<Outcome[]>('not_sent', 'rejected', 'unknown', 'applied');

test('the outcome of a call does not depend on the order of its attempts and never gets better', () => {
  fc.assert(
    fc.property(outcomes, outcomes, outcomes, (a, b, c) => {
      expect(worseOf(a, b)).toBe(worseOf(b, a));
      expect(worseOf(worseOf(a, b), c)).toBe(worseOf(a, worseOf(b, c)));
      expect(worseOf(a, a)).toBe(a);
      if (a === 'unknown' || a === 'applied') expect(['unknown', 'applied']).toContain(worseOf(a, b));
    }),
    { seed: 1 },
  );
});

test('a 401 refreshes the key once in a call', () => {
  for (const method of METHODS) {
    const state = { ...first, method, keyRefreshed: false };
    expect(verdictOn(failure('status', 401), state)).toBe('refresh_key');
  }
});

test.each([506, 507, 511, 520, 599])('%i: retry for GET, throw for writes, effect unknown', (status) => {
  const verdicts = METHODS.map((method) => verdictOn(failure('status', status), { ...first, method }));
  expect(verdicts).toEqual(['retry', 'throw', 'throw', 'throw']);
  expect(effectOf(failure('status', status), retry)).toBe('unknown');
});
