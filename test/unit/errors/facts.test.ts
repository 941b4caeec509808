import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { ErrorResponse } from '../../../src/errors/api-error.ts';
import { apiErrorOf } from '../../../src/errors/api-error-of.ts';
import type { SyncReport } from '../../../src/errors/sync-report.ts';
import * as errors from '../../../src/index.ts';
import { parseProblem } from '../../../src/schemas/problem.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

function problemError(status: number, problem: object, more: Partial<ErrorResponse> = {}) {
  const response = {
    status,
    problem: parseProblem(problem),
    requestId: undefined,
    rateLimit: undefined,
    headers: {},
    retryAfterMs: undefined,
  };
  return apiErrorOf({ ...response, ...more }, { method: 'GET', path: '/products/7' });
}

test('what is not known of a call: no attempt, nothing sent, not to be repeated', () => {
  const error = new errors.CheckpointError('said');
  expect(error).toMatchObject({ attempts: 0, outcome: 'not_sent', retryable: false });
  expect(error).toMatchObject({ method: undefined, path: undefined, idempotencyKey: undefined });
});

test('what is known of a call is on its error', () => {
  const facts = {
    method: 'POST',
    path: '/products',
    attempts: 3,
    idempotencyKey: 'order:1',
    outcome: 'unknown',
    retryable: true,
  } as const;
  expect(new errors.ConnectionError('said', facts, { reason: 'ECONNRESET' })).toMatchObject(facts);
});

test('an input that cannot be right was never sent and is not to be repeated, whatever else is known', () => {
  const error = new errors.InvalidInputError('id.gt', 'must be a string', {
    method: 'GET',
    outcome: 'unknown',
    retryable: true,
  });
  expect(error).toMatchObject({ method: 'GET', outcome: 'not_sent', retryable: false, argument: 'id.gt' });
  expect(error.message).toBe('id.gt: must be a string.');
});

const classes = Object.entries(errors).filter(
  (entry): entry is [string, (typeof errors)['AccountingError']] =>
    typeof entry[1] === 'function' && 'brand' in entry[1],
);

test('every class has a brand of its own name, by which another copy of the package knows it', () => {
  expect(classes.length).toBeGreaterThan(15);
  for (const [name, Class] of classes) expect([name, Class.brand]).toEqual([name, name]);
  const brands = Object.getOwnPropertyDescriptor(
    problemError(404, { type: 'not_found' }),
    Symbol.for('accounting-data-sdk.error'),
  );
  expect(brands?.value).toEqual(['NotFoundError', 'ApiError', 'AccountingError']);
});

test('a caller may rename an error, as tools for monitoring do', () => {
  const error = new errors.CheckpointError('said');
  error.name = 'MyError';
  expect(error.name).toBe('MyError');
  expect(Reflect.defineProperty(error, 'name', { value: 'Another', enumerable: true })).toBe(true);
});

test('an error without a stack shows its name and message', () => {
  const error = new errors.CheckpointError('said');
  Object.defineProperty(error, 'stack', { value: undefined });
  expect(inspect(error)).toMatch(/^CheckpointError: said \{/);
});

test.each([
  ['malformed_request', 'Check the query and the body that were sent.'],
  ['unauthenticated', 'Check the API key and that it belongs to this service.'],
  ['forbidden', 'Use a key that may do this, or leave the record as it is.'],
  ['scope_required', 'Use a key with the permission that this needs.'],
  ['not_found', 'The company of this key has no such record: check the id.'],
  ['validation_failed', 'Correct the fields named in violations.'],
  [
    'idempotency_key_required',
    'Something between client and service removed Idempotency-Key: make it pass on this header.',
  ],
  ['rate_limited', 'Try again later, or allow longer waits with maxWaitMs.'],
  ['stock_frozen', 'This version does not know this error: ask the operator of the service what it means.'],
])('the message of %s says what to do next', (type, advice) => {
  expect(problemError(499, { type }).message).toBe(`GET /products/7 returned 499 (${type}). ${advice}`);
});

test.each([
  ['No such record', 'No such record.'],
  ['No such record.', 'No such record.'],
  ['Gone!  ', 'Gone!'],
  ['Gone... ', 'Gone.'],
  ['Why?!', 'Why?'],
  ['Sure?', 'Sure?'],
  ['See a.b', 'See a.b.'],
  ['  In 2.5 days', '  In 2.5 days.'],
])('a detail %j becomes the sentence %j', (detail, sentence) => {
  const { message } = problemError(404, { detail });
  expect(message).toBe(
    `GET /products/7 returned 404: ${sentence} The company of this key has no such record: check the id.`,
  );
});

test.each([
  [400, 'malformed_request'],
  [422, 'validation_failed'],
  [409, 'unknown_problem'],
])('violations without a type, under status %i, are %s', (status, code) => {
  expect(problemError(status, { violations: [{ propertyPath: 'name', message: 'is empty' }] }).code).toBe(
    code,
  );
});

test('a type that only quotes the address of an RFC is not a generic one', () => {
  expect(problemError(404, { type: 'https://www.rfc-editor.org/rfc/rfc9110#section-15' }).code).toBe(
    'not_found',
  );
  expect(problemError(404, { type: 'see https://www.rfc-editor.org/rfc/rfc9110' }).code).toBe(
    'unknown_problem',
  );
});

test('retryAt is as far ahead as retryAfterMs says, and absent where that is', () => {
  expect(problemError(429, {}, { retryAfterMs: 90_000 })).toMatchObject({
    retryAfterMs: 90_000,
    retryAt: new Date('2026-01-31T12:01:30Z'),
  });
  expect(problemError(429, {})).toMatchObject({ retryAfterMs: undefined, retryAt: undefined });
  expect(problemError(429, {}, { retryAfterMs: Number.MAX_VALUE }).retryAt).toBeUndefined();
});

test('an unexpected response lists its issues, or none', () => {
  const details = { status: 200, reason: 'wrong_shape' } as const;
  expect(new errors.UnexpectedResponseError('said', {}, details).issues).toEqual([]);
  const issues = ['salePrice: is a number'];
  expect(new errors.UnexpectedResponseError('said', {}, { ...details, issues }).issues).toEqual(issues);
});

test.each([
  ['checkpoint', () => new errors.CheckpointError('said')],
  ['concurrent_run', () => new errors.ConcurrentRunError('said')],
  ['connection_failed', () => new errors.ConnectionError('said')],
  ['filter_ignored', () => new errors.FilterIgnoredError('said', {})],
  ['invalid_input', () => new errors.InvalidInputError('limit', 'said')],
  ['redirected', () => new errors.RedirectError('said', {}, { status: 302 })],
  ['sync_failed', () => new errors.SyncError(report, { errors: [] })],
  ['timeout', () => new errors.TimeoutError('said', {}, { limit: 'attempt' })],
  [
    'unexpected_response',
    () => new errors.UnexpectedResponseError('said', {}, { status: 200, reason: 'empty' }),
  ],
])('an error has the code %s', (code, make) => {
  expect(make().code).toBe(code);
});

const report: SyncReport = {
  tenant: 'acme',
  startedAt: new Date(0),
  endedAt: new Date(1),
  records: 0,
  collections: [],
};

test('a sync that failed may be repeated where any of its failures may', () => {
  const lasting = { collection: 'accounts', error: new errors.CheckpointError('said') };
  const passing = {
    collection: 'boms',
    error: new errors.ConnectionError('said', { retryable: true }),
  };
  const strange = { collection: 'budgets', error: { retryable: true } };

  const both = new errors.SyncError(report, { errors: [lasting, passing] });
  expect(both).toMatchObject({ retryable: true, report, errors: [lasting, passing] });
  expect(both.cause).toBe(lasting.error);
  expect(new errors.SyncError(report, { errors: [lasting, strange] }).retryable).toBe(false);
});
