/** The longest wait of a timer: a longer one ends at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/** Waits, or until the signal aborts; never rejects. Looks `setTimeout` up when called, so that fake timers apply. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = () => {
      globalThis.clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = globalThis.setTimeout(done, Math.min(ms, LONGEST_MS));
    signal?.addEventListener('abort', done, { once: true });
  });
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
