import { expect, test } from 'vitest';
import { WindowLength } from '../../../src/transport/rate-window.ts';

/** Shows a window a service with aligned windows: calls at a phase, a refusal when the budget is spent. */
function shown(windowMs: number, phaseMs: number): { window: WindowLength; now: number } {
  const window = new WindowLength();
  let now = 1_000_000 * windowMs + phaseMs;
  for (let cycle = 0; cycle < 3; cycle += 1) {
    window.opened(now, now + 5);
    window.same(now + 50, false);
    const refusedAt = now + 60;
    const retryAfterMs = Math.ceil((windowMs - (refusedAt % windowMs)) / 1_000) * 1_000;
    window.refused(refusedAt, refusedAt + 5, retryAfterMs);
    now = refusedAt + 5 + retryAfterMs;
  }
  window.opened(now, now + 5);
  return { window, now };
}

test('nothing is known of the length before two openings', () => {
  const window = new WindowLength();
  expect(window.probeAt(false)).toBe(0);
  window.opened(10_000, 10_010);
  expect([window.lengthMs, window.probeAt(false)]).toEqual([0, 0]);
});

test.each([1_000, 2_000, 5_000, 10_000, 60_000, 3_600_000])(
  'windows of %i ms are told from refusals rounded up to whole seconds',
  (windowMs) => {
    for (const phaseMs of [0, 150, 700, 990]) {
      const { window, now } = shown(windowMs, phaseMs);
      expect(window.lengthMs).toBe(windowMs);
      expect(window.probeAt(false)).toBe(now + 5 + windowMs + 5);
    }
  },
);

test('a length that is not round is taken from the middle of what is possible', () => {
  const { window } = shown(7_000, 150);
  expect(window.lengthMs).toBeGreaterThan(6_400);
  expect(window.lengthMs).toBeLessThan(7_600);
});

test('a refused probe rules its length out', () => {
  const window = new WindowLength();
  window.opened(0, 10);
  window.refused(100, 110, 1_000);
  window.opened(1_110, 1_120);
  expect(window.lengthMs).toBe(1_000);
  window.refused(2_125, 2_130, 1_000);
  window.opened(3_130, 3_140);
  expect(window.lengthMs).toBe(2_000);
});

test('a length that has been right three times survives three refusals, but not for ever', () => {
  const { window, now } = shown(2_000, 0);
  let at = now;
  for (let time = 0; time < 3; time += 1) {
    at = window.probeAt(false);
    window.opened(at, at + 5);
  }
  for (let refusal = 1; refusal <= 4; refusal += 1) {
    at = window.probeAt(false);
    window.refused(at, at + 5, 1_000);
    at += 1_005;
    window.opened(at, at + 5);
    if (refusal <= 3) expect(window.lengthMs).toBe(2_000);
  }
  expect(window.lengthMs).not.toBe(2_000);
});

test('after a refusal the pause alone decides', () => {
  const { window, now } = shown(2_000, 0);
  window.refused(now + 100, now + 105, 2_000);
  expect(window.probeAt(false)).toBe(0);
});

test('a spare call is sent early, once a window, only where openings are known vaguely', () => {
  const { window } = shown(2_000, 0);
  let at = window.probeAt(false);
  window.opened(at, at + 5);
  const sure = window.probeAt(false);
  const early = window.probeAt(true);
  expect(early).toBeLessThan(sure);
  expect(early).toBeGreaterThan(at);

  window.same(early, true);
  expect(window.probeAt(true)).toBe(sure);

  // Found open halfway: the openings are known twice as well from then on.
  at = sure;
  window.opened(at, at + 5);
  expect(window.probeAt(false) - window.probeAt(true)).toBeLessThan(sure - early);
});

test('growth that turns out to have been an opening moves the next one', () => {
  const { window, now } = shown(2_000, 0);
  window.grew(now + 300);
  expect(window.probeAt(false)).toBe(now + 2_010);
  window.rolled();
  expect(window.probeAt(false)).toBe(now + 300 + 2_005);
});

test('growth before the first opening says nothing of the length', () => {
  const window = new WindowLength();
  window.grew(500);
  window.rolled();
  window.opened(1_000, 1_010);
  window.refused(1_100, 1_110, 1_000);
  window.opened(2_110, 2_120);
  expect(window.lengthMs).toBe(1_000);
});

test('a second refusal says less than the first: another user may have found an opening between them', () => {
  const window = new WindowLength();
  window.opened(0, 10);
  window.refused(100, 110, 1_000);
  window.refused(1_900, 1_910, 1_000);
  window.opened(2_910, 2_920);
  expect(window.lengthMs).toBe(1_000);
});

test('a service that makes its windows shorter is followed', () => {
  const { window, now } = shown(5_000, 150);
  let at = now;
  for (let time = 0; time < 2; time += 1) {
    window.refused(at + 100, at + 105, 1_000);
    at += 1_105;
    window.opened(at, at + 5);
  }
  expect(window.lengthMs).toBe(1_000);
});
