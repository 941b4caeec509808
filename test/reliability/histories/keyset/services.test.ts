import { isAccountingError } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { eachSeed, seedsToRun } from '../../../support/seeds.ts';
import { versionOf } from '../service/chronicle.ts';
import { churn } from '../service/churn.ts';
import { clientOf, listPages } from '../service/client.ts';
import { type IdStyle, MAX_INT4, MAX_INT8 } from '../service/ids.ts';
import { ORDERS } from '../service/orders.ts';
import { InternalError, SimServer } from '../service/server.ts';

const SERVICES = 30;
/** Not a test of how busy the machine is. */
const timeout = 3_600_000;
const STYLES: readonly IdStyle[] = ['dense', 'sparse', 'bursts', 'clusters', 'int4', 'int8', 'descending'];
const MAX_DOUBLE = 2n ** 53n - 1n;

/** A service of this seed, with or without a writer. Its id column takes no larger bound than its type. */
function serviceOf(seed: number) {
  const random = new SeededRandom(seed * 13 + 7);
  const ids = random.pick(STYLES);
  const rate = random.pick([0, 0.3, 1]);
  const server = new SimServer({
    seed,
    ids,
    order: random.pick(ORDERS),
    pageSize: random.pick([10, 30]),
    records: random.pick([5, 40, 150, 400]),
    column: ids === 'int8' ? 'int8' : 'int4',
    reshuffles: random.chance(0.2),
  });
  return { server, random, change: () => churn(server, random, { rate }) };
}

/** The largest bound that may be requested after this id was seen. */
function largestAllowed(highestSeen: bigint): bigint {
  return [MAX_INT4, MAX_DOUBLE].find((largest) => highestSeen <= largest) ?? MAX_INT8;
}

/**
 * Reads a service whose request number `failing` gets a 500, and resumes from the token of that error. Returns the
 * records that were there during the whole read and were not delivered, and how often it resumed.
 */
async function readService(seed: number, failing: number) {
  const { server, random, change } = serviceOf(seed);
  let [sent, highestSeen] = [0, 0n];
  server.beforeResponse = () => {
    if (++sent === failing) throw new InternalError();
  };
  server.afterResponse = () => {
    expect(server.largestBound, 'a bound beyond the type of the ids seen').toBeLessThanOrEqual(
      largestAllowed(highestSeen),
    );
    for (const { id } of server.lastResponse) if (BigInt(id) > highestSeen) highestSeen = BigInt(id);
    change();
  };
  const { accounts } = clientOf(server);
  const from = server.chronicle.moment;
  const delivered = new Set<string>();
  let [resumeFrom, failures]: [string | undefined, number] = [undefined, 0];
  for (let done = false; !done; ) {
    done = true;
    try {
      for await (const page of listPages(accounts, { prefetch: random.int(0, 1), resumeFrom })) {
        for (const record of page.records) delivered.add(versionOf(record));
      }
    } catch (error) {
      if (!isAccountingError(error, 'unknown_problem')) throw error;
      resumeFrom = error.resumeToken;
      failures++;
      done = false;
    }
  }
  const unchanged = server.chronicle.unchanged(from, server.chronicle.moment);
  return {
    lost: unchanged.filter((record) => !delivered.has(versionOf(record))),
    failures,
    sent,
    resumeFrom,
  };
}

test('keyset pagination reads any service completely, and requests no bound beyond the ids that it saw', {
  timeout,
}, async () => {
  await eachSeed(seedsToRun(SERVICES), async (seed) => {
    const { lost, failures } = await readService(seed, 0);
    expect(lost).toEqual([]);
    expect(failures).toBe(0);
  });
});

test('a read of any service that gets a 500 resumes from the token of the error and ends complete', {
  timeout,
}, async () => {
  let resumed = 0;
  await eachSeed(seedsToRun(SERVICES), async (seed) => {
    const failing = [1, 2, 3, 5, 8, 13, 21][seed % 7] ?? 1;
    const { lost, failures, sent, resumeFrom } = await readService(seed, failing);
    expect(lost).toEqual([]);
    expect(failures).toBe(sent < failing ? 0 : 1);
    if (resumeFrom !== undefined) resumed++;
  });
  if (process.env.SOAK_HISTORIES !== undefined) console.info(`${resumed} reads resumed from a token`);
  // The others got the 500 before their first page, or had ended.
  if (process.env.SEED === undefined) expect(resumed).toBeGreaterThan(SERVICES / 3);
});
