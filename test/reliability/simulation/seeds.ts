/**
 * How many histories a test runs: `usual`, unless `SOAK_HISTORIES` asks for more; of long ones a `share` of that.
 * `SIM_SEED` replays the one history whose seed a failure printed.
 */
export function seedsToRun(usual: number, share = 1): readonly number[] {
  const replayed = process.env.SIM_SEED;
  if (replayed !== undefined && replayed !== '') return [Number(replayed)];
  const count = Math.max(usual, Number(process.env.SOAK_HISTORIES ?? 0) * share);
  return Array.from({ length: count }, (_, index) => index);
}

/** Runs one history for each seed. A failure names the seed, so that this history alone can be run again. */
export async function eachSeed(
  seeds: readonly number[],
  history: (seed: number) => Promise<void>,
): Promise<void> {
  for (const seed of seeds) {
    try {
      await history(seed);
    } catch (error) {
      throw new Error(`History ${seed} failed; replay it alone with SIM_SEED=${seed}`, { cause: error });
    }
  }
}
