import type { Listeners } from 'accounting-data-sdk';
import { eventLoopTurn } from './scripted-server.ts';

/**
 * Counts what a client reports. A test that stops the clock and uses sockets waits for an event before it advances the
 * clock, because it cannot know how many turns of the event loop a socket takes.
 */
export function clientEvents() {
  const counts = { response: 0, retry: 0, wait: 0 };
  const count = (event: keyof typeof counts) => () => {
    counts[event] += 1;
  };
  const on: Listeners = { response: count('response'), retry: count('retry'), wait: count('wait') };
  const seen = async (event: keyof typeof counts, times = 1): Promise<void> => {
    while (counts[event] < times) await eventLoopTurn();
  };
  return { on, seen };
}
