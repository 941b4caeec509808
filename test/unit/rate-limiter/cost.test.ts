import { expect, test } from 'vitest';
import { limitersFor } from '../../../src/rate-limiter/limiters.ts';
import type { LimitedCall } from '../../../src/rate-limiter/rate-limiter.ts';

const CALL: LimitedCall = {
  priority: 'interactive',
  wasRejected: false,
  signal: undefined,
  deadlineAt: Number.POSITIVE_INFINITY,
  maxWaitMs: 60_000,
  timeoutMs: 30_000,
  onWait: () => {},
};

/** The CPU time of a piece of work, in ms. */
async function cpuMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function callsAtOnce(count: number): Promise<unknown> {
  const limiter = limitersFor('client')('https://books.example.com', 'key');
  let remaining = 1_000_000;
  const send = () =>
    limiter.run(CALL, async (permit) => {
      await new Promise((resolve) => setImmediate(resolve));
      remaining -= 1;
      permit.settle({ status: 200, limit: 1_000_000, remaining, retryAfterMs: undefined });
    });
  return Promise.all(Array.from({ length: count }, send));
}

async function keysInTurn(count: number): Promise<void> {
  const limiters = limitersFor('client');
  for (let key = 0; key < count; key += 1) {
    await limiters('https://books.example.com', `key-${key}`).run(CALL, async (permit) => {
      permit.settle({ status: 200, limit: 100, remaining: 99, retryAfterMs: undefined });
    });
  }
}

test.each([
  ['calls at once', callsAtOnce],
  ['keys', keysInTurn],
])('20,000 %s cost no more than in proportion to 10,000', async (_name, work) => {
  await work(2_000);
  const ten = Math.min(await cpuMs(() => work(10_000)), await cpuMs(() => work(10_000)));
  const twenty = await cpuMs(() => work(20_000));
  // Work in proportion to the square would take four times as long; the floor is for the collector.
  expect(twenty).toBeLessThan(Math.max(200, 3.5 * ten));
});
