import { expect, test } from 'vitest';
import { boundAt, lowestOffset } from '../../../src/reading/bound.ts';

test.each<[shown: readonly unknown[], minutes: number | undefined]>([
  [['2026-01-31T10:00:00-12:00'], -720],
  [['2026-01-31T10:00:00+14:00'], 840],
  [['2026-01-31T10:00:00+00:00'], 0],
  [['2026-01-31T10:00:00+0530', '2026-01-31T10:00:00-05:00', '2026-01-31T10:00:00+02:00'], -300],
  // No service has these offsets. By the second one as a bound, changes would be missed.
  [['2026-01-31T10:00:00-12:01'], undefined],
  [['2026-01-31T10:00:00+14:01'], undefined],
  [['2026-01-31T10:00:00-20:00', '2026-01-31T10:00:00+01:00', '2026-01-31T10:00:00+20:00'], 60],
  // None, or no timestamp.
  [
    ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00', '2026-01-05:00', 1_769_853_600, null, undefined],
    undefined,
  ],
])('rows with the timestamps %j show the offset %j', (shown, minutes) => {
  expect(lowestOffset([null, undefined, ...shown.map((value) => ({ createdAt: value }))])).toBe(minutes);
  expect(lowestOffset(shown.map((value) => ({ updatedAt: value })))).toBe(minutes);
});

test.each([
  [undefined, '2026-01-04T20:00:00-12:00'],
  ['Z', '2026-01-05T08:00:00Z'],
  [0, '2026-01-05T08:00:00Z'],
  [-300, '2026-01-05T03:00:00-05:00'],
  [345, '2026-01-05T13:45:00+05:45'],
] as const)('a bound in the offset %j is %s', (known, bound) => {
  expect(boundAt('2026-01-05T08:00:00.999Z', known)).toBe(bound);
});

test('a bound whose local time would lie before the year 0 is in UTC', () => {
  expect(boundAt('0000-01-01T05:00:00Z', -300)).toBe('0000-01-01T00:00:00-05:00');
  expect(boundAt('0000-01-01T04:59:59Z', -300)).toBe('0000-01-01T04:59:59Z');
});
