import { createClient, isAccountingError, push, type Store } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { numbered } from '../../../support/push.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { NO_HURRY } from '../../../support/seeds.ts';
import { onVirtualClock, runUntilSettled } from '../../../support/virtual-clock.ts';

/** `SOAK_HISTORIES=200` plays more of each. */
const TRIALS = Number(process.env.SOAK_HISTORIES ?? 6);

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Two processes push the same rows with one store, one of them a little later. Returns what was created, and how each ended. */
async function playTwo(seed: number, latencyMs: number) {
  const random = new SeededRandom(seed);
  const sandbox = createSandbox({ idempotency: random.chance(0.5) ? {} : { replay: 'ignored' } });
  const entries = new Map<string, string>();
  const rows = numbered(random.pick([3, 3, 120]));
  const call = async <V>(work: () => V) => {
    if (latencyMs === 0) return work();
    const beforeMs = random.int(0, latencyMs);
    await sleep(beforeMs);
    const result = work();
    await sleep(latencyMs - beforeMs);
    return result;
  };
  const store: Store = {
    get: (key) => call(() => entries.get(key)),
    set: (key, value) => call(() => entries.set(key, value)),
  };
  const runOne = async (delayMs: number) => {
    await sleep(delayMs);
    // Another process does not know the pushes of this one.
    Reflect.get(globalThis, Symbol.for('accounting-data-sdk.pushes'))?.clear();
    let posts = 0;
    const fetch: typeof globalThis.fetch = async (...args) => {
      const request = new Request(...args);
      if (request.method === 'POST') posts += 1;
      await sleep(request.method === 'POST' ? random.int(0, 20) : 5);
      return await sandbox.fetch(request);
    };
    const { products } = createClient({ ...sandbox.clientOptions, fetch, retry: { creates: false } });
    const options = { tenant: 'shop', rows, key: 'productNumber', visibleAfterMs: 0, store } as const;
    return await push(products, options).then(
      () => undefined,
      (error: unknown) => ({ posts, code: isAccountingError(error) ? error.code : String(error) }),
    );
  };
  const begunAfterMs = random.pick([0, 0, random.int(0, 4 * latencyMs + 10), random.int(0, 2_000)]);
  const ends = await runUntilSettled(Promise.all([runOne(0), runOne(begunAfterMs)]));
  const created = sandbox.store.products.all().map(({ productNumber }) => productNumber);
  return { created, expected: rows.map(({ productNumber }) => productNumber), ends };
}

const playAlone = onVirtualClock(playTwo);

test.each([0, 5, 30])(
  'of two pushes that begin at nearly the same moment with a store that takes %s ms, one creates each product once',
  NO_HURRY,
  async (latencyMs) => {
    let rejected = 0;
    for (let trial = 0; trial < TRIALS; trial++) {
      const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
      const { created, expected, ends } = await playAlone(seed, latencyMs);
      const losers = ends.filter((end) => end !== undefined);
      rejected += losers.length;
      const lost = { posts: 0, code: 'concurrent_run' };
      expect({ seed, created: created.toSorted(), losers }).toEqual({
        seed,
        created: expected.toSorted(),
        losers: losers.length === 0 ? [] : [lost],
      });
    }
    expect(rejected).toBeGreaterThan(TRIALS / 4);
  },
);
