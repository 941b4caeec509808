import { describe, expect, test } from 'vitest';
import { BudgetReading } from '../../src/tools/probe/budget.ts';

interface Played {
  readonly limit: number;
  readonly windowMs: number;
  readonly everyMs: number;
  readonly requests: number;
  readonly kind?: 'fixed' | 'bucket';
}

/** A key that is used without a pause, against a budget of one kind; each answer takes 20 ms. */
function play({ limit, windowMs, everyMs, requests, kind = 'fixed' }: Played): BudgetReading {
  const reading = new BudgetReading();
  let now = 1_700_000_000_123;
  let window = -1;
  let tokens = limit;
  for (let index = 0; index < requests; index += 1) {
    const processedAt = now + 10;
    const current = Math.floor(processedAt / windowMs);
    if (kind === 'fixed' && current !== window) tokens = limit;
    if (kind === 'bucket') tokens = Math.min(limit, tokens + (everyMs * limit) / windowMs);
    window = current;
    if (tokens < 1) {
      // Held back until there is budget: as a gate does that knows when.
      now = kind === 'fixed' ? (current + 1) * windowMs : now + windowMs / limit;
      continue;
    }
    tokens -= 1;
    reading.seen(
      { limit, remaining: Math.floor(tokens), observedAt: new Date(now + 20) },
      { sentAt: now, receivedAt: now + 20 },
    );
    now += everyMs;
  }
  return reading;
}

const windowOf = (played: Played) => play(played).findings().windowMs.value;

describe('the window of a budget', () => {
  test('is told where two of them opened while somebody looked', () => {
    expect(windowOf({ limit: 20, windowMs: 1000, everyMs: 40, requests: 130 })).toBe(1000);
    expect(windowOf({ limit: 50, windowMs: 5000, everyMs: 90, requests: 150 })).toBe(5000);
    expect(windowOf({ limit: 40, windowMs: 10_000, everyMs: 210, requests: 150 })).toBe(10_000);
  });

  test('is unknown where a long wait hides when it opened', () => {
    expect(windowOf({ limit: 30, windowMs: 10_000, everyMs: 100, requests: 130 })).toBe(undefined);
  });

  test('is unknown where fewer than two opened', () => {
    expect(windowOf({ limit: 1000, windowMs: 60_000, everyMs: 50, requests: 150 })).toBe(undefined);
    expect(windowOf({ limit: 100, windowMs: 60_000, everyMs: 50, requests: 150 })).toBe(undefined);
  });

  test('is unknown where the budget refills, or never shrinks', () => {
    expect(windowOf({ limit: 20, windowMs: 1000, everyMs: 40, requests: 130, kind: 'bucket' })).toBe(
      undefined,
    );
    const reading = new BudgetReading();
    for (let at = 0; at < 10; at += 1) {
      reading.seen(
        { limit: 100, remaining: 100, observedAt: new Date(at) },
        { sentAt: at * 1000, receivedAt: at * 1000 + 5 },
      );
    }
    expect(reading.findings().windowMs).toMatchObject({
      known: false,
      reason: expect.stringContaining('never shrank'),
    });
  });

  test('is unknown where the budget had hardly shrunk: a refill looks the same', () => {
    const reading = new BudgetReading();
    for (const [second, remainings] of [
      [0, [99, 98, 97]],
      [1, [99, 98, 97]],
      [2, [99, 98]],
    ] as const) {
      for (const [index, remaining] of remainings.entries()) {
        const at = second * 1000 + index * 10;
        reading.seen({ limit: 100, remaining, observedAt: new Date(at) }, { sentAt: at, receivedAt: at + 5 });
      }
    }
    expect(reading.findings().windowMs.value).toBe(undefined);
  });

  test('is unknown where two lengths are round enough', () => {
    const reading = new BudgetReading();
    let at = 0;
    for (const remaining of [9, 4, 0, 9, 4, 0, 9]) {
      reading.seen({ limit: 10, remaining, observedAt: new Date(at) }, { sentAt: at, receivedAt: at + 900 });
      at += 1000;
    }
    expect(reading.findings().windowMs.value).toBe(undefined);
  });
});
