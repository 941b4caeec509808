import type { ClientOptions } from 'accounting-data-sdk';
import type { Fault, SandboxOptions } from 'accounting-data-sdk/testing';
import type { SeededRandom } from '../../../support/seeded-random.ts';

const status = (code: number, more: Partial<Extract<Fault, { kind: 'status' }>> = {}): Fault => ({
  kind: 'status',
  status: code,
  ...more,
});

/**
 * What happens to requests. Nothing in which the service itself lies: a 404 for a record that is there, or a 422 after
 * the commit, no client could see through.
 */
const FAULTS: readonly Fault[] = [
  { kind: 'lost-response', committed: false },
  { kind: 'lost-response', committed: true },
  { kind: 'disconnect', reset: true, committed: false },
  { kind: 'disconnect', reset: true },
  { kind: 'connection-refused' },
  { kind: 'disconnect', in: 'headers', atByte: 20 },
  { kind: 'disconnect', in: 'body' },
  { kind: 'disconnect', in: 'body', reset: true, atByte: 1 },
  { kind: 'stall', committed: false },
  { kind: 'stall' },
  { kind: 'stall', in: 'body' },
  { kind: 'slow-body', bytes: 500, everyMs: 400 },
  { kind: 'delay', ms: 700, before: 'commit' },
  { kind: 'delay', ms: 45_000, before: 'commit' },
  { kind: 'delay', ms: 900 },
  { kind: 'delay', ms: 45_000 },
  status(408, { committed: true }),
  status(425),
  status(500, { committed: true }),
  status(500),
  status(502, { body: '<h1>Oops</h1>', committed: true }),
  status(503, { retryAfter: 2 }),
  status(504, { body: '', committed: true }),
  status(400),
  status(401),
  status(403),
  status(409, { type: 'stale' }),
  status(422),
  { kind: 'rate-limited' },
  { kind: 'rate-limited', retryAfter: null },
  { kind: 'rate-limited', retryAfter: '1.5' },
  { kind: 'rate-limited', retryAfter: 3_600 },
  { kind: 'status', status: 200, body: '<h1>Oops</h1>' },
  { kind: 'status', status: 200, body: '<h1>Oops</h1>', committed: true },
  { kind: 'rewrite', body: '' },
  { kind: 'rewrite', headers: { 'Content-Type': 'text/plain' } },
  { kind: 'money-as-number' },
  { kind: 'redirect', location: 'https://elsewhere.example/', status: 302 },
  { kind: 'redirect', location: '/elsewhere', status: 307 },
];

/** One to six of them, from rare to every other request. */
export function faultsOf(random: SeededRandom): { fault: Fault; probability: number }[] {
  return Array.from({ length: random.int(1, 6) }, () => ({
    fault: random.pick(FAULTS),
    probability: random.pick([0.05, 0.2, 0.5]),
  }));
}

/** Random choices for what the specification leaves open. */
export function sandboxOptions(random: SeededRandom): SandboxOptions {
  return {
    createStatus: random.pick([200, 201]),
    updateStatus: random.pick([200, 201, 204]),
    deleteStatus: random.pick([200, 204]),
    idempotency: {
      replay: random.pick(['stored', 'stored', 'conflict']),
      differentBody: random.pick(['reject', 'stored']),
    },
    problemType: random.pick(['bare', 'url', 'urn', 'about:blank', 'absent']),
    rateLimit: random.pick([{}, false, { limit: 6, windowMs: 5_000 }]),
  };
}

/** How patient the client is. */
export function clientOptions(random: SeededRandom): ClientOptions {
  return {
    timeoutMs: random.pick([1_000, 10_000, 30_000]),
    deadlineMs: random.pick([5_000, 120_000]),
    retry: { maxAttempts: random.int(1, 6), updates: random.chance(0.7) },
    // A rate limiter sets a timer for each queued call, which makes a history slow.
    rateLimiter: random.pick(['client', false, false, false]),
    validation: random.pick(['throw', 'off']),
  };
}
