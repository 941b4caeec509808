/** What a callback or a store needs to finish what it is doing, and no more: some never settle. */
const GRACE_MS = 1_000;

/**
 * Waits for work of the caller's that knows nothing of the signal. Once the signal has fired, the work has a second left
 * to settle: what was finished is to be committed. Then this rejects with the signal's reason.
 */
export function abortable<V>(work: Promise<V>, signal: AbortSignal | undefined): Promise<V> {
  if (signal === undefined) return work;

  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => {
      timer = setTimeout(() => reject(signal.reason), GRACE_MS);
    };
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(end);
  });
}
