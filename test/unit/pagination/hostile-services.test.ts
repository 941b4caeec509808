import { describe, expect, test } from 'vitest';
import { AccountingError } from '../../../src/errors/accounting-error.ts';
import { byPage } from '../../../src/pagination/by-page.ts';
import { byKeyset } from '../../../src/pagination/keyset/keyset.ts';
import type { PageQuery, PageResponse } from '../../../src/pagination/page.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { answerOf, ids, isInside, type Row, service } from './services.ts';

type Answer = (query: PageQuery, count: number, random: SeededRandom) => PageResponse<Row>;

const shuffled = (rows: readonly string[], random: SeededRandom) =>
  rows
    .map((row) => ({ row, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ row }) => row);

const paged = (rows: readonly string[], { page = 1 }: PageQuery, pageSize = 10) =>
  answerOf(rows.slice((page - 1) * pageSize, page * pageSize));

const inside = (rows: readonly string[], { id }: PageQuery) => rows.filter((row) => isInside(row, id));

/** Compares as text does: 10 comes before 9. */
const insideAsText = (rows: readonly string[], { id }: PageQuery) =>
  rows.filter((row) => !(id?.gt !== undefined && row <= id.gt) && !(id?.lte !== undefined && row > id.lte));

/** Services that no walk may turn in for ever, whatever it delivers. */
const services: readonly (readonly [string, Answer])[] = [
  ['ignores every parameter', () => answerOf(ids(1, 10))],
  ['ignores every parameter and holds one record', () => answerOf(['7'])],
  ['ignores bounds and honours pages', (query) => paged(ids(1, 45), query)],
  ['ignores pages and honours bounds', (query) => paged(inside(ids(1, 45), query), {})],
  ['ignores the lower bound', (query) => paged(inside(ids(1, 45), { id: { lte: query.id?.lte } }), query)],
  ['ignores the upper bound', (query) => paged(inside(ids(1, 45), { id: { gt: query.id?.gt } }), query)],
  [
    'takes an upper bound as exclusive',
    (query) => paged(inside(ids(1, 45), { id: { gt: query.id?.gt, lt: query.id?.lte } }), query),
  ],
  [
    'takes a lower bound as inclusive',
    (query) => paged(inside(ids(1, 45), { id: { gte: query.id?.gt, lte: query.id?.lte } }), query),
  ],
  ['compares ids as text', (query) => paged(insideAsText(ids(1, 145).toSorted(), query), query)],
  ['sends two pages in turn', (_, count) => answerOf(count % 2 === 0 ? ids(1, 10) : ids(11, 20))],
  ['sends seven pages in turn', (_, count) => answerOf(ids((count % 7) * 10, (count % 7) * 10 + 9))],
  [
    'is full and empty in turn',
    (query, count) => (count % 2 === 0 ? answerOf([]) : paged(inside(ids(1, 45), query), query)),
  ],
  [
    'shows rows to open requests only',
    (query) =>
      query.id?.lte === undefined
        ? answerOf(ids(Number(query.id?.gt ?? 0) + 1, Number(query.id?.gt ?? 0) + 10))
        : answerOf([]),
  ],
  [
    'shows other rows at each request',
    (query, _, random) => paged(shuffled(inside(ids(1, 200), query), random), {}),
  ],
  [
    'changes its page size',
    (query, _, random) => paged(inside(ids(1, 200), query), query, random.int(1, 30)),
  ],
  [
    'sends ever shorter pages',
    (query, count) => paged(inside(ids(1, 200), query), query, Math.max(1, 40 - count)),
  ],
  [
    'sends every row twice',
    (query) =>
      paged(
        inside(ids(1, 45), query).flatMap((row) => [row, row]),
        query,
      ),
  ],
  [
    'sends one row ten times',
    (query) => answerOf(inside(['5'], query).flatMap((row) => Array(10).fill(row))),
  ],
  [
    'pads ids with zeros',
    (query) =>
      paged(
        ids(1, 45).map((row) => row.padStart(6, '0')),
        query,
      ),
  ],
  [
    'counts downwards from zero',
    (query) =>
      paged(
        ids(0, 45).map((row) => `-${row}`),
        query,
      ),
  ],
  [
    'has ids of two hundred digits',
    (query) =>
      paged(
        ids(100, 145).map((row) => row.padEnd(200, '7')),
        query,
      ),
  ],
  [
    'has rows without ids',
    (query) =>
      query.page === undefined || query.page < 4 ? answerOf(['1', '2'], [undefined]) : answerOf([]),
  ],
  ['has nothing but rows without ids', () => answerOf([], [undefined, undefined])],
  ['has rows that no schema fits', (query) => answerOf([], inside(ids(1, 45), query).slice(0, 10))],
  [
    'sends random rows',
    (_query, _count, random) => answerOf(shuffled(ids(1, 30), random).slice(0, random.int(0, 10))),
  ],
  [
    'sends anything at all',
    (query, _, random) => {
      const pool = ['', '0', '00', '-1', '1e3', 'x', ' 5', '9'.repeat(60), ...ids(1, 60)];
      const rows = random.chance(0.8) ? inside(ids(1, 60), query) : pool;
      return answerOf(
        shuffled(rows, random).slice(0, random.int(0, 12)),
        random.chance(0.1) ? ['3', undefined] : [],
      );
    },
  ],
];

const walks = {
  certified:
    (prefetch: number, hint: number | undefined) => (fetchPage: ReturnType<typeof service>['fetchPage']) =>
      byKeyset(fetchPage, { prefetch, afterLastPage: 'empty', pageSizeHint: hint }),
  pages: (prefetch: number) => (fetchPage: ReturnType<typeof service>['fetchPage']) =>
    byPage(fetchPage, { prefetch, afterLastPage: 'empty', start: 1 }),
};

/** How a walk ends: the number of requests, or that it did not within five thousand. */
async function requestsToTheEnd(answer: Answer, walk: ReturnType<typeof walks.certified>, seed: number) {
  const random = new SeededRandom(seed);
  const { fetchPage, asked } = service((query, count) => {
    if (count > 5_000) throw new Error('The walk does not end.');
    return answer(query, count, random);
  });
  try {
    for await (const _ of walk(fetchPage));
  } catch (error) {
    if (!(error instanceof AccountingError)) throw error;
  }
  return asked.length;
}

describe.each(services)('where the service %s', (_, answer) => {
  test('a certified walk ends', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const walk = walks.certified(seed % 2, [undefined, 10, 30, 1][seed % 4]);
      expect(await requestsToTheEnd(answer, walk, seed)).toBeLessThan(5_000);
    }
  });

  test('a walk by pages ends', async () => {
    for (let seed = 0; seed < 4; seed++) {
      expect(await requestsToTheEnd(answer, walks.pages(seed), seed)).toBeLessThan(5_000);
    }
  });
});
