import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { settle } from './scripted-server.ts';

/**
 * Timers and dates stand still in the tests of this file until they are moved; sockets and promises go on. What a
 * test waits for is then never a matter of how fast the machine is.
 */
export function useFakeClock(): void {
  loadTransport();
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
      now: Date.parse('2026-01-31T12:00:00Z'),
    });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Loads what sends requests before the first test: loading takes true time, which a moved clock would not wait for. */
export function loadTransport(): void {
  beforeAll(async () => {
    await import('../../src/transport/transport.ts');
  });
}

/** Moves the clock, then lets everything happen that follows from it. */
export async function advance(ms: number): Promise<void> {
  await settle();
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

/** What has become of a promise by now. */
export async function stateOf(promise: Promise<unknown>): Promise<'pending' | 'resolved' | 'rejected'> {
  let state: 'pending' | 'resolved' | 'rejected' = 'pending';
  promise.then(
    () => {
      state = 'resolved';
    },
    () => {
      state = 'rejected';
    },
  );
  await settle();
  return state;
}
