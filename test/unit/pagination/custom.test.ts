import { expect, test } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { byCursor, type CustomCursor } from '../../../src/pagination/custom.ts';
import { answerOf, delivered, ids, listing, pagesOf, type Row, service } from './services.ts';

const byId: CustomCursor<Row> = {
  first: {},
  next: (page) => (page.ids.length === 0 ? undefined : { id: { gt: page.ids.at(-1) } }),
};

test('asks for what the cursor says, until it says no more', async () => {
  const { fetchPage, asked } = listing(ids(1, 5), 2);
  expect(await delivered(byCursor(fetchPage, byId, { prefetch: 1 }))).toEqual(ids(1, 5));
  expect(asked).toEqual([{}, { id: { gt: '2' } }, { id: { gt: '4' } }, { id: { gt: '5' } }]);
});

test('goes on after an empty page where the cursor does', async () => {
  const windows = [['1'], [], ['3']];
  const { fetchPage } = service(({ parameters }) => answerOf(windows[Number(parameters?.window)] ?? []));
  const cursor: CustomCursor<Row> & { window: number } = {
    window: 0,
    first: { parameters: { window: '0' } },
    next() {
      return ++this.window < windows.length ? { parameters: { window: String(this.window) } } : undefined;
    },
  };
  const steps = await pagesOf(byCursor(fetchPage, cursor, { prefetch: 0 }));
  expect(steps.map((step) => step.records.map((record) => record.id))).toEqual(windows);
});

test('ends with FilterIgnoredError where the service ignores the cursor', async () => {
  const { fetchPage, asked } = service(() => answerOf(['1', '2']));
  await expect(pagesOf(byCursor(fetchPage, byId, { prefetch: 0 }))).rejects.toBeInstanceOf(
    FilterIgnoredError,
  );
  expect(asked).toHaveLength(3);
});

test('notices rows that are sent again behind an empty page', async () => {
  const windows = [['1', '2'], [], ['1', '2'], ['1', '2'], ['3']];
  const { fetchPage, asked } = service((_query, count) => answerOf(windows[count - 1] ?? []));
  const cursor: CustomCursor<Row> = { first: {}, next: () => (asked.length < 5 ? {} : undefined) };
  const facts = { method: 'GET', path: '/accounts' };
  const walk = pagesOf(byCursor(fetchPage, cursor, { prefetch: 0, facts }));
  await expect(walk).rejects.toMatchObject({
    ...facts,
    message:
      "GET /accounts returned the rows of earlier pages again and again: the service ignored the page that was requested. Use pagination: 'keyset', or check your own cursor.",
  });
  expect(asked).toHaveLength(4);
});

test('asks for what the cursor says as it is, where that has no bounds on id', async () => {
  const { fetchPage, asked } = listing(ids(3, 6), 9);
  const cursor: CustomCursor<Row> = { first: { parameters: { sort: 'name' } }, next: () => undefined };
  await pagesOf(byCursor(fetchPage, cursor, { prefetch: 0, bounds: { gte: '3' } }));
  expect(asked).toEqual([{ parameters: { sort: 'name' } }]);
});

test('asks for nothing beyond a limit', async () => {
  const { fetchPage, asked } = listing(ids(1, 9), 2);
  await pagesOf(byCursor(fetchPage, byId, { prefetch: 1, limit: 4 }));
  expect(asked).toHaveLength(2);
});

test('ends with FilterIgnoredError at a row outside the bounds of the caller', async () => {
  const { fetchPage } = listing(ids(1, 9), 2);
  const facts = { method: 'GET', path: '/accounts' };
  const bounds = { gte: '3', lte: '6' };
  const failure = await pagesOf(byCursor(fetchPage, byId, { prefetch: 1, bounds, facts })).catch((e) => e);
  expect(failure).toBeInstanceOf(FilterIgnoredError);
  expect(failure.path).toBe('/accounts');
});

test.each([0, 1])(
  'throws what the cursor throws after the page that it was asked about, prefetch %d',
  async (prefetch) => {
    const { fetchPage } = listing(ids(1, 9), 2);
    const failure = new Error('of the caller');
    const cursor: CustomCursor<Row> = {
      first: {},
      next: () => {
        throw failure;
      },
    };
    const walk = byCursor(fetchPage, cursor, { prefetch });
    expect((await walk.next()).value?.records.map(({ id }) => id)).toEqual(ids(1, 2));
    await expect(walk.next()).rejects.toBe(failure);
  },
);

test('asks for nothing where no record is wanted', async () => {
  const { fetchPage, asked } = listing(ids(1, 9), 2);
  expect(await delivered(byCursor(fetchPage, byId, { prefetch: 1, limit: 0 }))).toEqual([]);
  expect(asked).toEqual([]);
});
