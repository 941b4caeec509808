import { expect, test } from 'vitest';
import { type Opening, Refill } from '../../../src/transport/rate-refill.ts';

const opening = (gained: number, elapsedMs: number, own: Partial<Opening> = {}): Opening => ({
  gained,
  limit: 100,
  elapsedMs,
  surplus: 0,
  spendingMs: 50,
  ...own,
});

/** A refill of fifty calls a second that has been told. */
function told(): Refill {
  const refill = new Refill();
  refill.opened(opening(50, 1_000));
  refill.opened(opening(12, 250));
  return refill;
}

test('an opening of all the budget leaves the wait to the window', () => {
  const refill = new Refill();
  refill.opened(opening(100, 2_000));
  expect(refill.waitMs).toBeUndefined();
});

test('a part of the budget is worth one try after a quarter of the time', () => {
  const refill = new Refill();
  refill.opened(opening(50, 1_000));
  expect(refill.waitMs).toBe(250);
  expect(refill.active).toBe(false);
});

test('as much as an even refill brings by then: probes follow where a few calls are expected', () => {
  const refill = told();
  expect(refill.active).toBe(true);
  expect(refill.waitMs).toBeCloseTo(5 / (12 / 250), 0);
});

test('less than that: the window decides again, and the next try comes later', () => {
  const refill = new Refill();
  refill.opened(opening(50, 1_000));
  refill.opened(opening(2, 250));
  expect(refill.waitMs).toBeUndefined();
  for (let skipped = 0; skipped < 2; skipped += 1) {
    refill.opened(opening(50, 1_000));
    expect(refill.waitMs).toBeUndefined();
  }
  refill.opened(opening(50, 1_000));
  expect(refill.waitMs).toBe(250);
});

test('a refused try ends it too', () => {
  const refill = new Refill();
  refill.opened(opening(50, 1_000));
  refill.refused();
  expect(refill.waitMs).toBeUndefined();
});

test('a bucket that was full is told by what was paid for meanwhile', () => {
  const refill = new Refill();
  refill.opened(opening(100, 1_000, { surplus: 0, spendingMs: 100 }));
  expect(refill.waitMs).toBeUndefined();
  refill.opened(opening(100, 1_000, { surplus: 80, spendingMs: 100 }));
  expect(refill.waitMs).toBeUndefined();
  refill.opened(opening(100, 1_000, { surplus: 10, spendingMs: 100 }));
  expect(refill.waitMs).toBe(250);
});

test('refusals slow the probes down and, when they go on, end them', () => {
  const refill = told();
  const before = refill.waitMs ?? 0;
  refill.refused();
  expect(refill.waitMs).toBeCloseTo(2 * before);
  refill.refused();
  expect(refill.active).toBe(true);
  refill.refused();
  expect(refill.active).toBe(false);
});

test('all of the budget at once after a refusal is a window', () => {
  const refill = told();
  refill.refused();
  refill.opened(opening(100, 1_000));
  expect(refill.active).toBe(false);
});

test('who finds little because others were faster does not wait ever longer', () => {
  const refill = told();
  const before = refill.waitMs ?? 0;
  for (let time = 0; time < 10; time += 1) refill.opened(opening(1, 200));
  expect(refill.waitMs).toBeLessThan(4 * before);
  refill.missed();
  expect(refill.waitMs).toBeLessThan(6 * before);
});

test('a limit that makes no sense makes no wait of hours', () => {
  const refill = new Refill();
  refill.opened(opening(50, 1_000, { limit: 1e15 }));
  refill.opened(opening(12, 250, { limit: 1e15 }));
  expect(refill.waitMs).toBeLessThanOrEqual(500);
});
