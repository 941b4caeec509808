import { expect } from 'vitest';

/**
 * The seeds that a test runs: `usual` many, unless `SOAK_HISTORIES` is larger; of long ones a `share` of that.
 * `SEED` repeats the one whose number a failure printed.
 */
export function seedsToRun(usual: number, share = 1): readonly number[] {
  const repeated = process.env.SEED;
  if (repeated !== undefined && repeated !== '') return [Number(repeated)];
  const count = Math.max(usual, soakedHistories() * share);
  return Array.from({ length: count }, (_, index) => index);
}

const soakedHistories = () => Number(process.env.SOAK_HISTORIES ?? 0);

/** Not that of a virtual clock. */
const { setImmediate } = globalThis;

/** Runs something for each seed. A failure names the seed, so that it can be repeated alone. */
export async function eachSeed(
  seeds: readonly number[],
  run: (seed: number) => Promise<void>,
): Promise<void> {
  for (const seed of seeds) {
    try {
      await run(seed);
      // Without a turn of the event loop, V8 keeps what a WeakRef was asked for: 150 kB for each history.
      await new Promise((resolve) => setImmediate(resolve));
    } catch (error) {
      throw new Error(`Seed ${seed} failed. SEED=${seed} repeats it alone.`, { cause: error });
    }
  }
}

/** Plays the history of a seed. Resolves to what was wrong with it; empty if nothing was. */
export type Play = (seed: number) => Promise<readonly string[]>;

/** Plays the history of each seed. Fails at the first that has a finding. */
export function expectNoFindings(seeds: readonly number[], play: Play): Promise<void> {
  return eachSeed(seeds, async (seed) => expect(await play(seed)).toEqual([]));
}

/**
 * Plays histories of something that is wrong on purpose, until one has a finding. Fails if none of `most` does. A soak
 * plays them all and prints how many had one. A `first` seed that is known to have it saves the others.
 */
export async function expectFinding(most: number, play: Play, first = 0): Promise<void> {
  const isSoak = soakedHistories() > 0;
  let histories = 0;
  for (let count = 0; count < most && (isSoak || histories === 0); count += 1) {
    const found = await play((first + count) % most);
    if (found.length > 0) histories += 1;
  }
  if (isSoak) console.info(`${expect.getState().currentTestName}: ${histories} of ${most} histories`);
  expect(histories).toBeGreaterThan(0);
}

/** For tests that play histories: longer than any soak, on any machine. */
export const NO_HURRY = { timeout: 24 * 3_600_000 };
