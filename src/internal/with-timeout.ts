import { MAX_TIMER_MS } from './sleep.ts';

interface TimeoutOptions {
  readonly signal: AbortSignal | undefined;
  readonly onAbort?: () => void;
  /** Until `onTimeout` is called, which returns the error to reject with. Infinity for no limit. */
  readonly ms: number;
  readonly onTimeout: () => Error;
}

/**
 * Runs `work` until it ends, the signal fires or the time is up, whichever comes first, even if the work ignores both.
 * Rejects with the signal's reason or the error of `onTimeout`. Leaves neither timer nor listener behind.
 */
export function withTimeout<T>(
  work: () => Promise<T>,
  { signal, onAbort, ms, onTimeout }: TimeoutOptions,
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    if (ms <= 0) return reject(onTimeout());

    const abort = () => {
      clearTimeout(timer);
      onAbort?.();
      reject(signal?.reason);
    };
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const timeout = () => {
      end();
      reject(onTimeout());
    };
    const timer = ms <= MAX_TIMER_MS ? setTimeout(timeout, ms) : undefined;
    signal?.addEventListener('abort', abort, { once: true });
    // Handled after the end too: a late failure of the work must not become an unhandled rejection.
    work().then(
      (value) => {
        end();
        resolve(value);
      },
      (error) => {
        end();
        reject(error);
      },
    );
  });
}
