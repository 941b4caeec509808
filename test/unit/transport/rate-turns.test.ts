import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TimerId } from '../../../src/transport/rate-clock.ts';
import { createRateGate, GateRefusal } from '../../../src/transport/rate-gate.ts';
import { BARE, enter, gateCall, know, okAnswer, refusal } from '../../support/rate-calls.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.useRealTimers();
});

/** A gate whose timers are only written down. */
function watchedGate(random: number) {
  const delays: number[] = [];
  const gate = createRateGate({
    now: () => NOW,
    setTimeout: (_, delayMs) => delays.push(delayMs) as unknown as TimerId,
    clearTimeout: () => {},
    random: () => random,
  });
  return { gate, delays };
}

test('who comes when the gate has just opened does not pass those who wait', async () => {
  const gate = createRateGate();
  const first = await gate.enter(gateCall());
  const second = enter(gate);
  await vi.advanceTimersByTimeAsync(1);
  first.answered(BARE);
  const third = enter(gate);
  await vi.advanceTimersByTimeAsync(0);
  expect([second.pass, third.pass]).toEqual([undefined, undefined]);
  await vi.advanceTimersByTimeAsync(1);
  expect(second.pass).toBeDefined();
  await vi.advanceTimersByTimeAsync(2);
  expect(third.pass).toBeDefined();
});

test.each([
  [0.5, 1],
  [0, 0.75],
  [1, 1.25],
])('while only an answer can tell, those further back look less often (chance %d)', (random, jitter) => {
  const { gate, delays } = watchedGate(random);
  for (let call = 0; call <= 200; call += 1) enter(gate);
  const looks = [0, 8, 20, 100, 199].map((place) => (delays[place] ?? 0) / jitter);
  expect(looks).toEqual([2, 2, 5, 25, 40]);
});

test('where it is known when the gate opens, the first looks then and the others one after the other', async () => {
  const { gate, delays } = watchedGate(0.5);
  await know(gate, 50);
  (await gate.enter(gateCall())).answered(refusal(3_000));
  for (let call = 0; call <= 100; call += 1) enter(gate);
  expect([0, 20, 100].map((place) => delays[place])).toEqual([3_000, 3_005, 3_025]);
});

test('those who have had their turn no longer count as ahead', async () => {
  const { gate, delays } = watchedGate(0.5);
  const first = await gate.enter(gateCall());
  for (let call = 0; call < 40; call += 1) enter(gate);
  expect(delays.at(-1)).toBe(39 / 4);
  first.answered(okAnswer(40));
  // Five of the forty get their turn when the next one comes: as many at once as are no wave.
  enter(gate);
  expect(delays.at(-1)).toBe((40 - 5) / 4);
});

test('a gate in which somebody waits is not idle, though nothing is on its way', async () => {
  const gate = createRateGate();
  expect(gate.isIdle()).toBe(true);
  const first = await gate.enter(gateCall());
  expect(gate.isIdle()).toBe(false);
  const second = enter(gate);
  first.released();
  expect(gate.isIdle()).toBe(false);
  await vi.advanceTimersByTimeAsync(10);
  second.pass?.answered(okAnswer(50));
  expect(gate.isIdle()).toBe(true);
});

test('the grace for a pause of just the longest wait never outlasts the deadline', async () => {
  const gate = createRateGate();
  await know(gate, 50);
  (await gate.enter(gateCall())).answered(refusal(60_050));
  const patient = enter(gate, { maxWaitMs: 60_000 });
  const due = enter(gate, { maxWaitMs: 60_000, deadlineAt: NOW + 60_000 });
  await vi.advanceTimersByTimeAsync(0);
  expect(due.error).toBeInstanceOf(GateRefusal);
  await vi.advanceTimersByTimeAsync(60_100);
  expect([patient.error, patient.pass]).toEqual([undefined, expect.anything()]);
});

test('a turn that was given to a call which is then stopped goes to the next', async () => {
  const gate = createRateGate();
  const first = await gate.enter(gateCall());
  const stop = new AbortController();
  const stopped = enter(gate, { signal: stop.signal });
  first.answered(okAnswer(1));
  // Whoever comes gives out what is free, here to the one before.
  const next = enter(gate);
  stop.abort('enough');
  await vi.advanceTimersByTimeAsync(200);
  expect([stopped.error, next.error]).toEqual(['enough', undefined]);
  expect(next.pass).toBeDefined();
});

/** A gate in which the timers of the second call to wait do not run until they are let. */
function gateWithOneLate() {
  const held: (() => void)[] = [];
  const state = { holds: false };
  const gate = createRateGate({
    now: () => Date.now(),
    setTimeout: (run, delayMs) => {
      if (!state.holds) return setTimeout(run, delayMs);
      held.push(run);
      return 0 as unknown as TimerId;
    },
    clearTimeout: (id) => clearTimeout(id),
    random: () => 0.5,
  });
  const first = enter(gate);
  state.holds = true;
  const late = enter(gate);
  state.holds = false;
  const letGo = () => {
    for (const run of held.splice(0)) run();
  };
  return { gate, first, late, letGo };
}

test.each([
  ['before its turn came', 1_500],
  ['when its turn had come', 100],
])('a call that was taken for gone %s stands in line again when it wakes', async (_, answeredAfterMs) => {
  const { gate, first, late, letGo } = gateWithOneLate();
  const next = enter(gate);
  await vi.advanceTimersByTimeAsync(answeredAfterMs);
  first.pass?.answered(okAnswer(50));
  await vi.advanceTimersByTimeAsync(100);
  next.pass?.answered(okAnswer(49));
  await vi.advanceTimersByTimeAsync(1_500);
  // Another call gives out the turns that nobody has collected.
  const other = enter(gate);
  await vi.advanceTimersByTimeAsync(100);
  expect([next.pass, other.pass]).toEqual([expect.anything(), expect.anything()]);
  expect(late.pass).toBeUndefined();

  letGo();
  await vi.advanceTimersByTimeAsync(10);
  expect(late.pass).toBeDefined();
});
