import { inspect } from 'node:util';
import * as sdk from 'accounting-data-sdk';
import { beforeAll, expect, test, vi } from 'vitest';
import { provocations } from '../support/provocations.ts';

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

type ErrorClass = typeof sdk.NotFoundError;
const classOf = (name: string, from: object = sdk) =>
  (from as Record<string, ErrorClass>)[name] as ErrorClass;

/** One of each class. */
const errors = await Promise.all(
  Object.entries(provocations).map(
    async ([name, provoke]) =>
      [name, (await provoke('key-of-the-company')) as sdk.AnyAccountingError] as const,
  ),
);

let other: typeof sdk;

beforeAll(async () => {
  vi.resetModules();
  other = await import('accounting-data-sdk');
});

test.each(errors)('%s is its class, an AccountingError and an Error, with its code', (name, error) => {
  expect(error).toBeInstanceOf(classOf(name));
  expect(error).toBeInstanceOf(sdk.AccountingError);
  expect(error).toBeInstanceOf(Error);
  expect(error.name).toBe(name);
  expect(sdk.isAccountingError(error)).toBe(true);
  expect(sdk.isAccountingError(error, error.code)).toBe(true);
  expect(sdk.isApiError(error)).toBe(error instanceof sdk.ApiError);
});

test('no error is an instance of a class that it is not', () => {
  for (const [own, error] of errors) {
    for (const [name] of errors) expect(error instanceof classOf(name)).toBe(name === own);
  }
});

test.each(errors)('%s is recognised by another copy of the package', (name, error) => {
  const Other = classOf(name, other);
  expect(Other).not.toBe(classOf(name));
  expect(error instanceof Other).toBe(true);
  expect(error instanceof other.AccountingError).toBe(true);
  expect(other.isAccountingError(error, error.code)).toBe(true);
  expect(other.isApiError(error)).toBe(error instanceof sdk.ApiError);
});

test('the guards distinguish codes', () => {
  const malformed = api(sdk.MalformedRequestError);
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

test('instanceof a subclass of the caller matches its own instances only', () => {
  class MyNotFound extends sdk.NotFoundError {}
  class Unrelated extends sdk.NotFoundError {}
  const mine = api(MyNotFound);
  expect(mine).toBeInstanceOf(MyNotFound);
  expect(mine).toBeInstanceOf(sdk.NotFoundError);
  expect(mine).not.toBeInstanceOf(Unrelated);
  expect(api(sdk.NotFoundError)).not.toBeInstanceOf(MyNotFound);
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

test.each(errors)('%s survives structuredClone as an Error with its message', (_, error) => {
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
