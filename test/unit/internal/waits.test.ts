import { expect, test } from 'vitest';
import { forEach } from '../../../src/internal/for-each.ts';
import { sleep } from '../../../src/internal/sleep.ts';
import { withTimeout } from '../../../src/internal/with-timeout.ts';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { advance, stateOf, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

/** More than a timer can hold: it would fire at once. */
const TOO_LONG_MS = 2 ** 31;

const never = () => new Promise<never>(() => undefined);

test.each<[what: string, wait: (signal: AbortSignal) => Promise<unknown>]>([
  ['a wait', (signal) => sleep(TOO_LONG_MS, signal)],
  [
    'work with a limit',
    (signal) => withTimeout(never, { signal, ms: TOO_LONG_MS, onTimeout: () => new Error('over') }),
  ],
])(
  '%s of more than 2^31 ms does not end at once, but with its signal, and leaves no listener',
  async (...row) => {
    const [, wait] = row;
    const stopped = new AbortController();
    const waiting = caught(wait(stopped.signal));
    await advance(60_000);
    expect(await stateOf(waiting)).toBe('pending');
    stopped.abort('enough');
    expect(await waiting).toBe('enough');
    expect(listenersOn(stopped.signal)).toBe(0);
  },
);

test('a wait that has ended leaves no listener on its signal', async () => {
  const { signal } = new AbortController();
  const waiting = sleep(1_000, signal);
  expect(listenersOn(signal)).toBe(1);
  await advance(1_000);
  await waiting;
  expect(listenersOn(signal)).toBe(0);
});

test('after a failure no further item begins, and what has begun ends first', async () => {
  const seen: string[] = [];
  const work = async (item: number) => {
    seen.push(`begins ${item}`);
    await sleep(item * 100, undefined);
    if (item === 1) throw new Error('failed');
    seen.push(`ends ${item}`);
  };
  const failed = caught(forEach([2, 1, 3, 4], 2, work));
  await advance(150);
  expect(await stateOf(failed)).toBe('pending');
  await advance(150);
  expect(await failed).toMatchObject({ message: 'failed' });
  expect(seen).toEqual(['begins 2', 'begins 1', 'ends 2']);
});
