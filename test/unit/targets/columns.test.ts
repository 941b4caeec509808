import { expect, test } from 'vitest';
import { unreadableDateIn } from '../../../src/targets/columns.ts';

test('only a timestamp that a view shows as null is called unreadable', () => {
  const unreadable = (updatedAt: unknown) => unreadableDateIn({ updatedAt }, 'updatedAt');
  const moments = ['2026-01-31T12:00Z', '2026-01-31t12:00:00.5z', '2026-01-31 12:00:00+02', 1769860800123];
  const withZones = ['2026-01-31 12:00 UTC', '2026-01-31T12:00:00GMT', '2026-01-31 12:00:00.5 -1230'];
  for (const value of [...moments, ...withZones, null, undefined]) expect(unreadable(value)).toBeUndefined();
  for (const value of ['2026-01-31 12:00:00', '2026-01-31', 'soon', '', 12345, 1.5, true])
    expect(unreadable(value)).toBe(value);
});
