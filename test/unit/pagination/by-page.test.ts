import { expect, test } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { NotFoundError } from '../../../src/errors/not-found-error.ts';
import { type ByPageOptions, byPage } from '../../../src/pagination/by-page.ts';
import type { PageResponse } from '../../../src/pagination/page.ts';
import {
  answerOf,
  deferred,
  delivered,
  ids,
  listing,
  notFound,
  pagesOf,
  type Row,
  service,
  settle,
} from './services.ts';

const options: ByPageOptions = { start: 1, prefetch: 0, afterLastPage: 'empty' };

/** A service with these pages, and empty ones behind them. */
const withPages = (...pages: readonly (readonly string[])[]) =>
  service(({ page = 1 }) => answerOf(pages[page - 1] ?? []));

test('reads page after page to the empty one', async () => {
  const { fetchPage, asked } = listing(ids(1, 7), 3);
  expect(await delivered(byPage(fetchPage, options))).toEqual(ids(1, 7));
  expect(asked).toEqual([{ page: 1 }, { page: 2 }, { page: 3 }, { page: 4 }]);
});

test('takes a short page for no end', async () => {
  const { fetchPage } = withPages(['1', '2', '3'], ['4'], ['5', '6', '7']);
  expect(await delivered(byPage(fetchPage, options))).toEqual(ids(1, 7));
});

test('begins at the page it is told', async () => {
  const { fetchPage, asked } = listing(ids(1, 7), 3);
  expect(await delivered(byPage(fetchPage, { ...options, start: 3 }))).toEqual(['7']);
  expect(asked).toEqual([{ page: 3 }, { page: 4 }]);
});

test('shows the one answer of an empty collection as a step without records', async () => {
  const steps = await pagesOf(byPage(listing([], 3).fetchPage, options));
  expect(steps.map((step) => step.records)).toEqual([[]]);
});

test('drops records that the two pages before held', async () => {
  const { fetchPage } = withPages(['1', '2', '3'], ['3', '4', '5'], ['2', '5', '6'], ['1', '7']);
  expect(await delivered(byPage(fetchPage, options))).toEqual(['1', '2', '3', '4', '5', '6', '1', '7']);
});

test('passes records on as they came where nothing is repeated', async () => {
  const answer = answerOf(['1', '2']);
  const { fetchPage } = service(({ page }) => (page === 1 ? answer : answerOf([])));
  const [step] = await pagesOf(byPage(fetchPage, options));
  expect(step?.records).toBe(answer.records);
});

test('delivers a page whose rows all failed their schema', async () => {
  const { fetchPage } = service(({ page }) =>
    page === 2 ? answerOf([], ['3', undefined]) : answerOf(page === 1 ? ['1'] : page === 3 ? ['5'] : []),
  );
  const steps = await pagesOf(byPage(fetchPage, options));
  expect(steps.map((step) => [step.records.length, step.invalid.length])).toEqual([
    [1, 0],
    [0, 2],
    [1, 0],
  ]);
});

test.each([
  ['the same page again', () => answerOf(['1', '2'])],
  ['the same page in another order', (n: number) => answerOf(n % 2 === 0 ? ['1', '2'] : ['2', '1'])],
  ['the same rows that fit no schema', () => answerOf([], [undefined, '2'])],
  ['two pages in turn', (n: number) => answerOf(n % 2 === 0 ? ['1', '2'] : ['3', '4'])],
  ['five pages in turn', (n: number) => answerOf([String(n % 5), `${n % 5}0`])],
  [
    'parts of what it sent before',
    (n: number) => answerOf(n === 1 ? ids(1, 9) : ids(1 + (n % 2), 6 + (n % 3))),
  ],
])('ends with FilterIgnoredError where the service sends %s', async (_, answer) => {
  const facts = { method: 'GET', path: '/accounts' };
  const { fetchPage, asked } = service((_query, count) => answer(count));
  const failure = await pagesOf(byPage(fetchPage, { ...options, facts })).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(FilterIgnoredError);
  expect(failure).toMatchObject({ path: '/accounts', message: expect.stringContaining('GET /accounts') });
  expect(asked.length).toBeLessThan(100);
});

test('ends with FilterIgnoredError at a row outside the bounds of the caller', async () => {
  const { fetchPage } = withPages(['11', '12'], ['13', '9']);
  const steps = byPage(fetchPage, { ...options, bounds: { gte: '10' } });
  await expect(pagesOf(steps)).rejects.toBeInstanceOf(FilterIgnoredError);
});

test('judges no id that is no integer by the bounds of the caller', async () => {
  const { fetchPage } = withPages(['a', '012']);
  const steps = byPage(fetchPage, { ...options, bounds: { between: ['10', '20'] } });
  expect(await delivered(steps)).toEqual(['a', '012']);
});

test('takes a 404 after the first page for the end where the service answers so', async () => {
  const { fetchPage } = service(({ page = 1 }) => {
    if (page > 2) throw notFound();
    return answerOf([String(page)]);
  });
  expect(await delivered(byPage(fetchPage, { ...options, afterLastPage: 'not_found' }))).toEqual(['1', '2']);
  await expect(delivered(byPage(fetchPage, options))).rejects.toBeInstanceOf(NotFoundError);
});

test('takes a 404 on the first page for a failure', async () => {
  const { fetchPage } = service(() => Promise.reject(notFound()));
  const steps = byPage(fetchPage, { ...options, start: 3, afterLastPage: 'not_found' });
  await expect(delivered(steps)).rejects.toBeInstanceOf(NotFoundError);
});

test('asks for the first page alone and then for as many ahead as it may', async () => {
  const { fetchPage, asked } = listing(ids(1, 30), 3);
  const walk = byPage(fetchPage, { ...options, prefetch: 3 });
  const first = walk.next();
  expect(asked).toHaveLength(1);
  await first;
  expect(asked.map((query) => query.page)).toEqual([1, 2, 3, 4]);
  await walk.next();
  expect(asked.map((query) => query.page)).toEqual([1, 2, 3, 4, 5]);
  await walk.return();
});

test('asks for nothing behind a page that it knows to be the last', async () => {
  const { fetchPage, asked } = listing(ids(1, 9), 3);
  for await (const _ of byPage(fetchPage, { ...options, prefetch: 2 })) await settle();
  expect(asked.map((query) => query.page)).toEqual([1, 2, 3, 4]);
});

test('keeps pages in order that arrive out of order', async () => {
  const late = deferred<PageResponse<Row>>();
  const { fetchPage } = service(({ page = 1 }) =>
    page === 2 ? late.promise : answerOf(page < 5 ? [`${page}`] : []),
  );
  const read = delivered(byPage(fetchPage, { ...options, prefetch: 3 }));
  await settle();
  late.resolve(answerOf(['2']));
  expect(await read).toEqual(ids(1, 4));
});

test.each([
  [1, 1],
  [3, 1],
  [4, 2],
  [7, 3],
  [Number.POSITIVE_INFINITY, 5],
])('asks for no page that a limit of %d records cannot need', async (limit, requests) => {
  const { fetchPage, asked } = listing(ids(1, 12), 3);
  const read = await delivered(byPage(fetchPage, { ...options, prefetch: 1, limit }));
  expect(read.length).toBeGreaterThanOrEqual(Math.min(limit, 12));
  expect(asked).toHaveLength(requests);
});

test('asks for nothing where no record is wanted', async () => {
  const { fetchPage, asked } = listing(ids(1, 12), 3);
  expect(await delivered(byPage(fetchPage, { ...options, limit: 0 }))).toEqual([]);
  expect(asked).toEqual([]);
});

test('throws a failed look-ahead only after the pages before it, and asks for nothing behind it', async () => {
  const failure = new Error('page 3 fails');
  const { fetchPage, asked } = service(({ page = 1 }) => {
    if (page === 3) throw failure;
    return answerOf([String(page)]);
  });
  const seen: string[] = [];
  const read = async () => {
    for await (const { records } of byPage(fetchPage, { ...options, prefetch: 2 })) {
      seen.push(...records.map((record) => record.id));
      await settle();
    }
  };
  await expect(read()).rejects.toBe(failure);
  expect(seen).toEqual(['1', '2']);
  expect(asked.map((query) => query.page)).toEqual([1, 2, 3]);
});

test('leaves no unhandled rejection where the consumer leaves before a failed look-ahead', async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const { fetchPage } = service(({ page = 1 }) => {
    if (page > 1) throw new Error('fails');
    return answerOf(['1']);
  });
  for await (const _ of byPage(fetchPage, { ...options, prefetch: 4 })) break;
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
