import { expect, test } from 'vitest';
import { RateCore } from '../../../src/transport/rate-core.ts';
import { BARE, okAnswer, refusal } from '../../support/rate-calls.ts';
import { type Play, play } from '../../support/rate-core-play.ts';

const two = { limit: 100, windowMs: 2_000 };

/** What a change of the algorithm brings or costs shows here, to the call. */
const ROWS: readonly [title: string, allowed: number, refused: number, Play][] = [
  ['a fixed window', 1200, 1, { ...two, limiter: 'fixed window' }],
  ['a window from the first call', 1200, 1, { ...two, limiter: 'window from first call' }],
  ['a token bucket', 1293, 1, { ...two, limiter: 'token bucket' }],
  ['a sliding counter', 1177, 1, { ...two, limiter: 'sliding counter' }],
  ['a sliding log', 991, 3, { ...two, limiter: 'sliding log' }],
  ['no limit and no headers', 7_993, 0, { ...two, limiter: 'no headers', windows: 3 }],
  ['ten calls a second', 120, 1, { limit: 10, windowMs: 1_000, limiter: 'fixed window' }],
  ['three calls a second', 36, 1, { limit: 3, windowMs: 1_000, limiter: 'window from first call' }],
  [
    'a thousand calls in ten seconds',
    5901,
    2,
    { limit: 1_000, windowMs: 10_000, limiter: 'fixed window', windows: 5 },
  ],
  [
    'a length that is not round',
    834,
    2,
    { limit: 50, windowMs: 2_700, limiter: 'fixed window', windows: 16 },
  ],
  ['a slow network', 1085, 0, { ...two, limiter: 'fixed window', wayMs: 120, workers: 40 }],
  ['two hundred workers', 1200, 1, { ...two, limiter: 'fixed window', workers: 200 }],
  ['two processes', 1242, 2, { ...two, limiter: 'fixed window', processes: 2 }],
  [
    'three processes that start apart',
    1189,
    18,
    { ...two, limiter: 'window from first call', processes: 3, apartMs: 700 },
  ],
  ['two processes on a token bucket', 1272, 2, { ...two, limiter: 'token bucket', processes: 2 }],
  [
    'two processes on a small budget',
    111,
    10,
    { limit: 10, windowMs: 1_000, limiter: 'fixed window', processes: 2 },
  ],
  ['answers that get lost', 1200, 1, { ...two, limiter: 'fixed window', losesOneIn: 7 }],
  ['a proxy that fails now and then', 1199, 1, { ...two, limiter: 'fixed window', proxyFailsOneIn: 9 }],
  ['refusals that name no time', 1291, 4, { ...two, limiter: 'fixed window', mute: true }],
  ['a limit that is not said', 1298, 1, { ...two, limiter: 'token bucket', hidesLimit: true }],
  ['a long window', 360, 2, { limit: 40, windowMs: 15_000, limiter: 'fixed window', windows: 8 }],
  [
    'two processes on a long window',
    344,
    10,
    { limit: 40, windowMs: 15_000, limiter: 'fixed window', windows: 8, processes: 2 },
  ],
  [
    'a bucket that fills slowly',
    179,
    1,
    { limit: 20, windowMs: 10_000, limiter: 'token bucket', windows: 8 },
  ],
  ['two processes on a sliding counter', 807, 2, { ...two, limiter: 'sliding counter', processes: 2 }],
  ['a silence of a minute', 1000, 1, { ...two, limiter: 'fixed window', windows: 40, silent: [5, 35] }],
  [
    'a silence of two processes',
    1791,
    2,
    { ...two, limiter: 'fixed window', windows: 20, silent: [8, 11], processes: 2 },
  ],
];

test.each(ROWS)('%s: %i calls are let through and %i refused', (_, allowed, refused, scenario) => {
  expect(play(scenario)).toEqual({ allowed, refused });
});

const NOW = 1_700_000_000_000;

/** Sends what may go at a time, a thousand calls at most: how many, and what ends them. */
function send(core: RateCore, now = NOW) {
  const tickets = [];
  while (tickets.length < 1_000 && core.opensAt(now) <= now) {
    const ticket = core.take(now);
    core.sent(ticket, now);
    tickets.push(ticket);
  }
  return tickets;
}

/** A gate whose first calls were answered so, one after the other, ten milliseconds each. */
function told(...answers: readonly Parameters<RateCore['answered']>[1][]): RateCore {
  const core = new RateCore(() => 0.5);
  answers.forEach((answer, index) => {
    const now = NOW - 1_000 + 20 * index;
    const ticket = core.take(now);
    core.sent(ticket, now);
    core.answered(ticket, answer, now + 10);
  });
  return core;
}

test('a first call that is not answered holds the others for five seconds', () => {
  const core = told();
  expect(send(core)).toHaveLength(1);
  expect(core.opensAt(NOW + 4_999)).toBe(Number.POSITIVE_INFINITY);
  expect(core.opensAt(NOW + 5_000)).toBe(NOW + 5_000);
});

test('a service without the headers is not held back, also after a silence', () => {
  expect(send(told(BARE))).toHaveLength(1_000);
  expect(send(told(BARE), NOW + 60_000)).toHaveLength(1_000);
});

test('after a silence of more than ten seconds the first calls are few', () => {
  const answers = Array.from({ length: 20 }, (_, index) => okAnswer(99 - index));
  expect(send(told(...answers))).toHaveLength(80 / 4);
  expect(send(told(...answers), NOW + 60_000)).toHaveLength(16);
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('a remaining of %s is as good as none', (remaining) => {
  expect(send(told(okAnswer(remaining)))).toHaveLength(1_000);
});

test('failures without the headers say nothing at first, and after three of them a few calls go at once', () => {
  const failure = { ...BARE, status: 500 };
  expect(send(told(failure))).toHaveLength(1);
  expect(send(told(failure, failure))).toHaveLength(1);
  expect(send(told(failure, failure, failure))).toHaveLength(4);
});

test('a service that stops sending the headers is believed after three answers in a row', () => {
  expect(send(told(okAnswer(1), BARE, BARE))).toHaveLength(1);
  expect(send(told(okAnswer(1), BARE, BARE, BARE))).toHaveLength(4);
  expect(send(told(okAnswer(9), BARE, BARE, okAnswer(2), BARE, BARE))).toHaveLength(1);
});

test('after a 429 two calls go where no budget is reported, and one that looks where it is', () => {
  const silent = told(BARE, { ...BARE, status: 429, retryAfterMs: 100 });
  expect(send(silent)).toHaveLength(2);
  const counted = told(refusal(100));
  expect(send(counted)).toHaveLength(1);
  expect(counted.opensAt(NOW + 6_000)).toBe(Number.POSITIVE_INFINITY);
});

test('a gate is idle when nothing is on its way and no pause holds', () => {
  const busy = told(okAnswer(50));
  expect(busy.isIdle(NOW)).toBe(true);
  send(busy);
  expect([busy.isIdle(NOW), busy.isIdle(NOW + 29_999), busy.isIdle(NOW + 30_000)]).toEqual([
    false,
    false,
    true,
  ]);
  const paused = told(refusal(5_000));
  expect([paused.isIdle(NOW + 4_009), paused.isIdle(NOW + 4_010)]).toEqual([false, true]);
});
