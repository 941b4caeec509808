import { isAccountingError, type ListOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../support/seeded-random.ts';
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
  ['ignores every parameter', () => rowsOf(range(1, 10))],
  ['ignores bounds and honours pages', (query) => paged(ids, query)],
  ['ignores the lower bound', (query) => paged(inside(ids, { lte: query.id.lte }), query)],
  ['ignores the upper bound', (query) => paged(inside(ids, { gt: query.id.gt }), query)],
  [
    'takes a lower bound as inclusive',
    (query) => paged(inside(ids, { gte: query.id.gt, lte: query.id.lte }), query),
  ],
  ['compares ids as text', (query) => paged(insideAsText(query), query)],
  ['sends seven pages alternately', ({ count }) => rowsOf(range((count % 7) * 10, (count % 7) * 10 + 9))],
  [
    'is full and empty alternately',
    (query) => (query.count % 2 === 0 ? [] : paged(inside(ids, query.id), query)),
  ],
  [
    'shows rows to open requests only',
    ({ id }) => rowsOf(id.lte === undefined ? range(Number(id.gt ?? 0) + 1, Number(id.gt ?? 0) + 10) : []),
  ],
  [
    'shows other rows at each request',
    (query, random) => paged(shuffled(random, inside(range(1, 60), query.id)), { page: 1 }),
  ],
  [
    'sends ever shorter pages',
    (query) => paged(inside(range(1, 200), query.id), query, Math.max(1, 40 - query.count)),
  ],
  [
    'sends every row twice',
    (query) =>
      paged(
        inside(ids, query.id).flatMap((id) => [id, id]),
        query,
      ),
  ],
  [
    'sends one row ten times',
    (query) => rowsOf(inside(ids, query.id).includes(5) ? Array<number>(10).fill(5) : []),
  ],
  ['has rows without ids', ({ page }) => (page === undefined || page < 4 ? [...rowsOf([1, 2]), {}] : [])],
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

/** More requests than any of these services needs. */
const ENDLESS = 1_500;

/** The requests of a read, however it ends. */
async function requestsOf(respond: Respond, options: ListOptions, seed: number): Promise<number> {
  const random = new SeededRandom(seed);
  const { pages, queries } = serviceOf(
    (query) => {
      if (query.count >= ENDLESS) throw new Error('The read does not end.');
      return respond(query, random);
    },
    { validation: 'report' },
  );
  try {
    for await (const _ of pages({}, options));
  } catch (error) {
    if (!isAccountingError(error)) throw error;
  }
  return queries.length;
}

test.each(services)('a read ends if the service %s', async (_, respond) => {
  for (const seed of [0, 1]) {
    for (const options of [{ pagination: 'keyset', prefetch: seed }, { prefetch: 1 + seed }] as const) {
      expect(await requestsOf(respond, options, seed), JSON.stringify(options)).toBeLessThan(ENDLESS);
    }
  }
});
