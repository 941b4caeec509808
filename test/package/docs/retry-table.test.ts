import { expect, test } from 'vitest';
import { parseProblem } from '../../../src/schemas/problem.ts';
import { Failure } from '../../../src/transport/failure.ts';
import { afterFailure, BEGUN } from '../../../src/transport/retry-policy.ts';
import { tableRows } from './code-blocks.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
const STATUSES = Array.from({ length: 200 }, (_, index) => 400 + index);

/** What the policy does about the first response of a call. */
function nextOf(method: (typeof METHODS)[number], status: number): string {
  const response = {
    status,
    problem: parseProblem({}),
    requestId: undefined,
    rateLimit: undefined,
    headers: {},
    retryAfterMs: undefined,
  };
  const retry = { maxAttempts: 5, baseDelayMs: 0, maxDelayMs: 0, updates: true, creates: true };
  const failure = new Failure('status', { kind: 'status', response });
  return afterFailure(BEGUN, failure, { method, retry, canMergePatch: false }, 0).step.next;
}

/** The statuses of a cell such as `408, 425` or `506 to 599: …`. */
function statusesIn(cell: string): number[] {
  const [, from, to] = /^(\d{3}) to (\d{3})\b/.exec(cell) ?? [];
  if (from !== undefined && to !== undefined) {
    return STATUSES.filter((status) => status >= Number(from) && status <= Number(to));
  }
  const [list = ''] = /^\d{3}(?:, \d{3})*/.exec(cell) ?? [];
  return list === '' ? [] : list.split(', ').map(Number);
}

test.each(METHODS)(
  'the table of the errors guide names the statuses that are sent again for %s',
  (method) => {
    const stated = tableRows('src/guides/errors.md', 'what failed').flatMap(
      ([what = '', read = '', write = '']) => {
        const says = method === 'GET' || write === 'the same' ? read : write;
        return says.startsWith('sent again') ? statusesIn(what) : [];
      },
    );
    const sentAgain = STATUSES.filter((status) =>
      ['retry', 'wait', 'refresh_key'].includes(nextOf(method, status)),
    );
    // A status of a range can have a row of its own.
    expect([...new Set(stated)].toSorted()).toEqual(sentAgain);
  },
);
