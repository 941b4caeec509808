/** What to do about a name that does not exist: one sentence. */
export function suggestion(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `Known: ${known.join(', ')}.` : `Did you mean ${meant}?`;
}

/** The known name that is most like another: a typing error, another case, or a part of it. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const given = normalized(name);
  const byDistance = known
    .map((candidate) => ({ candidate, distance: distance(given, normalized(candidate)) }))
    .filter(({ distance, candidate }) => distance <= Math.max(given.length, candidate.length) / 3)
    .sort((a, b) => a.distance - b.distance);
  if (byDistance[0] !== undefined) return byDistance[0].candidate;
  if (given.length < 3) return undefined;
  return known.find(
    (candidate) => normalized(candidate).includes(given) || given.includes(normalized(candidate)),
  );
}

/** `base_url`, `baseURL` and `BaseUrl` are the same word. */
function normalized(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-.\s]/g, '');
}

/** The number of insertions, deletions, replacements and swaps of neighbours between two strings. */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}

/** A name for a message: in one line, and not longer than any real one. */
export function printable(name: string): string {
  const start = name.slice(0, 40);
  return /^[\w$]+$/.test(start) ? start : JSON.stringify(start);
}
