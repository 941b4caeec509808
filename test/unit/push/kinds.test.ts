import {
  type AnyAccountingError,
  CheckpointError,
  ConcurrentRunError,
  ForbiddenError,
  ScopeRequiredError,
  UnauthenticatedError,
  UnknownApiError,
  ValidationFailedError,
} from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { afterWrite, NOTHING_SHOWN, reachOf, rejectionOf } from '../../../src/push/kinds.ts';

const facts = { outcome: 'rejected' } as const;
const response = (status: number, problem = {}) =>
  ({ status, problem: { violations: [], extensions: {}, ...problem }, headers: {} }) as never;
const status = (code: number) => new UnknownApiError('', facts, response(code));
const denied = new ForbiddenError('', facts, response(403));
const invalid = new ValidationFailedError('', facts, response(422));
const page = new UnauthenticatedError('', facts, response(401));
const scope = new ScopeRequiredError('', facts, response(403));

test.each<[what: string, error: AnyAccountingError, reach: string]>([
  [
    'a 401 with a problem document',
    new UnauthenticatedError('', facts, response(401, { title: 'No' })),
    'push',
  ],
  [
    'a 401 of a framework',
    new UnauthenticatedError('', facts, response(401, { extensions: { code: 401 } })),
    'push',
  ],
  ['another push', new ConcurrentRunError('', 'running'), 'push'],
  ['a store that failed', new CheckpointError(''), 'push'],
  ['a 401 that is a page', page, 'kind'],
  ['a missing scope', scope, 'kind'],
  ['a 405', status(405), 'kind'],
  ['a 406', status(406), 'kind'],
  ['a 415', status(415), 'kind'],
  ['a 403', denied, 'denied'],
  ['a 422', invalid, 'row'],
  ['a 503', status(503), 'row'],
])('the error of a write: %s is about its %s', (_, error, reach) => {
  expect(reachOf(error)).toBe(reach);
});

const many = (count: number, error: AnyAccountingError) => Array<AnyAccountingError>(count).fill(error);

test.each<[what: string, ends: readonly (AnyAccountingError | undefined)[], expected: object | undefined]>([
  ['one 405', [status(405)], { isStop: true }],
  ['a 405 after a success', [undefined, status(405)], undefined],
  ['nineteen 403s', many(19, denied), undefined],
  ['twenty 403s', many(20, denied), { error: denied, isStop: false }],
  ['nineteen 403s, a 422 and nineteen more', [...many(19, denied), invalid, ...many(19, denied)], undefined],
  ['a success, then twenty 403s', [undefined, ...many(20, denied)], undefined],
  ['twenty 403s and a success', [...many(20, denied), undefined], undefined],
])('what further writes of a kind meet after %s', (_, ends, expected) => {
  const shown = ends.reduce((before, end) => afterWrite(before, end), NOTHING_SHOWN);
  const rejection = rejectionOf(shown);
  if (expected === undefined) expect(rejection).toBeUndefined();
  else expect(rejection).toMatchObject(expected);
});
