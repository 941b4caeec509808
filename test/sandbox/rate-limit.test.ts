import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { call } from './support/call.ts';

const limited = (rateLimit: SandboxOptions['rateLimit'] & object) =>
  createSandbox({ rateLimit: { windowMs: 10_000, ...rateLimit }, clock: Date.UTC(2026, 0, 31, 12) });

/** After so many ms: what is left of the quota after each request, or Retry-After of a 429. */
type Step = readonly [advanceMs: number, seen: string];

test.each<
  [kind: 'fixed' | 'fixed-from-first' | 'sliding-counter' | 'token-bucket', limit: number, ...Step[]]
>([
  // At multiples of the window.
  ['fixed', 2, [7_500, '1 0 429:3'], [2_499, '429:1'], [1, '1']],
  // With the first request after the last window.
  ['fixed-from-first', 1, [7_500, '0 429:10'], [15_000, '0 429:10']],
  // The window before counts by the part of it that is left.
  ['sliding-counter', 4, [0, '3 2 1 0 429:13'], [15_000, '1 0 429:3'], [2_500, '0 429:3']],
  // Refills steadily, up to its size.
  ['token-bucket', 5, [0, '4 3 2 1 0 429:2'], [2_000, '0 429:2'], [60_000, '4 3 2 1 0 429:2']],
])('the limit %s of %i responds as its window says', async (kind, limit, ...steps) => {
  const sandbox = limited({ kind, limit });
  const send = async () => {
    const { status, headers } = await call(sandbox, '/accounts');
    return status === 429 ? `429:${headers.get('retry-after')}` : headers.get('x-ratelimit-remaining');
  };
  // It works after the clock was turned back, and rejected requests do not count.
  for (const [advanceMs, expected] of [...steps, [-3_600_000, ''], [20_000, `${limit - 1}`]] as const) {
    sandbox.clock.advance(advanceMs);
    const seen = [];
    for (const _ of expected === '' ? Array(20) : expected.split(' ')) seen.push(await send());
    if (expected !== '') expect(seen.join(' ')).toBe(expected);
  }
});

test('a request without a valid key is never rate limited, and rateLimit false reports a quota that never shrinks', async () => {
  const sandbox = limited({ limit: 1 });
  for (const key of ['unknown', 'unknown', null, null]) {
    const { status, headers } = await call(sandbox, '/accounts', { key });
    expect([status, headers.get('x-ratelimit-limit')]).toEqual([401, '1']);
  }
  const unlimited = createSandbox({ rateLimit: false });
  for (const _ of [1, 2])
    expect((await call(unlimited, '/boms')).headers.get('x-ratelimit-remaining')).toBe('1000000');
});
