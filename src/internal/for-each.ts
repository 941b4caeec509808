/** Runs the work for each item, with limited concurrency. After a failure no further one begins; rejects once all have ended. */
export async function forEach<V>(
  items: readonly V[],
  concurrency: number,
  work: (item: V) => Promise<void>,
): Promise<void> {
  const left = items.values();
  let failed = false;
  const worker = async () => {
    for (let next = left.next(); next.done !== true && !failed; next = left.next()) {
      await work(next.value).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: Math.min(concurrency, items.length) }, worker);
  const failure = (await Promise.allSettled(workers)).find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
