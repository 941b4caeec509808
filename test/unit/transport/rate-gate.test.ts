import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createRateGate, GateRefusal } from '../../../src/transport/rate-gate.ts';
import { BARE, type Entry, enter, gateCall, know, okAnswer, refusal } from '../../support/rate-calls.ts';
import { chance } from '../../support/rate-virtual-time.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-03-01T12:00:00Z') });
  vi.spyOn(Math, 'random').mockImplementation(chance(2026));
});
afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const through = (entries: readonly Entry[]) => entries.filter(({ pass }) => pass !== undefined).length;

describe('what is not known yet', () => {
  test('the first call goes alone until its answer shows the budget', async () => {
    const gate = createRateGate();
    const entries = Array.from({ length: 10 }, () => enter(gate));
    await wait(1_000);
    expect(through(entries)).toBe(1);

    entries[0]?.pass?.answered(okAnswer(99));
    await wait(200);
    expect(through(entries)).toBeGreaterThan(1);
  });

  test('an answer without the headers opens the gate, and no call waits on a timer', async () => {
    const gate = createRateGate();
    (await gate.enter(gateCall())).answered(BARE);
    const entries = Array.from({ length: 300 }, () => enter(gate));
    await settle();
    expect(through(entries)).toBe(300);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a proxy's 502 without the headers does not open it", async () => {
    const gate = createRateGate();
    (await gate.enter(gateCall())).answered({ ...BARE, status: 502 });
    const entries = [enter(gate), enter(gate)];
    await wait(1_000);
    expect(through(entries)).toBe(1);
  });

  test('a service that stops sending the headers is not held back for ever', async () => {
    const gate = createRateGate();
    await know(gate, 5);
    for (let sent = 0; sent < 50; sent += 1) {
      const entry = enter(gate);
      await wait(100);
      expect(entry.pass).toBeDefined();
      entry.pass?.answered(BARE);
    }
  });

  test('a first call that never ends holds the others for a few seconds', async () => {
    const gate = createRateGate();
    enter(gate);
    const second = enter(gate);
    await wait(4_000);
    expect(second.pass).toBeUndefined();
    await wait(2_000);
    expect(second.pass).toBeDefined();
  });

  test('a first call that ends without an answer lets the next one go', async () => {
    const gate = createRateGate();
    const [first, second] = [enter(gate), enter(gate)];
    await settle();
    first.pass?.released();
    await wait(10);
    expect(second.pass).toBeDefined();
  });
});

describe('counting', () => {
  test('calls in flight count against what remains', async () => {
    const gate = createRateGate();
    await know(gate, 12);
    const entries = Array.from({ length: 30 }, () => enter(gate));
    await wait(1_000);
    const inFlight = through(entries);
    expect(inFlight).toBeGreaterThan(0);
    expect(inFlight).toBeLessThanOrEqual(12);
  });

  test('a budget that is spent is not asked for twice at once', async () => {
    const gate = createRateGate();
    await know(gate, 0);
    const entries = Array.from({ length: 5 }, () => enter(gate));
    await wait(1_000);
    expect(through(entries)).toBe(1);
  });

  test('the budget as last reported is remembered, refusals included', async () => {
    const gate = createRateGate();
    expect(gate.rateLimit).toBeUndefined();
    await know(gate, 42);
    expect(gate.rateLimit).toEqual({ limit: 100, remaining: 42, observedAt: new Date() });
    (await gate.enter(gateCall())).answered(refusal(1_000));
    expect(gate.rateLimit?.remaining).toBe(0);
  });

  test('a pass speaks once', async () => {
    const gate = createRateGate();
    const pass = await gate.enter(gateCall());
    pass.answered(okAnswer(50));
    pass.answered(okAnswer(3));
    pass.released();
    expect(gate.rateLimit?.remaining).toBe(50);
  });

  test('a pass that is lost holds nobody for longer than half a minute', async () => {
    const gate = createRateGate();
    await know(gate, 1);
    const lost = enter(gate);
    await settle();
    expect(lost.pass).toBeDefined();
    const next = enter(gate);
    await wait(10_000);
    expect(next.pass).toBeUndefined();
    await wait(21_000);
    expect(next.pass).toBeDefined();
  });

  test('calls that fit go without a timer', async () => {
    const gate = createRateGate();
    await know(gate, 90);
    for (let sent = 0; sent < 50; sent += 1) {
      const pass = await gate.enter(gateCall());
      expect(vi.getTimerCount()).toBe(0);
      pass.answered(okAnswer(89 - sent));
    }
  });
});

describe('a 429', () => {
  test('pauses everyone to the end of Retry-After, and says for how long', async () => {
    const gate = createRateGate();
    await know(gate, 50);
    (await gate.enter(gateCall())).answered(refusal(3_000));
    const onWait = vi.fn();
    const entries = [enter(gate, { onWait }), enter(gate, { onWait })];
    await wait(2_990);
    expect(through(entries)).toBe(0);
    expect(onWait.mock.calls).toEqual([[3_000], [3_000]]);
    await wait(100);
    expect(through(entries)).toBe(1);
  });

  test('sends the refused call to the front', async () => {
    const gate = createRateGate();
    await know(gate, 50);
    (await gate.enter(gateCall())).answered(refusal(1_000));
    const [interactive, refused] = [enter(gate), enter(gate, { priority: 'background', refused: true })];
    await wait(1_100);
    expect(refused.pass).toBeDefined();
    expect(interactive.pass).toBeUndefined();
  });

  test.each([undefined, 0])('with Retry-After %s backs off, further each time', async (retryAfterMs) => {
    const gate = createRateGate();
    let sent = 0;
    const ask = async () => {
      for (;;) {
        const pass = await gate.enter(gateCall({ refused: sent > 0 }));
        sent += 1;
        pass.answered(refusal(retryAfterMs));
      }
    };
    void ask();
    await wait(10_000);
    expect(sent).toBeGreaterThan(3);
    expect(sent).toBeLessThan(10);
  });

  test('without any headers pauses too, and the wait does not end in a wave', async () => {
    const gate = createRateGate();
    (await gate.enter(gateCall())).answered(BARE);
    const refused = Array.from({ length: 100 }, () => enter(gate));
    await settle();
    for (const { pass } of refused) pass?.answered({ ...BARE, status: 429, retryAfterMs: 2_000 });
    const entries = Array.from({ length: 100 }, () => enter(gate, { refused: true }));
    await wait(1_990);
    expect(through(entries)).toBe(0);
    await wait(100);
    expect(through(entries)).toBeGreaterThan(0);
    expect(through(entries)).toBeLessThan(5);
  });

  test('that asks for an age is asked again after a day', async () => {
    const gate = createRateGate();
    (await gate.enter(gateCall())).answered(refusal(99_999_999_999_000));
    const patient = enter(gate);
    const impatient = enter(gate, { maxWaitMs: 60_000 });
    await settle();
    expect(impatient.error).toBeInstanceOf(GateRefusal);
    await wait(24 * 3_600_000 + 1_000);
    expect(patient.pass).toBeDefined();
  });

  test('does not pause for hours because the clock was set back by hours', async () => {
    const gate = createRateGate();
    await know(gate, 50);
    (await gate.enter(gateCall())).answered(refusal(2_000));
    const entry = enter(gate);
    vi.setSystemTime(Date.now() - 3_600_000);
    await wait(5_000);
    expect(entry.pass).toBeDefined();
  });
});

describe('waiting', () => {
  test('is over in the order of arrival', async () => {
    const gate = createRateGate();
    const order: number[] = [];
    const first = await gate.enter(gateCall());
    for (let number = 0; number < 8; number += 1) {
      void gate.enter(gateCall()).then((pass) => {
        order.push(number);
        pass.answered(okAnswer(90 - number));
      });
    }
    first.answered(okAnswer(0));
    await wait(60_000);
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test('lets interactive calls pass background walks, which keep one slot in five', async () => {
    const gate = createRateGate();
    const order: string[] = [];
    await know(gate, 0);
    const first = await gate.enter(gateCall());
    const queue = async (priority: 'interactive' | 'background') => {
      const pass = await gate.enter(gateCall({ priority }));
      order.push(priority);
      pass.answered(okAnswer(0));
    };
    for (let count = 0; count < 4; count += 1) void queue('background');
    for (let count = 0; count < 12; count += 1) void queue('interactive');
    first.answered(okAnswer(0));
    await wait(60_000);
    const five = ['interactive', 'interactive', 'interactive', 'interactive', 'background'];
    expect(order).toEqual([...five, ...five, ...five, 'background']);
  });

  test('ends on a timer of its own, not within the answer to another call', async () => {
    const gate = createRateGate();
    const [first, second] = [enter(gate), enter(gate)];
    await settle();
    first.pass?.answered(okAnswer(50));
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    expect(second.pass).toBeUndefined();
    await wait(50);
    expect(second.pass).toBeDefined();
  });

  test('is told once, without a time where only an answer can tell', async () => {
    const gate = createRateGate();
    enter(gate);
    const onWait = vi.fn();
    enter(gate, { onWait });
    await wait(2_000);
    expect(onWait.mock.calls).toEqual([[undefined]]);
  });

  test('that cannot be told of fails with what the listener threw', async () => {
    const gate = createRateGate();
    const first = await gate.enter(gateCall());
    const failure = new Error('listener');
    const onWait = () => {
      throw failure;
    };
    await expect(gate.enter(gateCall({ onWait }))).rejects.toBe(failure);
    expect(vi.getTimerCount()).toBe(0);
    first.answered(okAnswer(50));
    expect(await gate.enter(gateCall())).toBeDefined();
  });

  test.each([
    ['before its turn came', 2_000],
    ['when its turn had come', 500],
  ])('of one whose runtime ended %s does not hold the others', async (_name, answeredAfterMs) => {
    const ended = new Set<() => void>();
    const timers: (() => void)[] = [];
    const gate = createRateGate({
      now: () => Date.now(),
      setTimeout: (run, delayMs) => {
        timers.push(run);
        return setTimeout(() => ended.has(run) || run(), delayMs);
      },
      clearTimeout: (id) => clearTimeout(id),
      random: () => 0.5,
    });
    const first = enter(gate);
    const gone = enter(gate);
    // Nothing that it has set runs any more.
    ended.add(timers[0] as () => void);
    const next = enter(gate);
    await wait(answeredAfterMs);
    first.pass?.answered(okAnswer(1));
    await wait(3_000);
    expect(gone.pass).toBeUndefined();
    expect(next.pass).toBeDefined();
  });
});

describe('giving up', () => {
  test('an abort rejects with its reason at once and leaves nothing behind', async () => {
    const gate = createRateGate();
    const first = await gate.enter(gateCall());
    const controller = new AbortController();
    const reason = new Error('no longer needed');
    const entry = enter(gate, { signal: controller.signal });
    await wait(100);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    controller.abort(reason);
    await settle();
    expect(entry.error).toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    first.answered(okAnswer(50));
    expect(await gate.enter(gateCall())).toBeDefined();
  });

  test('an aborted call does not enter, also where there is budget', async () => {
    const gate = createRateGate();
    await know(gate, 50);
    const reason = new Error('too late');
    await expect(gate.enter(gateCall({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
  });

  test('a call that was let through leaves no listener on its signal', async () => {
    const gate = createRateGate();
    const { signal } = new AbortController();
    const [first, second] = [enter(gate, { signal }), enter(gate, { signal })];
    await settle();
    first.pass?.answered(okAnswer(50));
    await wait(100);
    expect(second.pass).toBeDefined();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a turn that was given to an aborted call goes to the next', async () => {
    const gate = createRateGate();
    const first = await gate.enter(gateCall());
    const controller = new AbortController();
    const aborted = enter(gate, { signal: controller.signal });
    const next = enter(gate);
    await wait(100);
    first.answered(okAnswer(1, 1));
    controller.abort();
    await wait(5_000);
    expect(aborted.pass).toBeUndefined();
    expect(next.pass).toBeDefined();
  });

  test.each([
    ['maxWaitMs', { maxWaitMs: 2_000 }],
    ['the deadline', { deadlineAt: Date.parse('2026-03-01T12:00:02Z') }],
  ])('a pause beyond %s is not waited for', async (_name, limits) => {
    const gate = createRateGate();
    await know(gate, 50);
    (await gate.enter(gateCall())).answered(refusal(5_000));
    const onWait = vi.fn();
    const error = await gate.enter(gateCall({ ...limits, onWait })).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(GateRefusal);
    expect((error as GateRefusal).retryAfterMs).toBe(5_000);
    expect(onWait).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('a wait while the limits are unknown ends at maxWaitMs with the right to send, at the deadline without', async () => {
    const gate = createRateGate();
    const first = enter(gate);
    const patient = enter(gate, { maxWaitMs: 2_000 });
    const late = enter(gate, { deadlineAt: Date.parse('2026-03-01T12:00:02Z') });
    await wait(1_990);
    expect([patient.pass, patient.error, late.error]).toEqual([undefined, undefined, undefined]);
    await wait(20);
    expect(patient.pass).toBeDefined();
    expect(late.error).toBeInstanceOf(GateRefusal);
    expect(late.error).toMatchObject({ retryAfterMs: undefined, limited: false });
    expect(vi.getTimerCount()).toBe(0);
    expect(first.pass).toBeDefined();
  });

  test('a pause that begins while a call waits ends its wait, if it is too long', async () => {
    const gate = createRateGate();
    const first = enter(gate);
    const entry = enter(gate, { maxWaitMs: 2_000 });
    await wait(500);
    first.pass?.answered(refusal(10_000));
    await wait(50);
    expect(entry.error).toBeInstanceOf(GateRefusal);
    expect((entry.error as GateRefusal).retryAfterMs).toBeGreaterThan(9_900);
  });

  test('a cap of a minute outlasts a pause of a minute that begins a moment later', async () => {
    const gate = createRateGate();
    const first = enter(gate);
    const entries = [enter(gate, { maxWaitMs: 60_000 }), enter(gate, { maxWaitMs: 60_000 })];
    await wait(80);
    first.pass?.answered(refusal(60_000));
    await wait(60_100);
    expect(entries[0]?.pass).toBeDefined();
    entries[0]?.pass?.answered(okAnswer(99));
    await wait(100);
    expect(entries[1]?.pass).toBeDefined();
  });
});

describe('headers that make no sense', () => {
  const figures = [0, -1, -1e9, 1e15, Number.NaN, Number.POSITIVE_INFINITY, 0.5, 3];
  const pairs = figures.flatMap((limit) => figures.map((remaining) => [limit, remaining] as const));

  test.each(pairs)('limit %s with remaining %s never hold a call for ever', async (limit, remaining) => {
    const gate = createRateGate();
    let sent = 0;
    const worker = async () => {
      for (;;) {
        const pass = await gate.enter(gateCall());
        sent += 1;
        await new Promise((resolve) => setTimeout(resolve, 100));
        const refused = sent % 7 === 0;
        pass.answered({
          status: refused ? 429 : 200,
          limit,
          remaining,
          retryAfterMs: refused ? 1_000 : undefined,
        });
      }
    };
    void worker();
    void worker();
    await wait(60_000);
    const before = sent;
    await wait(60_000);
    expect(sent).toBeGreaterThan(before);
  });

  test('a limit that shrinks from answer to answer is followed', async () => {
    const gate = createRateGate();
    for (let limit = 100; limit >= 0; limit -= 10) {
      const entry = enter(gate);
      await wait(60_000);
      expect(entry.pass).toBeDefined();
      entry.pass?.answered(okAnswer(Math.max(0, limit - 1), limit));
    }
  });
});
