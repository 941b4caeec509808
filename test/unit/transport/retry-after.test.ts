import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseHttpDate, parseRetryAfter } from '../../../src/transport/retry-after.ts';

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
  ['RFC 850', 'Saturday, 31-Jan-26 12:00:30 GMT'],
  ['asctime', 'Sat Jan 31 12:00:30 2026'],
])('an HTTP-date in the form %s is measured from the Date of the response', (_, value) => {
  expect(parseRetryAfter(value, NOW)).toBe(30_000);
  expect(parseRetryAfter(value, 'Sat, 31 Jan 2026 12:00:20 GMT')).toBe(10_000);
  expect(parseRetryAfter(` ${value} `, ' Sat, 31 Jan 2026 12:00:20 GMT ')).toBe(10_000);
});

test.each([
  [2026, '31-Jan-76', 2076],
  [2026, '31-Jan-77', 1977],
  [2080, '31-Jan-30', 2030],
  [2080, '31-Jan-29', 2129],
])('in %i, the two-digit year of %s is the one within 50 years: %i', (now, day, year) => {
  vi.setSystemTime(Date.UTC(now, 0, 31, 12));
  const value = `Sunday, ${day} 12:00:00 GMT`;
  expect(parseHttpDate(value)).toBe(Date.UTC(year, 0, 31, 12));
});

test('an asctime day of one digit is padded with a blank', () => {
  expect(parseHttpDate('Sun Nov  6 08:49:37 1994')).toBe(Date.UTC(1994, 10, 6, 8, 49, 37));
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
  ' ',
  '1.5',
  '-1',
  '+1',
  '1e3',
  '0x10',
  'soon',
  '1, 2',
  'Infinity',
  '2026-01-31T12:00:30Z',
  'Sat, 31 Jan 2026 12:00:30 CET',
  'sat, 31 jan 2026 12:00:30 gmt',
  'Sat, 31 Foo 2026 12:00:30 GMT',
  'Sat, 31 Jan 2026 24:00:00 GMT',
  'Sat, 31 Jan 2026 12:60:00 GMT',
  'Sat, 31 Jan 2026 12:00:60 GMT',
  'Fri, 30 Feb 2026 12:00:30 GMT',
])('Retry-After: %j is ignored, as if the header were absent', (value) => {
  expect(parseRetryAfter(value, NOW)).toBeUndefined();
});
