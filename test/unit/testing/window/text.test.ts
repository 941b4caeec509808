import { expect, test } from 'vitest';
import { agoText, bytesText, countText, decoded, timeText } from '../../../../src/testing/window/text.ts';

test.each([
  [-5_000, 'just now'],
  [1_499, 'just now'],
  [89_000, '89 s ago'],
  [90_000, '2 min ago'],
  [5_340_000, '89 min ago'],
  [5_400_000, '2 h ago'],
  [126_000_000, '35 h ago'],
  [129_600_000, '2 days ago'],
])('%d ms ago is written as %s', (ms, text) => {
  expect(agoText(ms)).toBe(text);
});

test('counts, sizes, times and addresses are written as a person reads them', () => {
  expect([countText(1, 'fault'), countText(1_200, 'fault')]).toEqual(['1 fault', '1,200 faults']);
  expect([999, 65_536, 20_000_000].map(bytesText)).toEqual(['999 B', '65.5 kB', '20.0 MB']);
  expect(timeText(new Date(2026, 0, 31, 1, 2, 3, 4).getTime())).toBe('01:02:03.004');
  expect(['/boms?id%5Bgt%5D=1', '/boms/%E0%A4%A'].map(decoded)).toEqual(['/boms?id[gt]=1', '/boms/%E0%A4%A']);
});
