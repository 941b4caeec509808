import { vi } from 'vitest';
import { SeededRandom } from '../../support/seeded-random.ts';

/** Makes timers, dates and chance those of one history, the same for the same seed. */
export function useVirtualTime(seed: number): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    now: Date.parse('2026-01-31T12:00:00Z'),
  });
  const random = new SeededRandom(-seed);
  Math.random = () => random.next();
}

export function useTrueTime(): void {
  vi.useRealTimers();
  Math.random = trueRandom;
}

const trueRandom = Math.random;

/** Turns of the event loop without anything to wait for, after which a history is taken to hang. */
const MOST_IDLE_TURNS = 100_000;

/** Lets time pass, from timer to timer, until the work has ended and no timer is left. Nothing is waited for in truth. */
export async function runToEnd(work: Promise<unknown>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  for (let idle = 0; idle < MOST_IDLE_TURNS; idle += 1) {
    await turn();
    if (vi.getTimerCount() > 0) {
      vi.advanceTimersToNextTimer();
      idle = 0;
    } else if (ended) {
      await work;
      return;
    }
  }
  throw new Error('Nothing happens any more, and the work has not ended.');
}

/** Everything that promises alone can do has been done. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
