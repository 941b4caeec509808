/** A collection that the limit has ended, or not let begin. */
export interface EndedByLimit {
  /** Why its last request failed, or what it waited for. */
  readonly lastFailure: Error | undefined;
  /** Whether it failed as in an outage of the service. */
  readonly isOutage: boolean;
  /** Whether a batch of it was committed in this run. */
  readonly hasCommitted: boolean;
}

/**
 * How a run ends whose limit is reached. An outage is no pause: repeated for ever, it would look like progress.
 * - `pause`: the next run goes on.
 * - `outage`: the service is down.
 * - `failures`: collections fail that cannot be read, and nothing else is left, or nothing was read.
 */
export function endOfPause(
  ended: readonly EndedByLimit[],
  {
    isDown,
    hasCommitted,
    hasDone,
  }: { readonly isDown: boolean; readonly hasCommitted: boolean; readonly hasDone: boolean },
): 'pause' | 'outage' | 'failures' {
  const failing = ended.filter(({ lastFailure }) => lastFailure !== undefined);
  if (failing.length === 0) return 'pause';
  const areAllStuck = ended.every((one) => one.lastFailure !== undefined && !one.hasCommitted);
  // Others were read to their end, so the service works.
  if (areAllStuck && hasDone) return 'failures';
  if (isDown || !hasCommitted) {
    const isAnyWell = ended.some((one) => one.lastFailure === undefined && one.hasCommitted);
    return isAnyWell || !failing.every((one) => one.isOutage) ? 'failures' : 'outage';
  }
  // One that has committed a batch will go on, and so will one that has not begun.
  return areAllStuck ? 'failures' : 'pause';
}
