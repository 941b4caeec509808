import {
  createClient,
  isAccountingError,
  type Product,
  type ProductDraft,
  type PushOptions,
  push,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { numbered } from '../../../support/push.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { NO_HURRY } from '../../../support/seeds.ts';
import { onVirtualClock, runUntilSettled } from '../../../support/virtual-clock.ts';

/** `SOAK_HISTORIES=200` plays more of each. */
const TRIALS = Number(process.env.SOAK_HISTORIES ?? 6);

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The pushes that run in this process. */
const runsOfProcess = () =>
  (globalThis as Record<symbol, unknown>)[Symbol.for('accounting-data-sdk.pushes')] as
    | Set<string>
    | undefined;

interface End {
  readonly posts: number;
  /** Of a push that was rejected. */
  readonly code: string | undefined;
}

/** Two processes push the same rows with one store, one of them a little later. Returns how each ended. */
async function playTwo(seed: number, latencyMs: number) {
  const random = new SeededRandom(seed);
  const sandbox = createSandbox({ idempotency: random.chance(0.5) ? {} : { replay: 'ignored' } });
  const entries = new Map<string, string>();
  const rows = numbered(random.pick([3, 3, 120]));
  const runOne = async (delayMs: number): Promise<End> => {
    await sleep(delayMs);
    // Another process does not know the pushes of this one.
    runsOfProcess()?.clear();
    let posts = 0;
    const call = async <V>(work: () => V) => {
      if (latencyMs === 0) return work();
      const beforeMs = random.int(0, latencyMs);
      await sleep(beforeMs);
      const result = work();
      await sleep(latencyMs - beforeMs);
      return result;
    };
    const fetch: typeof globalThis.fetch = async (...args) => {
      const request = new Request(...args);
      if (request.method === 'POST') posts += 1;
      await sleep(request.method === 'POST' ? random.int(0, 20) : 5);
      return await sandbox.fetch(request);
    };
    const client = createClient({ ...sandbox.clientOptions, fetch, retry: { creates: false } });
    const options: PushOptions<Product, ProductDraft, never> = {
      tenant: 'shop',
      rows,
      key: 'productNumber',
      visibleAfterMs: 0,
      store: {
        get: (key) => call(() => entries.get(key)),
        set: (key, value) => call(() => entries.set(key, value)),
      },
    };
    try {
      await push(client.products, options);
      return { posts, code: undefined };
    } catch (error) {
      if (!isAccountingError(error)) throw error;
      return { posts, code: error.code };
    }
  };
  const begunAfterMs = random.pick([0, 0, random.int(0, 4 * latencyMs + 10), random.int(0, 2_000)]);
  const ends = await runUntilSettled(Promise.all([runOne(0), runOne(begunAfterMs)]));
  const numbers = sandbox.store.products.all().map(({ productNumber }) => productNumber);
  return { rows, ends, numbers };
}

const playAlone = onVirtualClock(playTwo);

test.each([0, 5, 30])(
  'of two pushes that begin at nearly the same moment with a store that takes %s ms, one creates each product once',
  NO_HURRY,
  async (latencyMs) => {
    let rejected = 0;
    for (let trial = 0; trial < TRIALS; trial++) {
      const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
      const { rows, ends, numbers } = await playAlone(seed, latencyMs);
      const losers = ends.filter(({ code }) => code !== undefined);
      rejected += losers.length;
      const counts = {
        numbers: numbers.length,
        created: new Set(numbers).size,
        succeeded: ends.length - losers.length > 0,
      };
      expect({ seed, ...counts, losers }).toEqual({
        seed,
        numbers: rows.length,
        created: rows.length,
        succeeded: true,
        losers: losers.map(() => ({ posts: 0, code: 'concurrent_run' })),
      });
    }
    expect(rejected).toBeGreaterThan(TRIALS / 4);
  },
);
