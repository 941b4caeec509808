import { expect, test } from 'vitest';
import { isTimestamp } from '../../../src/schemas/timestamp.ts';

test.each([
  '2024-02-29',
  '2026-01-31T12:00Z',
  '2026-01-31T12:00:00.123456789Z',
  '2026-01-31T12:00:00-0930',
  '2026-01-31T23:59:59+14:00',
])('%s is a timestamp', (text) => {
  expect(isTimestamp(text)).toBe(true);
});

test.each([
  '',
  '2026',
  '2026-13-01',
  '2026-02-30',
  '2026-01-31 12:00:00Z',
  '2026-01-31T12:00:00',
  '2026-01-31T24:00:00Z',
  '2026-01-31T12:00:00+15:00',
  '2026-01-31T12:00:00z',
  ' 2026-01-31',
  '1769860800',
  // Date reads years before 100 as others.
  '0050-06-15',
])('%j is not a timestamp', (text) => {
  expect(isTimestamp(text)).toBe(false);
});
