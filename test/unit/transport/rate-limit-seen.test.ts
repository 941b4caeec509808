import { afterEach, expect, test, vi } from 'vitest';
import { rateLimitSeen } from '../../../src/transport/rate-limit-seen.ts';
import { GateRefusal } from '../../../src/transport/rate-refusal.ts';
import { BARE, okAnswer } from '../../support/rate-calls.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

afterEach(() => {
  vi.useRealTimers();
});

test('a budget is known where an answer reports both of its figures', () => {
  vi.useFakeTimers({ now: NOW });
  expect(rateLimitSeen(okAnswer(7))).toEqual({ limit: 100, remaining: 7, observedAt: new Date(NOW) });
  expect(rateLimitSeen({ ...okAnswer(7), limit: undefined })).toBeUndefined();
  expect(rateLimitSeen({ ...okAnswer(7), remaining: undefined })).toBeUndefined();
  expect(rateLimitSeen(BARE)).toBeUndefined();
});

test('whatever a wait ends with can be asked whether it is a refusal of the gate', () => {
  const values: unknown[] = [null, undefined, 'stop', 5, {}, new Error('stop')];
  expect(values.filter((value) => value instanceof GateRefusal)).toEqual([]);
  expect(new GateRefusal(5, true)).toMatchObject({
    retryAfterMs: 5,
    limited: true,
    message: 'The rate gate opens too late for this call.',
  });
});
