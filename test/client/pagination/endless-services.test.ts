import { isAccountingError, type ListOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { settle } from '../../support/scripted-server.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { eachSeed, seedsToRun } from '../../support/seeds.ts';
import { inside, type Query, range, serviceOf } from './service.ts';

type Rows = readonly { readonly id?: unknown }[];
type Respond = (query: Query, random: SeededRandom) => Rows;

const shuffled = <T>(random: SeededRandom, values: readonly T[]) =>
  values
    .map((value) => ({ value, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);

/** A response that proves nothing is requested again in another way at most so often. */
const MOST_FRUITLESS = 1_000;

/** Reads until the end or a typed error, and checks how many requests no page follows. */
async function expectEnd(respond: Respond, options: ListOptions, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  let stalled = 0;
  const { pages } = serviceOf(
    async (query) => {
      stalled += 1;
      if (stalled > MOST_FRUITLESS + 8) throw new Error('The read does not end.');
      // Not with the requests that were sent together.
      if (random.chance(0.5)) await settle(1);
      return respond(query, random);
    },
    { validation: 'report' },
  );
  try {
    for await (const _ of pages({}, options)) stalled = 0;
  } catch (error) {
    if (!isAccountingError(error)) throw error;
  }
  expect(stalled).toBeLessThanOrEqual(MOST_FRUITLESS + 8);
}

const kindsOfIds: readonly ((n: number, random: SeededRandom) => string)[] = [
  (n) => String(n),
  (n) => String(n * 97),
  (n) => String(2_147_483_600 + n),
  (n) => String(10n ** 18n + BigInt(n)),
  (n) => String(n).padStart(4, '0'),
  (n) => `A-${n}`,
  (n) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`,
  (n) => '9'.repeat(n + 30),
  (_, random) => random.pick(['', '-7', ' 7', '7.5', '1e3', 'null']),
];

/** Ids of one kind; of these, some may be of another kind, wherever they stand. */
function mixedIds(random: SeededRandom): readonly string[] {
  const usual = random.pick(kindsOfIds);
  const other = random.pick(kindsOfIds);
  const others = random.pick([0, 0, 0.01, 0.1]);
  return range(1, random.int(0, 120)).map((n) => (random.chance(others) ? other : usual)(n, random));
}

/** What a bound leaves of the ids at these positions, by the position of the bound. */
type Bounded = (positions: readonly number[], bounds: Readonly<Record<string, number>>) => readonly number[];

const waysToBound: readonly Bounded[] = [
  inside,
  inside,
  inside,
  (positions) => positions,
  (positions, { gt }) => inside(positions, { gt: String(gt ?? -1) }),
  (positions, { lte }) => inside(positions, { lte: String(lte ?? 1e9) }),
  (positions, { gt, ...others }) => inside(positions, { ...others, gte: gt } as object),
  (positions, { lte, ...others }) => (lte === undefined ? inside(positions, others as object) : []),
];

/** A service with ids of any kind, in any order, that reads bounds and page numbers in some way. */
function anyService(random: SeededRandom): Respond {
  const ids = mixedIds(random);
  const order = random.pick<(positions: readonly number[]) => readonly number[]>([
    (positions) => positions,
    (positions) => positions.toReversed(),
    (positions) => positions.toSorted((a, b) => (a % 7) - (b % 7)),
    (positions) => shuffled(random, positions),
  ]);
  const bounded = random.pick(waysToBound);
  const pageSize = random.pick([1, 2, 3, 10, 30]);
  const pageOf = random.pick<(page: number, last: number) => number>([
    (page) => page,
    () => 1,
    (page, last) => Math.min(page, last),
    (page) => page + 1,
  ]);
  const shortens = random.chance(0.1);
  const positionOf = (bound: string | undefined) => {
    const position = ids.findIndex(
      (id) => id.length > (bound ?? '').length || (id.length === bound?.length && id >= bound),
    );
    return position < 0 ? ids.length : position;
  };
  return ({ page = 1, id }) => {
    const bounds = Object.entries(id).map(([name, bound]) => [name, positionOf(bound as string)]);
    const rows = order(
      bounded(
        ids.map((_, n) => n),
        Object.fromEntries(bounds),
      ),
    );
    const size = shortens ? random.int(0, pageSize) : pageSize;
    const from = (pageOf(page, Math.max(1, Math.ceil(rows.length / pageSize))) - 1) * pageSize;
    return rows.slice(from, from + size).map((position) => ({ id: ids[position] }));
  };
}

test('a read with a cursor that continues after a thousand pages without rows ends with FilterIgnoredError', async () => {
  const { accounts, queries } = serviceOf(() => []);
  const pagination = { first: {}, next: () => ({}) };
  const error = await caught(accounts.list({}, { pagination }).toArray({ limit: 1 }));
  expect(error).toMatchObject({ code: 'filter_ignored', message: expect.stringContaining('1000 pages') });
  expect(queries.length).toBeLessThan(1_003);
});

test('a read ends, whatever the ids are, and whatever the service does with bounds, pages and the order', async () => {
  await eachSeed(seedsToRun(15), async (seed) => {
    const random = new SeededRandom(seed);
    const options: ListOptions = {
      prefetch: random.pick([0, 1, 2, 4, 8]),
      pagination: random.pick([undefined, undefined, 'keyset', 'page']),
    };
    await expectEnd(anyService(random), options, seed);
  });
});
