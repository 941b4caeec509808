import { expect, test } from 'vitest';
import { resolveOptions } from '../../../src/options.ts';
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
  expect(callSettings(settings, { retry: { attempts: 1 } }).retry).toEqual({
    ...settings.retry,
    attempts: 1,
  });
  expect(callSettings(settings, { retry: { baseMs: 0, capMs: undefined, updates: false } }).retry).toEqual({
    ...settings.retry,
    baseMs: 0,
    updates: false,
  });
});

test.each([
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs'],
  [{ timeoutMs: '5' as unknown as number }, 'timeoutMs'],
  [{ deadlineMs: -1 }, 'deadlineMs'],
  [{ maxWaitMs: -1 }, 'maxWaitMs'],
  [{ retry: { attempts: 0 } }, 'retry.attempts'],
  [{ retry: { attempts: 1.5 } }, 'retry.attempts'],
  [{ retry: { attempts: Number.POSITIVE_INFINITY } }, 'retry.attempts'],
  [{ retry: { baseMs: -1 } }, 'retry.baseMs'],
  [{ retry: { capMs: Number.NaN } }, 'retry.capMs'],
])('%j is refused', (options, argument) => {
  expect(thrown(() => callSettings(settings, options))).toMatchObject({ code: 'invalid_input', argument });
});

test('a signal must be one', () => {
  const wrong = { signal: 'stop' as unknown as AbortSignal };
  expect(thrown(() => checkRequestOptions(wrong))).toMatchObject({ argument: 'signal' });
  expect(thrown(() => checkRequestOptions({ signal: null as unknown as AbortSignal }))).toMatchObject({
    argument: 'signal',
  });
  expect(checkRequestOptions({ signal: undefined, headers: undefined })).toBeUndefined();
});
