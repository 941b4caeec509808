/** When a wait that has just begun ends, if that is known. */
export function waitingUntil(waitMs: number | undefined): Date | undefined {
  return waitMs === undefined ? undefined : new Date(Date.now() + waitMs);
}
