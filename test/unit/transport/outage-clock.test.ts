import { describe, expect, test } from 'vitest';
import {
  afterFailed,
  afterResponse,
  type FailedCall,
  type Others,
  type OutageState,
  type OutageVerdict,
  UP,
  verdictOn,
} from '../../../src/transport/outage-clock.ts';

describe('the outage clock', () => {
  const failed = afterFailed(UP, { at: 5, ms: 1_000, sentAt: 3 });

  test('begins with the first failure, and knows whether a request that was sent after it has failed too', () => {
    expect(failed.since).toEqual({ at: 5, ms: 1_000, isRepeated: false });
    expect(afterFailed(failed, { at: 6, ms: 2_000, sentAt: 4 })).toEqual(failed);
    const twice = afterFailed(failed, { at: 7, ms: 2_000, sentAt: 6 });
    expect(twice.since).toEqual({ at: 5, ms: 1_000, isRepeated: true });
    expect(afterFailed(twice, { at: 8, ms: 3_000, sentAt: 4 })).toEqual(twice);
  });

  test('is reset by a response to a request that was sent later', () => {
    expect(afterResponse(failed, 6)).toEqual({ since: undefined, upAt: 6 });
  });

  test('is not reset by a response that was on its way when it began', () => {
    expect(afterResponse(failed, 4)).toEqual({ ...failed, upAt: 4 });
    expect(afterResponse({ ...failed, upAt: 4 }, 2)).toEqual({ ...failed, upAt: 4 });
  });
});

// A call fails at event 10 for the first time and at 14 for the last; the outage began at 1,000 ms with event 10.
const call: FailedCall = { since: 10, failedAt: 14, notBeforeMs: 0, wasRepeated: false, hasWorked: true };
const down: OutageState = { since: { at: 10, ms: 1_000, isRepeated: true }, upAt: 8 };
const up = (upAt: number): OutageState => ({ since: undefined, upAt });
const [DURING, AFTER] = [5_000, 61_000];

test.each<[string, OutageVerdict, OutageState, Others, number, Partial<FailedCall>?, number?]>([
  ['it waits for the others', 'others_first', down, 'can_go', DURING],
  ['it waits for the others, however long it takes', 'others_first', down, 'can_go', AFTER],
  ['the others have failed too', 'wait', down, 'failing', DURING],
  ['the others have failed too, for too long', 'over', down, 'failing', AFTER],
  ['nothing else is left', 'wait', down, 'none', DURING],
  ['nothing else is left, for too long', 'over', down, 'none', AFTER],

  ['another request has worked since', 'repeat', up(15), 'can_go', DURING],
  ['it has worked since, and others fail again', 'repeat', up(15), 'failing', DURING],
  [
    'another request has worked since, and this one was repeated',
    'alone',
    up(15),
    'can_go',
    AFTER,
    { wasRepeated: true },
  ],
  ['another request has worked between its failures', 'others_first', up(12), 'can_go', DURING],
  ['another one has worked between its failures, but fails now', 'wait', up(12), 'failing', DURING],
  ['another one has worked between its failures, and is done', 'repeat', up(12), 'none', DURING],
  ['the others were done before it failed', 'wait', up(8), 'none', DURING],
  [
    'the others were done before it failed, and it has never worked',
    'repeat',
    up(8),
    'none',
    DURING,
    { hasWorked: false },
  ],
  ['… and was repeated', 'alone', up(8), 'none', DURING, { hasWorked: false, wasRepeated: true }],
  [
    'the others were on their way when it failed first, and it has never worked',
    'repeat',
    { ...down, upAt: 8 },
    'none',
    DURING,
    { hasWorked: false },
  ],
  ['… and it has worked', 'wait', { ...down, upAt: 8 }, 'none', DURING],
  ['nothing has ever worked', 'wait', UP, 'none', DURING, { hasWorked: false }],

  ['the service wants a wait that fits', 'wait', down, 'none', DURING, { notBeforeMs: 60_000 }],
  ['the service wants a longer wait', 'over', down, 'none', DURING, { notBeforeMs: 62_000 }],
  [
    'the service wants a longer wait, and others may work',
    'others_first',
    down,
    'can_go',
    DURING,
    { notBeforeMs: 62_000 },
  ],
  [
    'the service wants a longer wait, and others do work',
    'alone',
    up(15),
    'can_go',
    DURING,
    { notBeforeMs: 70_000 },
  ],
  [
    'the service wants a wait that the call may not wait for',
    'over',
    down,
    'none',
    DURING,
    { notBeforeMs: Number.POSITIVE_INFINITY },
    Number.POSITIVE_INFINITY,
  ],
])(
  'a call whose attempts have failed: %s',
  (_, verdict, state, others, nowMs, more, maxOutageMs = 60_000) => {
    expect(verdictOn(state, { ...call, ...more }, { others, maxOutageMs }, nowMs)).toBe(verdict);
  },
);
