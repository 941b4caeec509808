import { expect } from 'vitest';

/** Each night tests also run what differs from others only in the version of a library. */
export const isNightly = process.env.NIGHTLY !== undefined;

/**
 * The seeds that a test runs: `usual` many, unless `SOAK_HISTORIES` is larger. `SEED` repeats the one whose number a
 * failure printed.
 */
export function seedsToRun(usual: number): readonly number[] {
  const repeated = process.env.SEED;
  if (repeated !== undefined && repeated !== '') return [Number(repeated)];
  const count = Math.max(usual, Number(process.env.SOAK_HISTORIES ?? 0));
  return Array.from({ length: count }, (_, index) => index);
}

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
      // The reason stands in the message too, because reports of tests leave causes out.
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`Seed ${seed} failed. SEED=${seed} repeats it alone. ${reason}`, { cause: error });
    }
  }
}

/** Plays the history of each seed, which resolves to what was wrong with it. Fails at the first that has a finding. */
export function expectNoFindings(
  seeds: readonly number[],
  play: (seed: number) => Promise<readonly string[]>,
): Promise<void> {
  return eachSeed(seeds, async (seed) => expect(await play(seed)).toEqual([]));
}

const isSoak = Object.keys(process.env).some((name) => name.startsWith('SOAK_'));
const MINUTE_MS = 60_000;

/**
 * For tests that play histories: longer than they take on any machine, and than any soak. Frozen: `test.concurrent` writes
 * into its options.
 */
export const NO_HURRY = Object.freeze({ timeout: isSoak ? 24 * 60 * MINUTE_MS : 15 * MINUTE_MS });
