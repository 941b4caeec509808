/**
 * The seeds that a test runs: `usual` many, unless `SOAK_HISTORIES` is larger; of long ones a `share` of that.
 * `SEED` repeats the one whose number a failure printed.
 */
export function seedsToRun(usual: number, share = 1): readonly number[] {
  const repeated = process.env.SEED;
  if (repeated !== undefined && repeated !== '') return [Number(repeated)];
  const count = Math.max(usual, Number(process.env.SOAK_HISTORIES ?? 0) * share);
  return Array.from({ length: count }, (_, index) => index);
}

/** Runs something for each seed. A failure names the seed, so that it can be repeated alone. */
export async function eachSeed(
  seeds: readonly number[],
  run: (seed: number) => Promise<void>,
): Promise<void> {
  for (const seed of seeds) {
    try {
      await run(seed);
    } catch (error) {
      throw new Error(`Seed ${seed} failed. SEED=${seed} repeats it alone.`, { cause: error });
    }
  }
}
