import type { PgBoss } from 'pg-boss';

/** A process manager kills after ten seconds or more. */
const JOBS_MS = 8_000;
const ALL_MS = 9_500;

/**
 * Ends this machine on SIGTERM or SIGINT: its jobs are aborted, what they committed stays, and each is queued again for
 * another machine. Returns the signal that aborts them. `close` closes the connections.
 */
export function stopOnSignals(boss: PgBoss, close: () => Promise<unknown>): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      // A database that does not respond must not keep the process alive.
      setTimeout(() => process.exit(1), ALL_MS).unref();
      stop.abort();
      await boss.stop({ timeout: JOBS_MS });
      await close();
    });
  }
  return stop.signal;
}
