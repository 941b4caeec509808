/** One process of workers that call the service of `rate-service.ts` for a while; sends the failed calls of each key. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limitersFor } from '../../../src/rate-limiter/limiters.ts';
import type { LimitedCall, QuotaReport } from '../../../src/rate-limiter/rate-limiter.ts';

export interface RateCallersOptions {
  readonly port: number;
  /** For each key. */
  readonly workers: number;
  readonly runs: readonly { readonly key: string; readonly startAt: number }[];
  readonly forMs: number;
}

const { port, workers, runs, forMs } = JSON.parse(process.argv[2] ?? '{}') as RateCallersOptions;
const url = `http://127.0.0.1:${port}/`;
const limiters = limitersFor('shared');
const failed: Record<string, number> = {};

async function call(key: string): Promise<QuotaReport> {
  const response = await fetch(url, { headers: { 'x-auth-token': key } });
  const { status, headers } = response;
  const retryAfter = headers.get('retry-after');
  await response.arrayBuffer();
  return {
    status,
    limit: Number(headers.get('x-ratelimit-limit')),
    remaining: Number(headers.get('x-ratelimit-remaining')),
    retryAfterMs: retryAfter === null ? undefined : Number(retryAfter) * 1000,
  };
}

async function work(key: string, over: AbortSignal): Promise<void> {
  for (let wasRejected = false; !over.aborted; ) {
    const limitedCall: LimitedCall = {
      priority: 'interactive',
      wasRejected,
      signal: over,
      deadlineAt: Number.POSITIVE_INFINITY,
      maxWaitMs: 60_000,
      timeoutMs: 30_000,
      onWait: () => {},
    };
    try {
      wasRejected = await limiters(url, key).run(limitedCall, async (permit) => {
        const report = await call(key);
        permit.settle(report);
        return report.status === 429;
      });
    } catch {
      if (over.aborted) return;
      failed[key] = (failed[key] ?? 0) + 1;
    }
  }
}

await Promise.all(
  runs.map(async ({ key, startAt }) => {
    await sleep(Math.max(0, startAt - Date.now()));
    const over = AbortSignal.timeout(forMs);
    await Promise.all(Array.from({ length: workers }, () => work(key, over)));
  }),
);
process.send?.(failed);
process.disconnect?.();
