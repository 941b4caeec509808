import { expect, test } from 'vitest';
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
