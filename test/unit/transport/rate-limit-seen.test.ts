import { expect, test } from 'vitest';
import { rateLimitSeen } from '../../../src/transport/rate-limit-seen.ts';
import { GateRefusal } from '../../../src/transport/rate-refusal.ts';
import { BARE, okAnswer } from '../../support/rate-calls.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

test('a budget is known where an answer reports both of its figures', () => {
  expect(rateLimitSeen(okAnswer(7), NOW)).toEqual({ limit: 100, remaining: 7, observedAt: new Date(NOW) });
  expect(rateLimitSeen({ ...okAnswer(7), limit: undefined }, NOW)).toBeUndefined();
  expect(rateLimitSeen({ ...okAnswer(7), remaining: undefined }, NOW)).toBeUndefined();
  expect(rateLimitSeen(BARE, NOW)).toBeUndefined();
});

test('whatever a wait ends with can be asked whether it is a refusal of the gate', () => {
  const values: unknown[] = [null, undefined, 'stop', 5, {}, new Error('stop')];
  expect(values.filter((value) => value instanceof GateRefusal)).toEqual([]);
  expect(new GateRefusal(5)).toMatchObject({
    retryAfterMs: 5,
    message: 'The rate gate opens too late for this call.',
  });
});
