import { expect, test } from 'vitest';
import { resolveOptions } from '../../../src/options.ts';
import type { CallOptions } from '../../../src/transport/call-options.ts';
import { callSettings, checkRequestOptions } from '../../../src/transport/settings.ts';
import { thrown } from '../../support/caught.ts';

const { settings } = resolveOptions({ baseUrl: 'https://books.example', apiKey: 'k' }).habits;

test('a call without limits of its own has those of its client', () => {
  expect(callSettings(settings, {})).toBe(settings);
  expect(callSettings(settings, { timeoutMs: undefined, retry: undefined })).toBe(settings);
});

test('each limit can be set alone', () => {
  expect(callSettings(settings, { timeoutMs: 1 })).toEqual({ ...settings, timeoutMs: 1 });
  expect(callSettings(settings, { deadlineMs: Number.POSITIVE_INFINITY }).deadlineMs).toBe(
    Number.POSITIVE_INFINITY,
  );
  expect(callSettings(settings, { maxWaitMs: 0 })).toEqual({ ...settings, maxWaitMs: 0 });
  expect(callSettings(settings, { retry: { maxAttempts: 1 } }).retry).toEqual({
    ...settings.retry,
    maxAttempts: 1,
  });
  expect(
    callSettings(settings, { retry: { baseDelayMs: 0, maxDelayMs: undefined, updates: false } }).retry,
  ).toEqual({
    ...settings.retry,
    baseDelayMs: 0,
    updates: false,
  });
});

test('the smallest limits and the names of a service’s own 409 are taken as they are', () => {
  const retry = { maxDelayMs: 0, inProgressTypes: ['still_running'] };
  expect(callSettings(settings, { deadlineMs: 1, retry })).toEqual({
    ...settings,
    deadlineMs: 1,
    retry: { ...settings.retry, ...retry },
  });
  expect(callSettings(settings, { retry: { inProgressTypes: [] } }).retry.inProgressTypes).toEqual([]);
});

const AT_LEAST_ONE = 'must be a number of milliseconds, at least 1';
const AT_LEAST_ZERO = 'must be a number of milliseconds, at least 0';
const WHOLE = 'must be a whole number of at least 1';
const NAMES = 'must be an array of strings, none of them empty';
const OBJECT = 'must be an object';

test.each<[options: unknown, argument: string, problem: string]>([
  [{ timeoutMs: 0 }, 'timeoutMs', AT_LEAST_ONE],
  [{ timeoutMs: Number.NaN }, 'timeoutMs', AT_LEAST_ONE],
  [{ timeoutMs: '5' }, 'timeoutMs', AT_LEAST_ONE],
  [{ timeoutMs: null }, 'timeoutMs', AT_LEAST_ONE],
  [{ deadlineMs: 0 }, 'deadlineMs', AT_LEAST_ONE],
  [{ maxWaitMs: -1 }, 'maxWaitMs', AT_LEAST_ZERO],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts', WHOLE],
  [{ retry: { maxAttempts: 1.5 } }, 'retry.maxAttempts', WHOLE],
  [{ retry: { maxAttempts: Number.POSITIVE_INFINITY } }, 'retry.maxAttempts', WHOLE],
  [{ retry: { baseDelayMs: -1 } }, 'retry.baseDelayMs', AT_LEAST_ZERO],
  [{ retry: { maxDelayMs: Number.NaN } }, 'retry.maxDelayMs', AT_LEAST_ZERO],
  [{ retry: { inProgressTypes: 'still_running' } }, 'retry.inProgressTypes', NAMES],
  [{ retry: { inProgressTypes: ['still_running', ''] } }, 'retry.inProgressTypes', NAMES],
  [{ retry: { inProgressTypes: [409] } }, 'retry.inProgressTypes', NAMES],
  [{ retry: 3 }, 'retry', OBJECT],
  [{ retry: null }, 'retry', OBJECT],
  [{ retry: [3] }, 'retry', OBJECT],
  [null, 'options', OBJECT],
  ['fast', 'options', OBJECT],
])('the options %j are refused: %s %s', (options, argument, problem) => {
  expect(thrown(() => callSettings(settings, options as CallOptions))).toMatchObject({
    code: 'invalid_input',
    message: `${argument}: ${problem}.`,
    argument,
  });
});

test('a signal must be one', () => {
  const wrong = { signal: 'stop' as unknown as AbortSignal };
  expect(thrown(() => checkRequestOptions(wrong))).toMatchObject({
    argument: 'signal',
    message: 'signal: must be an AbortSignal.',
  });
  expect(thrown(() => checkRequestOptions({ signal: null as unknown as AbortSignal }))).toMatchObject({
    argument: 'signal',
  });
  expect(checkRequestOptions({ signal: undefined, headers: undefined })).toBeUndefined();
  expect(checkRequestOptions({ signal: AbortSignal.abort() })).toBeUndefined();
});

test('the options of one call must be an object, and its headers are looked at', () => {
  expect(thrown(() => checkRequestOptions(null as never))).toMatchObject({ argument: 'options' });
  const headers = { 'X-AUTH-TOKEN': 'other' };
  expect(thrown(() => checkRequestOptions({ headers }))).toMatchObject({ argument: 'headers.x-auth-token' });
});
