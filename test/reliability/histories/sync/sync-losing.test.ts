import { describe, expect, test } from 'vitest';
import { ORDERS, type Order } from '../service/orders.ts';
import { losesForGood, type Strategy } from './sync-naive.ts';

const HISTORIES = 60;
const GOOD: Strategy = { watermark: 'start', keepsStart: true, sinkFirst: true };

/** Soak runs count them all; the others only want to see one. */
const soak = process.env.SOAK_HISTORIES !== undefined;

async function losses(strategy: Strategy, order: Order, histories = HISTORIES): Promise<number> {
  let count = 0;
  for (let seed = 0; seed < histories && (soak || count === 0); seed++) {
    if (await losesForGood(strategy, { seed, churn: 1, order })) count++;
  }
  return count;
}

function report(name: string, counts: readonly number[]): void {
  if (process.env.SOAK_HISTORIES !== undefined)
    console.info(`${name}: ${counts.join(' / ')} of ${HISTORIES}`);
}

/** No test of how busy the machine is. */
const timeout = 3_600_000;

describe('with the same keyset pagination and the same crashes, the simulation sees lost records with', {
  timeout,
}, () => {
  test.each([
    ['the largest updatedAt as the watermark', { ...GOOD, watermark: 'largest' }],
    ['the end of the run as the watermark', { ...GOOD, watermark: 'end' }],
    ['a new watermark whenever a run resumes', { ...GOOD, keepsStart: false }],
    ['a checkpoint that is written before the rows', { ...GOOD, sinkFirst: false }],
  ] as const)('%s', async (name, strategy) => {
    const counts = [];
    for (const order of ORDERS) counts.push(await losses(strategy, order));
    report(name, counts);
    for (const [index, count] of counts.entries()) expect(count, ORDERS[index]).toBeGreaterThan(0);
  });

  test('a sync that takes the start of the run, keeps it, and writes the rows first loses nothing', async () => {
    for (const order of ORDERS) expect(await losses(GOOD, order, soak ? HISTORIES : 15), order).toBe(0);
  });
});
