/** One process of workers that call the loopback server for a while, with a rate limiter or without. */
import { setTimeout as sleep } from 'node:timers/promises';
import { limitersFor } from '../../src/rate-limiter/limiters.ts';
import type { LimitedCall, QuotaReport } from '../../src/rate-limiter/rate-limiter.ts';
import type { Setting } from './rate-loopback.ts';

const ATTEMPTS = 5;
const options = JSON.parse(process.argv[2] ?? '{}') as Setting & {
  runs: { key: string; startAt: number }[];
  port: number;
  forMs: number;
};
const url = `http://127.0.0.1:${options.port}/`;
const failed: Record<string, number> = {};

async function call(key: string): Promise<QuotaReport> {
  const response = await fetch(url, { headers: { 'x-auth-token': key } });
  const { status, headers } = response;
  const retryAfter = headers.get('retry-after');
  const report = {
    status,
    limit: Number(headers.get('x-ratelimit-limit')),
    remaining: Number(headers.get('x-ratelimit-remaining')),
    retryAfterMs: retryAfter === null ? undefined : Number(retryAfter) * 1000,
  };
  await response.arrayBuffer();
  return report;
}

const limiters = limitersFor('shared');

async function limitedWorker(key: string, over: AbortSignal): Promise<void> {
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
    wasRejected = await limiters(url, key).run(limitedCall, async (permit) => {
      const report = await call(key);
      permit.settle(report);
      return report.status === 429;
    });
  }
}

async function plainWorker(key: string, over: AbortSignal): Promise<void> {
  for (let attempt = 1; !over.aborted; attempt += 1) {
    const { status, retryAfterMs = 0 } = await call(key);
    if (status === 429 && attempt < ATTEMPTS) {
      await sleep(retryAfterMs, undefined, { signal: over });
      continue;
    }
    if (status === 429) failed[key] = (failed[key] ?? 0) + 1;
    attempt = 0;
  }
}

async function work(key: string, over: AbortSignal): Promise<void> {
  try {
    await (options.isLimited ? limitedWorker(key, over) : plainWorker(key, over));
  } catch {
    if (!over.aborted) failed[key] = (failed[key] ?? 0) + 1;
  }
}

await Promise.all(
  options.runs.map(async ({ key, startAt }) => {
    await sleep(Math.max(0, startAt - Date.now()));
    const over = AbortSignal.timeout(options.forMs);
    await Promise.all(Array.from({ length: options.workers }, () => work(key, over)));
  }),
);
process.send?.(failed);
process.disconnect?.();
