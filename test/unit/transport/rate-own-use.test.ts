import { expect, it } from 'vitest';
import { OwnUse } from '../../../src/transport/rate-own-use.ts';
import { heapAfterCollection } from '../../support/heap.ts';

const START = Date.parse('2026-01-05T08:00:00Z');

// Each of two million times takes eight bytes: kept, they would be 16 MB.
it('calls whose answers never show a budget are forgotten', () => {
  const use = new OwnUse();
  const before = heapAfterCollection();
  for (let n = 0; n < 2_000_000; n++) use.sent(START + n);
  expect(heapAfterCollection() - before).toBeLessThan(6);
  expect(use.least).toBe(-2_000_000);
});

it('a figure that own calls of long ago explain is no sign of another user', () => {
  const use = new OwnUse();
  use.restart(100, 0);
  for (let n = 0; n < 10; n++) use.sent(START + n);
  use.sent(START + 40_000);
  expect(use.explains(90, START + 40_000, START + 40_050)).toBe(true);
  expect(use.explains(70, START + 40_000, START + 40_050)).toBe(false);
});
