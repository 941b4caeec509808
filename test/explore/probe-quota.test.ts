import { createClient } from 'accounting-data-sdk';
import { probe } from 'accounting-data-sdk/explore';
import { afterEach, expect, test, vi } from 'vitest';

interface Quota {
  readonly limit: number;
  readonly windowMs: number;
  /** The time between two requests while quota is left. */
  readonly everyMs: number;
  readonly kind?: 'fixed' | 'token-bucket' | 'unused';
  /** How long a response takes. */
  readonly tookMs?: number;
}

afterEach(() => void vi.useRealTimers());

/** What a probe finds out about the quota of a service whose clock the test sets. */
async function quotaFindings({ limit, windowMs, everyMs, kind = 'fixed', tookMs = 20 }: Quota) {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_123 });
  const advance = (ms: number) => void vi.setSystemTime(Date.now() + ms);
  const windowAt = (ms: number) => Math.floor(ms / windowMs);
  let remaining = limit;
  let window = 0;
  const client = createClient({
    baseUrl: 'https://quota.example',
    apiKey: 'key',
    rateLimiter: false,
    fetch: async () => {
      const now = windowAt(Date.now() + tookMs / 2);
      if (kind === 'fixed' && now !== window) remaining = limit;
      if (kind === 'token-bucket') remaining = Math.min(limit, remaining + (everyMs * limit) / windowMs);
      if (kind !== 'unused') remaining -= 1;
      window = now;
      advance(tookMs);
      const headers = {
        'X-RateLimit-Limit': `${limit}`,
        'X-RateLimit-Remaining': `${Math.floor(remaining)}`,
      };
      return Response.json([{ id: '1' }, { id: '2' }, { id: '3' }], { headers });
    },
  });
  const { quota, requests } = await probe(client, {
    onProgress() {
      advance(everyMs - tookMs);
      // Without quota a client waits for the next window.
      while (kind === 'fixed' && remaining < 1 && windowAt(Date.now()) === window) advance(everyMs);
    },
  });
  expect(requests).toBeGreaterThan(100);
  return quota;
}

test.each<[Quota, number]>([
  [{ limit: 20, windowMs: 1000, everyMs: 40 }, 1000],
  [{ limit: 50, windowMs: 5000, everyMs: 90 }, 5000],
  [{ limit: 30, windowMs: 10_000, everyMs: 300 }, 10_000],
])('measures the window of a quota if two windows begin during the probe: %j', async (quota, windowMs) => {
  const findings = await quotaFindings(quota);
  expect(findings).toMatchObject({ limit: { value: quota.limit }, windowMs: { value: windowMs } });
});

test.each<[string, Quota, string]>([
  ['fewer than two begin', { limit: 1000, windowMs: 600_000, everyMs: 50 }, 'takes two'],
  ['the quota refills', { limit: 20, windowMs: 1000, everyMs: 40, kind: 'token-bucket' }, 'may be a refill'],
  ['the quota never shrinks', { limit: 100, windowMs: 1000, everyMs: 10, kind: 'unused' }, 'never shrank'],
  ['only a small part is used', { limit: 100, windowMs: 1000, everyMs: 300 }, 'may be a refill'],
  ['several usual lengths fit', { limit: 3, windowMs: 3000, everyMs: 1000, tookMs: 900 }, 'apart'],
])('does not guess the window of a quota if %s', async (_, quota, reason) => {
  const { windowMs } = await quotaFindings(quota);
  expect(windowMs).toEqual({ known: false, reason: expect.stringContaining(reason) });
});
