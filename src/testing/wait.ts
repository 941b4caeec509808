/**
 * Waits so many milliseconds, or until the signal aborts; never rejects. `setTimeout` is looked up at call time, so
 * that fake timers govern the sandbox too.
 */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = () => {
      globalThis.clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = globalThis.setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** Waits until the signal aborts; without a signal, for ever. */
export function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    signal?.addEventListener('abort', () => resolve(), { once: true });
  });
}
