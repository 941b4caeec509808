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

it('a call that was sent too recently to have been counted explains nothing', () => {
  const use = new OwnUse();
  use.restart(100, 0);
  use.sent(START);
  expect(use.explains(99, START, START + 50)).toBe(true);
  for (const ms of [60, 61, 62]) use.sent(START + ms);
  expect(use.least).toBe(96);
  expect(use.explains(98, START + 20, START + 70)).toBe(true);
  expect(use.explains(97, START + 20, START + 70)).toBe(false);
});

it('of calls on their way when it began anew, those that are not recent may have been counted before', () => {
  const old = new OwnUse();
  old.restart(100, 2);
  expect(old.explains(97, START, START + 50)).toBe(true);
  expect(old.explains(96, START, START + 50)).toBe(false);

  const recent = new OwnUse();
  for (const ms of [0, 1]) recent.sent(START + ms);
  recent.restart(100, 2);
  expect(recent.least).toBe(98);
});

it('how fast calls are is said once enough of them were answered', () => {
  const use = new OwnUse();
  for (let answer = 1; answer < 20; answer += 1) use.explains(0, START, START + 40 + answer);
  expect(use.fastestMs).toBe(0);
  use.explains(0, START, START + 90);
  expect(use.fastestMs).toBe(41);
});
