/** The most records to delete, or to change because they are missing, of so many: more look like a mistake. */
export function mostCandidates(given: number | undefined, count: number): number {
  return given ?? Math.max(50, Math.floor(count / 10));
}
