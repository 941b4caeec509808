import { isAccountingError, type ListOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../support/seeded-random.ts';
import { inside as insideBounds, type Query, range, rowsOf, serviceOf } from './service.ts';

type Rows = readonly { readonly id?: unknown }[];
type Respond = (query: Query, random: SeededRandom) => Rows;

const paged = <T>(rows: readonly T[], { page = 1 }: Pick<Query, 'page'>, pageSize = 10) =>
  rows.slice((page - 1) * pageSize, page * pageSize);

const shuffled = <T>(random: SeededRandom, values: readonly T[]) =>
  values
    .map((value) => ({ value, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);

const inside = (to: number, { id }: Pick<Query, 'id'>) => insideBounds(range(1, to), id);

/** Compares as text does: 10 comes before 9. */
const insideAsText = (to: number, { id: { gt, lte } }: Query) =>
  range(1, to)
    .map(String)
    .toSorted()
    .filter((id) => !(gt !== undefined && id <= String(gt)) && !(lte !== undefined && id > String(lte)));

/** Services with which no read may request pages for ever, whatever it delivers. */
const services: readonly (readonly [string, Respond])[] = [
  ['ignores every parameter', () => rowsOf(range(1, 10))],
  ['ignores every parameter and has one record', () => rowsOf([7])],
  ['ignores bounds and honours pages', (query) => rowsOf(paged(range(1, 45), query))],
  ['ignores pages and honours bounds', (query) => rowsOf(paged(inside(45, query), { page: 1 }))],
  ['ignores the lower bound', (query) => rowsOf(paged(inside(45, { id: { lte: query.id.lte } }), query))],
  ['ignores the upper bound', (query) => rowsOf(paged(inside(45, { id: { gt: query.id.gt } }), query))],
  [
    'takes an upper bound as exclusive',
    (query) => rowsOf(paged(inside(45, { id: { gt: query.id.gt, lt: query.id.lte } }), query)),
  ],
  [
    'takes a lower bound as inclusive',
    (query) => rowsOf(paged(inside(45, { id: { gte: query.id.gt, lte: query.id.lte } }), query)),
  ],
  ['compares ids as text', (query) => rowsOf(paged(insideAsText(145, query), query))],
  ['sends two pages alternately', ({ count }) => rowsOf(count % 2 === 0 ? range(1, 10) : range(11, 20))],
  ['sends seven pages alternately', ({ count }) => rowsOf(range((count % 7) * 10, (count % 7) * 10 + 9))],
  [
    'is full and empty alternately',
    (query) => rowsOf(query.count % 2 === 0 ? [] : paged(inside(45, query), query)),
  ],
  [
    'shows rows to open requests only',
    ({ id }) => rowsOf(id.lte === undefined ? range(Number(id.gt ?? 0) + 1, Number(id.gt ?? 0) + 10) : []),
  ],
  [
    'shows other rows at each request',
    (query, random) => rowsOf(paged(shuffled(random, inside(200, query)), { page: 1 })),
  ],
  ['changes its page size', (query, random) => rowsOf(paged(inside(200, query), query, random.int(1, 30)))],
  [
    'sends ever shorter pages',
    (query) => rowsOf(paged(inside(200, query), query, Math.max(1, 40 - query.count))),
  ],
  [
    'sends every row twice',
    (query) =>
      rowsOf(
        paged(
          inside(45, query).flatMap((id) => [id, id]),
          query,
        ),
      ),
  ],
  ['sends one row ten times', (query) => rowsOf(inside(45, query).includes(5) ? Array(10).fill(5) : [])],
  [
    'pads ids with zeros',
    (query) =>
      rowsOf(
        paged(
          range(1, 45).map((id) => String(id).padStart(6, '0')),
          query,
        ),
      ),
  ],
  [
    'counts downwards from zero',
    (query) =>
      rowsOf(
        paged(
          range(0, 45).map((id) => -id),
          query,
        ),
      ),
  ],
  [
    'has ids of two hundred digits',
    (query) =>
      rowsOf(
        paged(
          range(100, 145).map((id) => String(id).padEnd(200, '7')),
          query,
        ),
      ),
  ],
  ['has rows without ids', ({ page }) => (page === undefined || page < 4 ? [...rowsOf([1, 2]), {}] : [])],
  ['has nothing but rows without ids', () => [{}, {}]],
  [
    'has rows that fail validation',
    (query) =>
      inside(45, query)
        .slice(0, 10)
        .map((id) => ({ id })),
  ],
  ['sends random rows', (_, random) => rowsOf(shuffled(random, range(1, 30)).slice(0, random.int(0, 10)))],
  [
    'sends anything at all',
    (query, random) => {
      const odd = ['', '0', '00', '-1', '1e3', 'x', ' 5', '9'.repeat(60), ...range(1, 60)];
      const rows = shuffled<string | number>(random, random.chance(0.8) ? inside(60, query) : odd);
      return [...rowsOf(rows.slice(0, random.int(0, 12))), ...(random.chance(0.1) ? [{ id: 3 }, {}] : [])];
    },
  ],
];

/** The requests of a read, however it ends; too many of them are an error of their own. */
async function requestsOf(respond: Respond, options: ListOptions, seed: number): Promise<number> {
  const random = new SeededRandom(seed);
  const { pages, queries } = serviceOf(
    (query) => {
      if (query.count > 5_000) throw new Error('The read does not end.');
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

const hints = [undefined, 0, 10, 30].map((pageSize) =>
  pageSize === undefined ? undefined : ({ pageSize, order: 'asc', sortedById: true } as const),
);

test.each(services)('a read ends if the service %s', async (_, respond) => {
  for (const [seed, hint] of hints.entries()) {
    const options = { pagination: 'keyset', prefetch: seed % 2, hint } as const;
    expect(await requestsOf(respond, options, seed), `keyset, seed ${seed}`).toBeLessThan(5_000);
    expect(await requestsOf(respond, { prefetch: seed }, seed), `page, seed ${seed}`).toBeLessThan(5_000);
  }
});
