import { expect, test } from 'vitest';
import { createRateGate } from '../../../src/transport/rate-gate.ts';
import { gateCall, okAnswer } from '../../support/rate-calls.ts';
import { chance, VirtualTime } from '../../support/rate-virtual-time.ts';

const WAITERS = 5;
const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1);

/** Calls wait while one is on its way; then no timer runs for so long, and the answer is there when they do again. */
async function orderAfterStall(stallMs: number, seed: number): Promise<number[]> {
  const time = new VirtualTime();
  const random = chance(seed);
  let freeAt = 0;
  const gate = createRateGate(time.clock(random, () => freeAt));
  const first = await gate.enter(gateCall());
  const order: number[] = [];
  for (let number = 0; number < WAITERS; number += 1) {
    void gate.enter(gateCall()).then((pass) => {
      order.push(number);
      time.after(2 + 8 * random(), () => pass.answered(okAnswer(90 - order.length)));
    });
  }
  await time.runUntil(time.now + 100 + 50 * random());
  freeAt = time.now + stallMs;
  time.after(stallMs + (seed % 3) / 2, () => first.answered(okAnswer(90)));
  await time.runUntil(freeAt + 5_000);
  return order;
}

test.each([
  ['the machine was asleep for an hour', 3_600_000],
  ['the process was busy for a second', 1_000],
  ['the process was busy for so long that some are late and others nearly', 51],
  ['the process was busy for a moment', 20],
])(`calls go on in the order of arrival after %s (seeds 1 to ${SEEDS.length})`, async (_name, stallMs) => {
  const orders = await Promise.all(SEEDS.map((seed) => orderAfterStall(stallMs, seed)));
  const inOrder = Array.from({ length: WAITERS }, (_, index) => index);
  expect(
    orders.flatMap((order, index) => (String(order) === String(inOrder) ? [] : [[SEEDS[index], order]])),
  ).toEqual([]);
});
