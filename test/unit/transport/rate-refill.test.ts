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

test('a try waits for two calls to have come back, no longer than half of the time', () => {
  const waitAfter = (gained: number) => {
    const refill = new Refill();
    refill.opened(opening(gained, 900));
    return refill.waitMs;
  };
  expect([waitAfter(2), waitAfter(6), waitAfter(30)]).toEqual([450, 300, 225]);
});

test('after a probe that found no more than before, the next waits half as long again', () => {
  const refill = told();
  const before = refill.waitMs ?? 0;
  refill.missed();
  expect(refill.waitMs).toBeCloseTo(1.5 * before);
  expect(refill.active).toBe(true);
});

test('a refusal halves what is expected, and the next opening makes up for half of that', () => {
  const refill = told();
  refill.refused();
  refill.opened(opening(12, 250));
  expect(refill.waitMs).toBeCloseTo(5 / 0.036);
});

test('the most that was measured lately fades slowly, and half of it is what is expected at least', () => {
  const refill = told();
  refill.opened(opening(24, 250));
  refill.opened(opening(1, 200));
  expect(refill.waitMs).toBeCloseTo(5 / ((0.97 * 24) / 250 / 2));
});

test('only all of the budget at once is a window, and only where a refill explains less than a quarter', () => {
  const refilling = () => {
    const refill = new Refill();
    refill.opened(opening(50, 1_000));
    refill.opened(opening(10, 200));
    return refill;
  };
  const [part, explained, sudden] = [refilling(), refilling(), refilling()];
  part.opened(opening(80, 200));
  explained.opened(opening(100, 500));
  sudden.opened(opening(100, 499));
  expect([part.active, explained.active, sudden.active]).toEqual([true, true, false]);
});

test('each try that fails makes the next four times rarer', () => {
  const refill = new Refill();
  const skipped: number[] = [];
  for (let attempt = 0; attempt < 3; attempt += 1) {
    let count = 0;
    for (; refill.waitMs === undefined; count += 1) refill.opened(opening(50, 1_000));
    skipped.push(count - 1);
    refill.refused();
  }
  expect(skipped).toEqual([0, 2, 8]);
});

test.each([
  [4, false],
  [5, true],
  [22, true],
  [23, false],
])('a surplus of %i calls where a refill would have paid for ten is worth a try: %s', (surplus, tries) => {
  const refill = new Refill();
  refill.opened(opening(100, 1_000, { surplus, spendingMs: 100 }));
  expect(refill.waitMs !== undefined).toBe(tries);
});

test('nine tenths of the budget count as all of it', () => {
  const [all, part] = [new Refill(), new Refill()];
  all.opened(opening(90, 2_000));
  part.opened(opening(89, 2_000));
  expect([all.waitMs, part.waitMs]).toEqual([undefined, 500]);
});

test('after a refusal all of the budget is a window, even where a refill would explain it', () => {
  const [refused, not] = [told(), told()];
  refused.refused();
  refused.opened(opening(90, 1_100));
  not.opened(opening(90, 1_100));
  expect([refused.active, not.active]).toEqual([false, true]);
});

test('a try that finds no more than before ends it', () => {
  const refill = new Refill();
  refill.opened(opening(50, 1_000));
  refill.missed();
  expect(refill.waitMs).toBeUndefined();
});
