// How a list is paginated if nobody chose: see also keyset.test.ts and by-page.test.ts.

import type { ClientOptions, ListOptions, ListQuery } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { problemResponse } from '../../support/scripted-fetch.ts';
import {
  type AccountPage,
  all,
  byId,
  everything,
  idsOf,
  inside,
  listing,
  type Query,
  type Rows,
  range,
  rowsOf,
  serviceOf,
} from './service.ts';

const strings = (from: number, to: number) => range(from, to).map(String);
const kindsOf = (pages: readonly AccountPage[]) => new Set(pages.map(({ pagination }) => pagination));

/** A page of ten of these ids, whatever bounds are requested. */
const withoutBounds = (ids: readonly (string | number)[], { page = 1 }: Query) =>
  rowsOf(ids.slice((page - 1) * 10, page * 10));

/** Ids that are integers and others, which no upper bound on integers includes. */
const mixed = (ids: readonly number[], texts: readonly string[], options: ClientOptions = {}) =>
  serviceOf(({ page = 1, id }) => {
    const isOpen = id.lt === undefined && id.lte === undefined;
    return rowsOf([...inside(ids, id), ...(isOpen ? texts : [])].slice((page - 1) * 10, page * 10));
  }, options);

test('toArray returns the records with the lowest ids, and by page the first of the service', async () => {
  const { accounts } = listing([100, ...range(6, 60)], 10);
  const lowest = await accounts.list().toArray({ limit: 5 });
  expect(lowest.map(({ id }) => id)).toEqual(strings(6, 10));
  const first = await accounts.list({}, { pagination: 'page' }).toArray({ limit: 5 });
  expect(first.map(({ id }) => id)).toEqual(['100', ...strings(6, 9)]);
});

test.each<[string, ListQuery, ListOptions, string]>([
  ['with page', { page: 2 }, {}, '_page=2'],
  ['with both lower bounds', { id: { gt: '1', gte: '1' } }, {}, '_page=1&id[gt]=1&id[gte]=1'],
])('a list %s reads by page', async (_, query, options, first) => {
  const { accounts, queries } = listing(range(1, 25), 10);
  const pages = await all(accounts.list(query, options).pages());
  expect(kindsOf(pages)).toEqual(new Set(['page']));
  expect(queries[0]).toBe(first);
});

/** What a service does with the bounds of a request: it understands none, not all, or rejects them. */
const boundless: Readonly<Record<string, (query: Query) => Rows>> = {
  'ignores them': (query) => withoutBounds(range(1, 25), query),
  'ignores the upper one': (query) => withoutBounds(inside(range(1, 25), { gt: query.id.gt }), query),
  'shows no rows to those with an end': (query) =>
    query.id.lte === undefined ? withoutBounds(inside(range(1, 25), query.id), query) : [],
  ...Object.fromEntries(
    [400, 422].map((status) => [
      `rejects them with ${status}`,
      (query: Query) =>
        query.id.lte === undefined ? withoutBounds(range(1, 25), query) : problemResponse(status),
    ]),
  ),
};

describe('a list of a service without bounds on id', () => {
  test.each(Object.entries(boundless))(
    'continues by page if it %s, unless keyset was chosen',
    async (name, respond) => {
      const { accounts, queries } = serviceOf(respond);
      const pages = await all(accounts.list().pages());
      expect(pages.flatMap(({ ids }) => ids)).toEqual(strings(1, 25));
      expect(kindsOf(pages)).toEqual(new Set(['page']));
      expect(pages.some(({ restarted }) => restarted)).toBe(false);
      // The first page is not requested again, unless the rows of the first bound may have been deleted.
      const firstPages = queries.filter((query) => query === '' || query === '_page=1');
      expect(firstPages).toHaveLength(name.startsWith('shows') ? 2 : 1);
      expect(await accounts.list().toArray({ limit: 12 })).toHaveLength(12);

      const chosen = serviceOf(respond, { pagination: 'keyset' }).accounts.list();
      const code = expect.stringMatching(/^(filter_ignored|unknown_problem|malformed_request)$/);
      expect(await caught(chosen.toArray(everything))).toMatchObject({ code });
    },
  );

  const [numbers, texts] = [range(1, 95), range(1, 95).map((n) => `x-${n}`)];
  test.each<[string, readonly (string | number)[], (query: Query) => boolean]>([
    ['integer ids, and ignores bounds', numbers, () => false],
    ['integer ids, and compares the parameters of bounds with fields', numbers, ({ id }) => 'lte' in id],
    ['some other ids at the end', [...numbers, ...texts.slice(0, 20)], () => false],
  ])(
    'delivers each record once if it returns everything without a page number: %s',
    async (_, ids, isEmpty) => {
      for (const pageSize of [10, 40]) {
        for (const prefetch of [0, 4]) {
          const { accounts } = serviceOf(({ page, ...query }) => {
            if (isEmpty({ page, ...query })) return [];
            return rowsOf(page === undefined ? ids : ids.slice((page - 1) * pageSize, page * pageSize));
          });
          expect(await idsOf(accounts.list({}, { prefetch }))).toEqual(ids.map(String));
        }
      }
    },
  );

  test('throws what the first request is rejected with, and any other rejection of its bounds', async () => {
    for (const status of [400, 422]) {
      const { accounts, queries } = serviceOf(() => problemResponse(status));
      expect(await caught(all(accounts.list()))).toMatchObject({ status });
      expect(queries).toEqual(['_page=1']);
    }
    const { accounts } = serviceOf((query) =>
      query.id.lte === undefined ? withoutBounds(range(1, 25), query) : problemResponse(403),
    );
    expect(await caught(all(accounts.list()))).toMatchObject({ status: 403 });
  });

  test('throws FilterIgnoredError if it ignores a bound of the caller', async () => {
    const { accounts } = serviceOf((query) => withoutBounds(range(1, 25), query));
    expect(await caught(all(accounts.list({ id: { lte: '20' } })))).toMatchObject({ code: 'filter_ignored' });
  });

  test('throws if records were delivered before', async () => {
    for (const then of [() => rowsOf(range(1, 10)), () => problemResponse(400)]) {
      const { accounts } = serviceOf((query) =>
        query.count < 4 ? withoutBounds(inside(range(1, 45), query.id), query) : then(),
      );
      const pages = accounts.list().pages();
      expect((await pages.next()).value?.ids).toHaveLength(9);
      const code = expect.stringMatching(/^(filter_ignored|malformed_request)$/);
      expect(await caught(all(pages))).toMatchObject({ code });
    }
  });
});

describe('a list in which an id is not an integer', () => {
  test('continues by page, without the records that were delivered', async () => {
    const { accounts } = mixed(range(1, 90), ['x-91', 'x-92']);
    const pages = await all(accounts.list().pages());
    expect(pages.flatMap(({ ids }) => ids)).toEqual([...strings(1, 90), 'x-91', 'x-92']);
    for (const { ids, records } of pages) expect(records.map(({ id }) => id)).toEqual(ids);
    expect(kindsOf(pages)).toEqual(new Set(['keyset', 'page']));
    const byPage = pages.filter(({ pagination }) => pagination === 'page');
    for (const page of byPage) expect(page).toMatchObject({ complete: 'likely', restarted: false });

    // A token of these pages resumes nothing.
    const again = await all(accounts.list({}, { resumeFrom: pages.at(-1)?.resumeToken }).pages());
    expect(again.map(({ restarted }) => restarted)).toEqual(again.map((_, index) => index === 0));
    expect(again.flatMap(({ ids }) => ids)).toEqual([...strings(1, 90), 'x-91', 'x-92']);
  });

  test('has lost no invalid row that an interval showed and a page shows again', async () => {
    const accounts = z.object({ id: z.string(), name: z.string().optional() });
    const rows = rowsOf(range(1, 30)).map((row) => (row.id === '15' ? { ...row, name: 5 } : row));
    const { pages } = serviceOf(
      ({ page, id }) => {
        if (page === undefined) return id.lte === undefined ? [] : rowsOf([1, 'x-31']);
        return page === 1 ? rows : rowsOf(page === 2 ? ['x-31'] : []);
      },
      { validation: 'report', schemas: { accounts } },
    );
    const read = await all(pages());
    expect(read.flatMap(({ ids }) => ids)).toHaveLength(30);
    expect(read.at(-1)?.evidence.facts).toEqual(['several_pages']);
  });

  test('reports an invalid row once that was delivered before', async () => {
    const accounts = z.object({ id: z.string().refine((id) => id !== '5') });
    const { pages } = mixed(range(1, 90), ['x-91'], { validation: 'report', schemas: { accounts } });
    const read = await all(pages());
    expect(kindsOf(read)).toEqual(new Set(['keyset', 'page']));
    expect(read.flatMap(({ invalid }) => invalid.map(({ id }) => id))).toEqual(['5']);
  });

  test('is resumed without the records that were delivered before', async () => {
    const { accounts } = mixed(range(1, 90), ['x-91']);
    const read = accounts.list().pages();
    const { value: first } = await read.next();
    await read.return?.();
    const rest = await all(accounts.list({}, { resumeFrom: first?.resumeToken }).pages());
    expect([...(first?.ids ?? []), ...rest.flatMap(({ ids }) => ids)]).toEqual([...strings(1, 90), 'x-91']);
    expect(rest.some(({ restarted }) => restarted)).toBe(false);
    expect(rest.at(-1)?.evidence.facts).toEqual(['several_pages']);
  });
});

describe('first', () => {
  test.each<ListOptions>([{}, { pagination: 'keyset' }, { pagination: 'page' }, { pagination: byId }])(
    'returns the first record in the order of the service: %j',
    async (options) => {
      const { accounts, queries } = listing([100, ...range(6, 60)], 10);
      expect(await accounts.list({}, options).first()).toEqual({ id: '100' });
      expect(queries).toHaveLength(1);
    },
  );

  test('returns the first record after the token of resumeFrom', async () => {
    const { accounts } = listing(range(1, 45), 10);
    const [page] = await all(accounts.list().pages());
    expect(page).toMatchObject({ pagination: 'keyset', complete: 'certain' });
    expect(await accounts.list({}, { resumeFrom: page?.resumeToken }).first()).toEqual({ id: '10' });
  });

  test('returns the first record within the bounds of the caller, from the page of the caller', async () => {
    const { accounts } = listing(range(1, 45), 10);
    expect(await accounts.list({ id: { gt: '30' } }).first()).toEqual({ id: '31' });
    expect(await accounts.list({ page: 3 }).first()).toEqual({ id: '21' });
    expect(await accounts.list({ id: { gt: '99' } }).first()).toBeUndefined();
  });
});

test('a list with bounds that are no integers is read by page from the start, and nothing of it comes again', async () => {
  const { pages } = serviceOf(({ page = 1 }) => rowsOf(page === 1 ? ['u-1', 'u-2'] : []));
  const read = await all(pages({ id: { gt: 'u-0' } }));
  expect(read.map(({ ids, pagination, restarted }) => [ids, pagination, restarted])).toEqual([
    [['u-1', 'u-2'], 'page', false],
  ]);
});

test('an invalid row, whose place in a response is not known, is no sign of another order', async () => {
  const accounts = z.looseObject({ id: z.string(), name: z.string().nullish() });
  const { pages } = serviceOf(
    ({ page = 1, id }) =>
      inside(range(1, 25), id)
        .slice((page - 1) * 10, page * 10)
        .map((n) => ({ id: String(n), ...(n === 5 && { name: 7 }) })),
    { validation: 'report', schemas: { accounts } },
  );
  const read = await all(pages());
  expect(read.flatMap(({ ids }) => ids)).toHaveLength(24);
  expect(read.flatMap(({ invalid }) => invalid)).toMatchObject([{ id: '5' }]);
  expect(read.at(-1)).toMatchObject({ complete: 'certain', evidence: { facts: ['whole_intervals'] } });
});
