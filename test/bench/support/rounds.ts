/** The middle of some values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** `12.3 (12.1–12.9)`: the middle of some values and how far they lie apart. */
export function shown(values: readonly number[], digits = 1): string {
  const text = median(values).toFixed(digits);
  if (values.length < 2) return text;
  return `${text} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
}

/** One value for each round. */
export type Rounds<T> = readonly T[];

/**
 * Runs each of some names once a round, one after another, each round beginning with another: what slows the machine
 * slows them all.
 */
export async function interleave<Name extends string, T>(
  names: readonly Name[],
  rounds: number,
  run: (name: Name) => Promise<T>,
): Promise<Readonly<Record<Name, Rounds<T>>>> {
  const found = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Name, T[]>;
  for (let round = 0; round < rounds; round += 1) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) found[name].push(await run(name));
  }
  return found;
}

/** Round by round, values over those of another. */
export function ratios(values: Rounds<number>, over: Rounds<number>): number[] {
  return values.map((value, round) => value / (over[round] ?? Number.NaN));
}
