import { inspect } from 'node:util';
import * as errors from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { provocations } from '../support/provocations.ts';

const KEY = 'secret-key-of-the-company';

/** What an operator has to find in the printed error. */
interface Row {
  readonly code: errors.AccountingErrorCode;
  /** What happened, and why. */
  readonly what: RegExp;
  /** Method and path, or the option, or the place in the store. */
  readonly where: RegExp;
  /** What to do next. */
  readonly advice: RegExp;
}

const CREATE = /^POST \/products\b/;

const rows: Readonly<Record<string, Row>> = {
  MalformedRequestError: {
    code: 'malformed_request',
    what: /returned 400 \(malformed_request\)/,
    where: CREATE,
    advice: /Check the query and the body/,
  },
  UnauthenticatedError: {
    code: 'unauthenticated',
    what: /returned 401 \(unauthenticated\)/,
    where: CREATE,
    advice: /Check the API key/,
  },
  ForbiddenError: {
    code: 'forbidden',
    what: /returned 403 \(forbidden\)/,
    where: CREATE,
    advice: /[Uu]se a key that may/,
  },
  ScopeRequiredError: {
    code: 'scope_required',
    what: /returned 403 \(scope_required\)/,
    where: CREATE,
    advice: /Use a key with the permission/,
  },
  NotFoundError: {
    code: 'not_found',
    what: /returned 404 \(not_found\)/,
    where: CREATE,
    advice: /Check baseUrl/,
  },
  ValidationFailedError: {
    code: 'validation_failed',
    what: /returned 422 \(validation_failed\).*\[.+\]/,
    where: CREATE,
    advice: /Correct the fields named in violations/,
  },
  IdempotencyKeyRequiredError: {
    code: 'idempotency_key_required',
    what: /returned 422 .*removed Idempotency-Key/,
    where: CREATE,
    advice: /make it pass on this header/,
  },
  RateLimitedError: {
    code: 'rate_limited',
    what: /returned 429 \(rate_limited\)/,
    where: CREATE,
    advice: /Wait for 9999000 ms/,
  },
  UnknownApiError: {
    code: 'unknown_problem',
    what: /returned 409 \(https:/,
    where: CREATE,
    advice: /ask the operator of the service what it means/,
  },
  ConnectionError: {
    code: 'connection_failed',
    what: /got no response \(\w+ 127\.0\.0\.1:\d+\)\. The connection broke/,
    where: CREATE,
    advice: /may have carried it out \(outcome: unknown\): repeat it only under the same idempotencyKey/,
  },
  TimeoutError: {
    code: 'timeout',
    what: /got no complete response within timeoutMs \(\d+ ms\)\./,
    where: CREATE,
    advice: /may have carried it out \(outcome: unknown\): repeat it only under the same idempotencyKey/,
  },
  RedirectError: {
    code: 'redirected',
    what: /was redirected/,
    where: CREATE,
    advice: /correct baseUrl/,
  },
  UnexpectedResponseError: {
    code: 'unexpected_response',
    what: /returned 200, but a record does not have the documented shape \(.*name: /,
    where: CREATE,
    advice: /Ask the operator of the service.*has carried it out \(outcome: applied\)/,
  },
  InvalidInputError: {
    code: 'invalid_input',
    what: /must not/,
    where: /^baseUrl: /,
    advice: /apiKey/,
  },
  FilterIgnoredError: {
    code: 'filter_ignored',
    what: /outside the requested bounds on id: the service ignored the filter/,
    where: /^GET \/accounts /,
    advice: /Use pagination: 'page'/,
  },
  CheckpointError: {
    code: 'checkpoint',
    what: /is damaged, or was not written by this package/,
    where: /under accounting-data-sdk:acme:accounts/,
    advice: /a sync then reads everything again/,
  },
  ConcurrentRunError: {
    code: 'concurrent_run',
    what: /Another run wrote the state/,
    where: /under accounting-data-sdk:acme:accounts/,
    advice: /Make sure that only one run of a tenant and collection is active at a time/,
  },
  SyncError: {
    code: 'sync_failed',
    what: /^The sync of acme failed for \d+ of \d+ collections: .+ returned 403/,
    where: /GET \/accounts returned/,
    advice: /[Uu]se a key that may/,
  },
  PushError: {
    code: 'push_failed',
    what: /^The push of acme stopped \(0 rows read; 0 created, 0 updated\): .+ returned 403/,
    where: /GET \/products returned/,
    advice: /[Uu]se a key that may/,
  },
  ReconcileAbortedError: {
    code: 'reconcile_aborted',
    what: /nothing was deleted/,
    where: /accounts/,
    advice: /API key/,
  },
};

/** Every class that can be thrown: the abstract ones are extended by others. */
const classes = Object.entries(errors)
  .filter(([, value]) => typeof value === 'function' && value.prototype instanceof Error)
  .map(([name]) => name)
  .filter((name) => !['AccountingError', 'ApiError', 'ApiErrorFields'].includes(name));

const cause = () => {
  const socket = Object.assign(new Error('socket closed'), { code: 'E_SOCKET', request: { key: KEY } });
  return Object.assign(new RangeError('pool is empty', { cause: socket }), { code: 'E_POOL', key: KEY });
};

/** As `new Error(message, { cause })` has it. */
function withCause(error: unknown, value: unknown): void {
  Object.defineProperty(error, 'cause', { value, configurable: true, writable: true });
}

test('the table has a row for every class that can be thrown', () => {
  expect(Object.keys(rows).toSorted()).toEqual(classes.toSorted());
  expect(Object.keys(provocations).toSorted()).toEqual(classes.toSorted());
  expect(new Set(Object.values(rows).map(({ code }) => code)).size).toBe(classes.length);
});

test.each(classes)('%s prints what happened, where, why and what to do, without the key', async (name) => {
  const row = rows[name];
  const error = (await provocations[name]?.(KEY)) as errors.AnyAccountingError;
  expect(error.name).toBe(name);
  expect(error.code).toBe(row?.code);
  const { message } = error;
  for (const part of ['what', 'where', 'advice'] as const) expect(message).toMatch(row?.[part] ?? /^$/);
  expect(message).toMatch(/[^\s.!?:;,][.!?]$/);
  expect(message).not.toMatch(/\n/);
  if (error.method === 'GET') expect(message).not.toMatch(/outcome/);
  expect(message).not.toMatch(/see cause/i);

  // A SyncError prints the causes of its reasons.
  const failed = error instanceof errors.SyncError ? error.errors[0]?.error : error;
  const causeOf = (json: string) => {
    const printed = JSON.parse(json);
    return (error instanceof errors.SyncError ? printed.errors[0] : printed).cause;
  };
  withCause(failed, undefined);
  const without = { console: inspect(error, { depth: 10 }), json: JSON.stringify(error) };
  withCause(failed, cause());
  const withIt = { console: inspect(error, { depth: 10 }), json: JSON.stringify(error) };
  for (const { console: text, json } of [without, withIt]) {
    expect(text).toContain(`${name}: ${message}`);
    expect(text).toMatch(/\n +at /);
    expect(json).not.toContain('stack');
    expect(JSON.parse(json)).toMatchObject({ name, message, code: row?.code });
    expect(text).toContain(`code: '${row?.code}'`);
    expect(text + json).not.toContain(KEY);
  }
  expect(causeOf(without.json)).toBeUndefined();
  expect(without.console).not.toMatch(/\bcause: /);
  expect(causeOf(withIt.json)).toEqual({
    name: 'RangeError',
    message: 'pool is empty',
    code: 'E_POOL',
    cause: { name: 'Error', message: 'socket closed', code: 'E_SOCKET' },
  });
  for (const text of ['RangeError', 'pool is empty', 'E_POOL', 'socket closed', 'E_SOCKET']) {
    expect(withIt.console).toContain(text);
  }
});
