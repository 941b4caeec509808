import { inspect } from 'node:util';
import * as sdk from 'accounting-data-sdk';
import { beforeAll, expect, test, vi } from 'vitest';

const facts = {
  method: 'GET',
  path: '/products/7',
  attempts: 2,
  outcome: 'unknown',
  retryable: true,
} as const;
const response = {
  status: 404,
  problem: {
    type: 'not_found',
    title: undefined,
    detail: undefined,
    instance: undefined,
    violations: [],
    extensions: {},
  },
  requestId: 'r1',
  rateLimit: undefined,
  headers: {},
  retryAfterMs: 1_000,
};
const api = (
  Class: new (message: string, f: typeof facts, a: typeof response) => sdk.AnyApiError | sdk.RateLimitedError,
) => new Class('said', facts, response);

/** One of each class that a call can throw. */
const errors = [
  [api(sdk.MalformedRequestError), sdk.MalformedRequestError, 'malformed_request'],
  [api(sdk.UnauthenticatedError), sdk.UnauthenticatedError, 'unauthenticated'],
  [api(sdk.ForbiddenError), sdk.ForbiddenError, 'forbidden'],
  [api(sdk.ScopeRequiredError), sdk.ScopeRequiredError, 'scope_required'],
  [api(sdk.NotFoundError), sdk.NotFoundError, 'not_found'],
  [api(sdk.ValidationFailedError), sdk.ValidationFailedError, 'validation_failed'],
  [api(sdk.IdempotencyKeyRequiredError), sdk.IdempotencyKeyRequiredError, 'idempotency_key_required'],
  [api(sdk.RateLimitedError), sdk.RateLimitedError, 'rate_limited'],
  [api(sdk.UnknownApiError), sdk.UnknownApiError, 'unknown_problem'],
  [
    new sdk.ConnectionError('said', facts, { reason: 'ECONNRESET' }),
    sdk.ConnectionError,
    'connection_failed',
  ],
  [new sdk.TimeoutError('said', facts, { limit: 'attempt' }), sdk.TimeoutError, 'timeout'],
  [new sdk.RedirectError('said', facts, { status: 302 }), sdk.RedirectError, 'redirected'],
  [
    new sdk.UnexpectedResponseError('said', facts, { status: 200, reason: 'empty' }),
    sdk.UnexpectedResponseError,
    'unexpected_response',
  ],
  [new sdk.InvalidInputError('limit', 'said'), sdk.InvalidInputError, 'invalid_input'],
  [new sdk.FilterIgnoredError('said', facts), sdk.FilterIgnoredError, 'filter_ignored'],
  [new sdk.CheckpointError('said', facts), sdk.CheckpointError, 'checkpoint'],
  [new sdk.ConcurrentRunError('said', facts), sdk.ConcurrentRunError, 'concurrent_run'],
] as const;

let other: typeof sdk;

beforeAll(async () => {
  vi.resetModules();
  other = await import('accounting-data-sdk');
});

test.each(errors)('%s is its class, an AccountingError and an Error, with its code', (error, Class, code) => {
  expect(error).toBeInstanceOf(Class);
  expect(error).toBeInstanceOf(sdk.AccountingError);
  expect(error).toBeInstanceOf(Error);
  expect(error.code).toBe(code);
  expect(error.name).toBe(Class.name);
  expect(sdk.isAccountingError(error)).toBe(true);
  expect(sdk.isAccountingError(error, code)).toBe(true);
  expect(sdk.isApiError(error)).toBe(
    'status' in error && 'problem' in response && error instanceof sdk.ApiError,
  );
});

test('no error is an instance of a class that it is not', () => {
  for (const [error, own] of errors) {
    for (const [, Class] of errors) expect(error instanceof Class).toBe(Class === own);
  }
});

test.each(errors)('%s is known to another copy of the package', (error, Class, code) => {
  const Other = other[Class.name as keyof typeof other] as typeof Class;
  expect(Other).not.toBe(Class);
  expect(error instanceof Other).toBe(true);
  expect(error instanceof other.AccountingError).toBe(true);
  expect(other.isAccountingError(error, code)).toBe(true);
  expect(other.isApiError(error)).toBe(error instanceof sdk.ApiError);
});

test('the guards distinguish codes', () => {
  const [[malformed]] = errors;
  expect(sdk.isAccountingError(malformed, 'not_found')).toBe(false);
  expect(sdk.isApiError(malformed, 'malformed_request')).toBe(true);
  expect(sdk.isApiError(malformed, 'not_found')).toBe(false);
});

test.each([undefined, null, 7, 'not_found', {}, { code: 'not_found' }, new Error('x'), () => {}])(
  '%j is not an error of this package',
  (value) => {
    expect(sdk.isAccountingError(value)).toBe(false);
    expect(sdk.isApiError(value)).toBe(false);
    expect(value instanceof sdk.AccountingError).toBe(false);
    expect(value instanceof sdk.NotFoundError).toBe(false);
  },
);

test('a subclass of the caller means its own instances alone', () => {
  class MyNotFound extends sdk.NotFoundError {}
  class Unrelated extends sdk.NotFoundError {}
  const mine = api(MyNotFound);
  expect(mine).toBeInstanceOf(MyNotFound);
  expect(mine).toBeInstanceOf(sdk.NotFoundError);
  expect(mine).not.toBeInstanceOf(Unrelated);
  expect(api(sdk.NotFoundError)).not.toBeInstanceOf(MyNotFound);
});

test('every code of the package has exactly one class', () => {
  const codes = errors.map(([, , code]) => code);
  expect(new Set(codes).size).toBe(errors.length);
  const classes = Object.keys(sdk).filter((name) => name.endsWith('Error') && !name.startsWith('is'));
  const abstract = ['AccountingError', 'ApiError', 'PushError', 'SyncError', 'ReconcileAbortedError'];
  expect(classes.toSorted()).toEqual([...errors.map(([, Class]) => Class.name), ...abstract].toSorted());
});

test('toJSON holds what is safe to log, name and message first', () => {
  const json = JSON.parse(JSON.stringify(api(sdk.NotFoundError)));
  expect(Object.keys(json).slice(0, 2)).toEqual(['name', 'message']);
  expect(json).toMatchObject({
    name: 'NotFoundError',
    message: 'said',
    code: 'not_found',
    status: 404,
    method: 'GET',
    path: '/products/7',
    attempts: 2,
    outcome: 'unknown',
    requestId: 'r1',
  });
  expect(json).not.toHaveProperty('stack');
});

test.each(errors)('%s is inspected with its name, message, stack and fields', (error, Class, code) => {
  const shown = inspect(error);
  expect(shown.split('\n')[0]).toContain(`${Class.name}: `);
  expect(shown).toContain('error-identity.test.ts');
  expect(shown).toContain(`code: '${code}'`);
  expect(String(error)).toBe(`${Class.name}: ${error.message}`);
});

test('an error can be inspected even if the runtime passes no inspect function', () => {
  const error = api(sdk.NotFoundError) as unknown as Record<
    symbol,
    (depth: number, options: object) => string
  >;
  expect(error[Symbol.for('nodejs.util.inspect.custom')]?.(2, {})).toContain('"code":"not_found"');
});

test('an error inside another value is inspected with its fields', () => {
  expect(inspect({ failed: [api(sdk.NotFoundError)] }, { depth: 5 })).toContain("code: 'not_found'");
});

test.each(errors)('%s survives structuredClone as an Error with its message', (error) => {
  const clone = structuredClone(error) as Error;
  expect(clone).toBeInstanceOf(Error);
  expect(clone.message).toBe(error.message);
});

test('a caller may rename an error, as tools for monitoring do', () => {
  const error = new sdk.CheckpointError('said');
  error.name = 'MyError';
  expect(error.name).toBe('MyError');
  expect(Reflect.defineProperty(error, 'name', { value: 'Another', enumerable: true })).toBe(true);
});

test('an error without a stack shows its name and message', () => {
  const error = new sdk.CheckpointError('said');
  Object.defineProperty(error, 'stack', { value: undefined });
  expect(inspect(error)).toMatch(/^CheckpointError: said \{/);
});
