/** What a callback or a store needs to finish what it is doing, and no more: some never settle. */
export const GRACE_MS = 1_000;

/**
 * Waits for a callback or a store of the caller, which does not know the signal. Once the signal has fired, the work has
 * a second left to settle, so that what was finished is committed. Then this rejects with the signal's reason.
 */
export function untilAborted<V>(
  work: Promise<V>,
  signal: AbortSignal | undefined,
  graceMs = GRACE_MS,
): Promise<V> {
  if (signal === undefined) return work;

  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => {
      timer = setTimeout(() => reject(signal.reason), graceMs);
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

/**
 * Waits for what a callback returned, and for each promise of an array, which `records.map(save)` returns: a checkpoint
 * must not be ahead of them. Rejects with the first failure once all have ended.
 */
export async function settled(returned: unknown): Promise<unknown> {
  const value = await returned;
  const ends = await Promise.allSettled(Array.isArray(value) ? value : []);
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return value;
}
