import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseRetryAfter } from '../../../src/transport/retry-after.ts';

const NOW = 'Sat, 31 Jan 2026 12:00:00 GMT';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(NOW) });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['0', 0],
  ['1', 1_000],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['007', 7_000],
  ['99999999999999999999', Number.MAX_SAFE_INTEGER],
])('Retry-After: %j is a number of seconds', (value, expected) => {
  expect(parseRetryAfter(value, null)).toBe(expected);
});

test.each([
  ['IMF-fixdate', 'Sat, 31 Jan 2026 12:00:30 GMT'],
  ['IMF-fixdate with +0000', 'Sat, 31 Jan 2026 12:00:30 +0000'],
  ['IMF-fixdate of the wrong weekday', 'Mon, 31 Jan 2026 12:00:30 GMT'],
])('an HTTP-date in the form %s is measured from the Date of the response', (_, value) => {
  expect(parseRetryAfter(value, NOW)).toBe(30_000);
  expect(parseRetryAfter(value, 'Sat, 31 Jan 2026 12:00:20 GMT')).toBe(10_000);
  expect(parseRetryAfter(` ${value} `, ' Sat, 31 Jan 2026 12:00:20 GMT ')).toBe(10_000);
});

test('an HTTP-date is measured from the local clock if the response has no Date', () => {
  expect(parseRetryAfter('Sat, 31 Jan 2026 12:01:00 GMT', null)).toBe(60_000);
  expect(parseRetryAfter('Sat, 31 Jan 2026 12:01:00 GMT', 'yesterday')).toBe(60_000);
});

test('an HTTP-date that has passed means no wait', () => {
  expect(parseRetryAfter('Sat, 31 Jan 2026 11:00:00 GMT', NOW)).toBe(0);
});

test.each([
  null,
  '',
  '1.5',
  '-1',
  '1e3',
  'soon',
  '2026-01-31T12:00:30Z',
  'Sat Jan 31 12:00:30 2026',
  'Sat, 31 Jan 2026 12:00:30 CET',
  'Sat, 31 Jan 2026 13:00:30 +0100',
  'Sat, 31 Jan 2026 24:00:00 GMT',
  'Fri, 30 Feb 2026 12:00:30 GMT',
])('Retry-After: %j is ignored, as if the header were absent', (value) => {
  expect(parseRetryAfter(value, NOW)).toBeUndefined();
});
