/**
 * Waits for what a consumer has returned, and for each promise of an array, as `records.map(save)` makes: a checkpoint
 * must not be ahead of them. Rejects with the first failure once all have ended.
 */
export async function settleAll(returned: unknown): Promise<void> {
  const value = await returned;
  if (!Array.isArray(value)) return;

  const ends = await Promise.allSettled(value);
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
