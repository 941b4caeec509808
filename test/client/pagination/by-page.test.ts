import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { problemResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import * as service from './service.ts';
import { all, idsOf, notFound, type Rows, range, rowsOf } from './service.ts';

const byPage = { pagination: 'page' } as const;
const serviceOf: typeof service.serviceOf = (respond, options) =>
  service.serviceOf(respond, { ...byPage, ...options });
const listing = (ids: readonly number[], pageSize: number) => service.listing(ids, pageSize, byPage);
/** A service with these pages, and empty ones after them. */
const withPages = (...pages: readonly (readonly (string | number)[])[]) =>
  serviceOf(({ page = 1 }) => rowsOf(pages[page - 1] ?? []));

const strings = (from: number, to: number) => range(from, to).map(String);
const oneAtATime = { prefetch: 0 };

test('a list by page requests page after page until an empty one, and the one after it', async () => {
  const { accounts, queries } = listing(range(1, 7), 3);
  expect(await idsOf(accounts.list({}, oneAtATime))).toEqual(strings(1, 7));
  expect(queries).toEqual(['_page=1', '_page=2', '_page=3', '_page=4', '_page=5']);

  // A list of changes, and the first record, cost no more than before.
  const changes = listing(range(1, 3), 3);
  await idsOf(changes.accounts.list({ updatedSince: '2026-01-01' }, oneAtATime));
  expect(changes.queries).toHaveLength(2);
  const empty = listing([], 3);
  await empty.accounts.list({}, oneAtATime).first();
  expect(empty.queries).toHaveLength(1);
});

test.each([400, 404, 410, 416, 422])(
  'a list by page ends if the page after an empty one is a %i',
  async (status) => {
    const { accounts } = serviceOf(({ page = 1 }) =>
      page > 2 ? problemResponse(status, {}) : rowsOf(page === 1 ? [1, 2] : []),
    );
    for (const prefetch of [0, 4]) expect(await idsOf(accounts.list({}, { prefetch }))).toEqual(['1', '2']);
  },
);

test('a list by page delivers each row once and counts those that come again, however long after', async () => {
  const { pages } = withPages([1, 2, 3], [4, 5, 5], [3, 5, 6], [5, 6], [1, 7], [2, 3]);
  const read = await all(pages());
  for (const { ids, records, sent } of read) {
    expect(ids).toEqual(records.map(({ id }) => id));
    expect(sent).toEqual(records);
  }
  expect(read.map(({ ids, repeated, complete }) => [ids, repeated, complete])).toEqual([
    [['1', '2', '3'], 0, undefined],
    [['4', '5'], 1, 'likely'],
    [['6'], 3, 'likely'],
    [['7'], 6, 'likely'],
    [[], 8, 'likely'],
  ]);
});

test('a list by page warns once that rows came again', async () => {
  const warn = vi.fn();
  const { accounts } = serviceOf(
    ({ page = 1 }) =>
      rowsOf(
        [
          [1, 2],
          [2, 3],
          [3, 4],
        ][page - 1] ?? [],
      ),
    {
      logger: { debug: () => {}, info: () => {}, warn },
    },
  );
  expect(await idsOf(accounts.list())).toEqual(strings(1, 4));
  expect(
    warn.mock.calls
      .flat()
      .join(' ')
      .match(/rows came twice/g),
  ).toHaveLength(1);
});

test('a list by page reports an invalid row once that two pages contain, and delivers it if it is valid by then', async () => {
  const invalidRecord = vi.fn();
  const responses = [
    [{ id: '1' }, { id: 2 }, { name: 'no id' }],
    [{ id: 2 }, { name: 'no id' }],
    [{ id: '2' }, { id: '3' }],
    [{ name: 'no id' }, { id: '4' }, { id: 2 }],
  ];
  const { pages } = serviceOf(({ page = 1 }) => responses[page - 1] ?? [], {
    validation: 'report',
    on: { invalidRecord },
  });
  const read = await all(pages());
  expect(read.map(({ ids, invalid, repeated }) => [ids, invalid.length, repeated])).toEqual([
    [['1'], 2, 0],
    [['2', '3'], 0, 2],
    [['4'], 0, 4],
  ]);
  expect(invalidRecord).toHaveBeenCalledTimes(2);
});

const repeating: readonly (readonly [string, (count: number) => Rows])[] = [
  ['the same page again', () => rowsOf([1, 2])],
  ['five pages alternately', (count) => rowsOf(range((count % 5) * 10, (count % 5) * 10 + 9))],
  [
    'parts of earlier pages',
    (count) => rowsOf(count === 1 ? range(1, 9) : range(1 + (count % 2), 6 + (count % 3))),
  ],
];

test.each(repeating)(
  'a list by page throws FilterIgnoredError if the service sends %s for ever',
  async (_, respond) => {
    const { accounts, queries } = serviceOf(({ count }) => respond(count), { validation: 'report' });
    const error = await caught(all(accounts.list()));
    expect(error).toMatchObject({
      code: 'filter_ignored',
      path: '/accounts',
      message: expect.stringContaining('GET /accounts returned the rows of earlier pages again and again'),
    });
    expect(queries.length).toBeLessThan(1_000);
  },
);

test.each([
  [1, 10],
  [9, 2],
])(
  'a list by page reads on if a page of %d rows, in an order without a tie-break, comes %d times by chance',
  async (size, times) => {
    const order = [...Array<number>(times - 1).fill(1), ...range(1, 10)];
    const { accounts } = serviceOf(({ page = 1 }) => {
      const chosen = order[page - 1];
      return chosen === undefined ? [] : rowsOf(range((chosen - 1) * size + 1, chosen * size));
    });
    expect(await idsOf(accounts.list())).toEqual(range(1, 10 * size).map(String));
  },
);

test.each([
  ['its last page, of three rows,', [range(1, 3), range(4, 6)], 4],
  ['its last page, of one row,', [range(1, 3), range(4, 6), [7]], 10],
  ['its first page, after a short last one,', [range(1, 30), range(31, 60), [61]], 2],
  ['its first page, of two rows,', [[1, 2], [3, 4], [5]], 5],
])('a list by page ends at a service that repeats %s for ever', async (what, numbers, repeats) => {
  const warn = vi.fn();
  const end = what.includes('first') ? numbers[0] : numbers.at(-1);
  const { pages, queries } = serviceOf(
    ({ page = 1 }) => (numbers[page - 1] ?? end ?? []).map((id) => ({ id: `u-${id}` })),
    { logger: { debug() {}, info() {}, warn } },
  );
  const read = await all(pages());
  expect(read.flatMap(({ ids }) => ids)).toEqual(numbers.flat().map((id) => `u-${id}`));
  // Nothing was missed, so nothing is counted.
  expect(read.map(({ repeated }) => repeated)).toEqual(numbers.map(() => 0));
  expect(read.at(-1)).toMatchObject({ complete: 'likely' });
  expect(queries).toHaveLength(numbers.length + repeats);
  expect(warn).not.toHaveBeenCalled();
});

test('a list by page takes a 404 after the first page for the end with afterLastPage: not_found', async () => {
  const { accounts } = serviceOf(({ page = 1 }) => (page > 2 ? notFound() : rowsOf([page])));
  expect(await idsOf(accounts.list({}, { afterLastPage: 'not_found' }))).toEqual(['1', '2']);
  // Some frameworks send a page of their own.
  const html = () =>
    new Response('<h1>Not Found</h1>', { status: 404, headers: { 'content-type': 'text/html' } });
  const { accounts: ofPages } = serviceOf(({ page = 1 }) => (page > 2 ? html() : rowsOf([page])));
  expect(await idsOf(ofPages.list({}, { afterLastPage: 'not_found' }))).toEqual(['1', '2']);
  expect(await caught(all(accounts.list()))).toMatchObject({ code: 'not_found' });
  const fromPage3 = accounts.list({ page: 3 }, { afterLastPage: 'not_found' });
  expect(await all(fromPage3)).toEqual([]);
});

test('a list by page requests the first page alone, and then as many ahead as allowed', async () => {
  const firstPage = Promise.withResolvers<Rows>();
  const { pages, queries } = serviceOf(({ page = 1 }) => (page === 1 ? firstPage.promise : rowsOf([page])));
  const read = pages({}, { prefetch: 3 });
  const first = read.next();
  await settle();
  expect(queries).toHaveLength(1);
  firstPage.resolve(rowsOf([1]));
  await first;
  await settle();
  expect(queries).toHaveLength(4);
  await read.next();
  await settle();
  expect(queries).toHaveLength(5);
  await read.return?.();
});

test('a list by page keeps pages in order that arrive out of order', async () => {
  const late = Promise.withResolvers<Rows>();
  const { accounts } = serviceOf(({ page = 1 }) =>
    page === 2 ? late.promise : rowsOf(page < 5 ? [page] : []),
  );
  const read = idsOf(accounts.list({}, { prefetch: 3 }));
  await settle();
  late.resolve(rowsOf([2]));
  expect(await read).toEqual(strings(1, 4));
});

test('a list by page throws a failed page ahead only after the pages before it, and requests nothing after it', async () => {
  const { accounts, queries } = serviceOf(({ page = 1 }) =>
    page === 3 ? new Response('{}', { status: 403 }) : rowsOf([page]),
  );
  const seen: string[] = [];
  const read = async () => {
    for await (const { id } of accounts.list({}, { prefetch: 2 })) {
      seen.push(id);
      await settle();
    }
  };
  expect(await caught(read())).toMatchObject({ status: 403 });
  expect(seen).toEqual(['1', '2']);
  expect(queries).toEqual(['_page=1', '_page=2', '_page=3']);
});
