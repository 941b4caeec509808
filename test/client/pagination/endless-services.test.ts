import { isAccountingError, type ListOptions } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { settle } from '../../support/scripted-server.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { eachSeed, seedsToRun } from '../../support/seeds.ts';
import { inside, type Query, range, rowsOf, serviceOf } from './service.ts';

type Rows = readonly { readonly id?: unknown }[];
type Respond = (query: Query, random: SeededRandom) => Rows;

/** The page of these ids that was requested. */
const paged = (ids: readonly (string | number)[], { page = 1 }: Pick<Query, 'page'>, pageSize = 10) =>
  rowsOf(ids.slice((page - 1) * pageSize, page * pageSize));

const shuffled = <T>(random: SeededRandom, values: readonly T[]) =>
  values
    .map((value) => ({ value, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);

/** Compares as text does: 10 comes before 9. */
const insideAsText = ({ id: { gt, lte } }: Query) =>
  range(1, 145)
    .map(String)
    .toSorted()
    .filter((id) => !(gt !== undefined && id <= String(gt)) && !(lte !== undefined && id > String(lte)));

const ids = range(1, 45);

/** Services with which no read may request pages for ever, whatever it delivers. */
const services: readonly (readonly [string, Respond])[] = [
  ['compares ids as text', (query) => paged(insideAsText(query), query)],
  [
    'shows other rows at each request',
    (query, random) => paged(shuffled(random, inside(range(1, 60), query.id)), { page: 1 }),
  ],
  [
    'sends ever shorter pages',
    (query) => paged(inside(range(1, 200), query.id), query, Math.max(1, 40 - query.count)),
  ],
  [
    'sends one row ten times',
    (query) => rowsOf(inside(ids, query.id).includes(5) ? Array<number>(10).fill(5) : []),
  ],
  [
    'sends anything at all',
    (query, random) => {
      const odd = ['', '0', '00', '-1', '1e3', 'x', ' 5', '9'.repeat(60), ...range(1, 60)];
      const some = random.chance(0.8) ? inside(range(1, 60), query.id) : odd;
      const rows = rowsOf(shuffled<string | number>(random, some).slice(0, random.int(0, 12)));
      return random.chance(0.1) ? [...rows, { id: 3 }, {}] : rows;
    },
  ],
];

/** A response that proves nothing is requested again in another way at most so often. */
const MOST_FRUITLESS = 1_000;

/** Reads until the end or a typed error, and checks how many requests no page follows. */
async function expectEnd(respond: Respond, options: ListOptions, seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  let fruitless = 0;
  const { pages } = serviceOf(
    async (query) => {
      fruitless += 1;
      if (fruitless > MOST_FRUITLESS + 8) throw new Error('The read does not end.');
      // Not with the requests that were sent together.
      if (random.chance(0.5)) await settle(1);
      return respond(query, random);
    },
    { validation: 'report' },
  );
  try {
    for await (const _ of pages({}, options)) fruitless = 0;
  } catch (error) {
    if (!isAccountingError(error)) throw error;
  }
  expect(fruitless).toBeLessThanOrEqual(MOST_FRUITLESS + 8);
}

describe.each(services)('a read ends if the service %s', (_, respond) => {
  test.each<ListOptions>([{ pagination: 'keyset', prefetch: 0 }, { prefetch: 4 }, { pagination: 'page' }])(
    'and the list has the options %j',
    async (options) => {
      for (const seed of [0, 1]) await expectEnd(respond, options, seed);
    },
  );
});

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
  await eachSeed(seedsToRun(120), async (seed) => {
    const random = new SeededRandom(seed);
    const options: ListOptions = {
      prefetch: random.pick([0, 1, 2, 4, 8]),
      pagination: random.pick([undefined, undefined, 'keyset', 'page']),
    };
    await expectEnd(anyService(random), options, seed);
  });
});
