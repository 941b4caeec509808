import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GateRefusal } from '../../../src/transport/rate-gate.ts';
import { gateFor } from '../../../src/transport/rate-gates.ts';
import { enter, gateCall, know, okAnswer, refusal } from '../../support/rate-calls.ts';
import { chance } from '../../support/rate-virtual-time.ts';

const ORIGIN = 'https://books.example.com';
const SLOT = Symbol.for('accounting-data-sdk.rate-gates');
const MINUTE_MS = 60_000;

const shared = (apiKey: string, origin = ORIGIN) => gateFor({ origin, apiKey, mode: 'shared' });

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-03-01T12:00:00Z') });
  vi.spyOn(Math, 'random').mockImplementation(chance(2026));
  Reflect.deleteProperty(globalThis, SLOT);
});
afterEach(() => {
  vi.useRealTimers();
});

test('one key of one origin has one gate in the process', async () => {
  await know(shared('one'), 17);
  expect(shared('one').rateLimit?.remaining).toBe(17);
});

test.each([
  ['another key', () => shared('two')],
  ['another origin', () => shared('one', 'https://other.example.com')],
  ['a client that wants its own', () => gateFor({ origin: ORIGIN, apiKey: 'one', mode: 'client' })],
])('%s has another gate', async (_name, other) => {
  (await shared('one').enter(gateCall())).answered(refusal(30_000));
  expect(other().rateLimit).toBeUndefined();
  const entry = enter(other());
  await vi.advanceTimersByTimeAsync(0);
  expect(entry.pass).toBeDefined();
});

test('without a gate nobody is held back, and the budget is remembered', async () => {
  const gate = gateFor({ origin: ORIGIN, apiKey: 'one', mode: false });
  (await gate.enter(gateCall())).answered(refusal(30_000));
  const entries = Array.from({ length: 50 }, () => enter(gate));
  await vi.advanceTimersByTimeAsync(0);
  expect(entries.every(({ pass }) => pass !== undefined)).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  expect(gate.rateLimit?.remaining).toBe(0);
  const reason = new Error('stop');
  await expect(gate.enter(gateCall({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
});

test('two copies of the package share their gates, and know the refusals of each other', async () => {
  vi.resetModules();
  const copy = await import('../../../src/transport/rate-gates.ts');
  expect(copy.gateFor).not.toBe(gateFor);
  const theirs = copy.gateFor({ origin: ORIGIN, apiKey: 'one', mode: 'shared' });
  (await theirs.enter(gateCall())).answered(refusal(30_000));
  expect(shared('one').rateLimit?.remaining).toBe(0);
  const error = await shared('one')
    .enter(gateCall({ maxWaitMs: 1_000 }))
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(GateRefusal);

  const other = await import('../../../src/transport/rate-gate.ts');
  expect(other.GateRefusal).not.toBe(GateRefusal);
  expect(error).toBeInstanceOf(other.GateRefusal);
  expect(new Error('something else')).not.toBeInstanceOf(GateRefusal);
});

test('a version with another protocol finds a place of its own beside', async () => {
  await know(shared('one'), 17);
  const slot = Reflect.get(globalThis, SLOT) as Record<string, unknown>;
  slot.v2 = () => 'of another shape';
  expect(shared('one').rateLimit?.remaining).toBe(17);
  expect(Object.keys(slot)).toEqual(['v1', 'v2']);
});

test('a gate is dropped after ten idle minutes, when another is made, and not by a timer', async () => {
  const gate = shared('one');
  await know(gate, 17);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
  await know(shared('two'), 50);
  expect(gate.rateLimit?.remaining).toBe(17);

  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
  await know(shared('three'), 50);
  expect(gate.rateLimit).toBeUndefined();
  expect(shared('two').rateLimit?.remaining).toBe(50);
});

test('who still holds a gate that was dropped shares its successor', async () => {
  const held = shared('one');
  await know(held, 17);
  await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
  await know(shared('two'), 50);
  await know(shared('one'), 30);
  expect(held.rateLimit?.remaining).toBe(30);
  (await held.enter(gateCall())).answered(okAnswer(29));
  expect(shared('one').rateLimit?.remaining).toBe(29);
});

test('a gate in which somebody waits, or a pause holds, is not idle', async () => {
  const paused = shared('paused');
  (await paused.enter(gateCall())).answered(refusal(20 * MINUTE_MS));
  const waited = enter(paused);
  await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
  await know(shared('two'), 50);
  const late = enter(paused);
  await vi.advanceTimersByTimeAsync(8 * MINUTE_MS);
  expect([waited.pass, late.pass]).toEqual([undefined, undefined]);
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
  expect(waited.pass).toBeDefined();
});

test('no inspection of the registry or of a gate shows a key', async () => {
  const apiKey = 'k-0123456789-secret';
  const gate = shared(apiKey);
  await know(gate, 17);
  const waiting = enter(gate, { signal: new AbortController().signal });
  await vi.advanceTimersByTimeAsync(0);
  const seen = [
    Reflect.get(globalThis, SLOT),
    gate,
    waiting.pass,
    gateFor({ origin: ORIGIN, apiKey, mode: 'client' }),
  ];
  for (const value of seen) {
    const shown = inspect(value, { depth: 10, showHidden: true, getters: true, showProxy: true });
    expect(shown.length).toBeGreaterThan(5);
    expect(shown).not.toContain(apiKey);
    expect(JSON.stringify(value) ?? '').not.toContain(apiKey);
  }
  expect(Object.keys(globalThis)).not.toContain(String(SLOT));
});
