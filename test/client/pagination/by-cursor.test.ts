import type { CustomCursor } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { all, idsOf, listing, range, rowsOf, serviceOf } from './service.ts';

const byId: CustomCursor<unknown> = {
  first: {},
  next: (page) => (page.ids.length === 0 ? undefined : { id: { gt: page.ids.at(-1) } }),
};

test('requests what the cursor says, until it ends', async () => {
  const { accounts, queries } = listing(range(1, 5), 2);
  expect(await idsOf(accounts.list({}, { pagination: byId }))).toEqual(range(1, 5).map(String));
  expect(queries).toEqual(['', 'id[gt]=2', 'id[gt]=4', 'id[gt]=5']);
});

test('continues after an empty page if the cursor does', async () => {
  const windows = [[1], [], [3]];
  const { pages } = serviceOf(({ parameters }) => rowsOf(windows[Number(parameters.get('window'))] ?? []));
  let window = 0;
  const pagination: CustomCursor<unknown> = {
    first: { parameters: { window: '0' } },
    next: () => (++window < windows.length ? { parameters: { window: String(window) } } : undefined),
  };
  const read = await all(pages({}, { pagination }));
  expect(read.map(({ records }) => records)).toEqual(windows.map(rowsOf));
});

test('throws FilterIgnoredError if the service ignores the cursor', async () => {
  const { accounts, queries } = serviceOf(() => rowsOf([1, 2]));
  const error = await caught(all(accounts.list({}, { pagination: byId, prefetch: 0 })));
  expect(error).toMatchObject({ code: 'filter_ignored' });
  expect(queries).toHaveLength(3);
});

test('notices rows that are sent again after an empty page', async () => {
  const windows = [[1, 2], [], [1, 2], [1, 2], [3]];
  const { accounts, queries } = serviceOf(({ count }) => rowsOf(windows[count - 1] ?? []));
  const pagination: CustomCursor<unknown> = { first: {}, next: () => (queries.length < 5 ? {} : undefined) };
  expect(await caught(all(accounts.list({}, { pagination, prefetch: 0 })))).toMatchObject({
    code: 'filter_ignored',
    message: expect.stringContaining('Check your own cursor'),
  });
  expect(queries).toHaveLength(4);
});

test('requests nothing beyond a limit', async () => {
  const { accounts, queries } = listing(range(1, 9), 2);
  await accounts.list({}, { pagination: byId }).toArray({ limit: 4 });
  expect(queries).toHaveLength(2);
});

test('throws FilterIgnoredError at a record outside the bounds of the caller', async () => {
  const { accounts } = serviceOf(({ count }) => rowsOf(count === 1 ? [3, 4] : [5, 7]));
  const read = all(accounts.list({ id: { gte: '3', lte: '6' } }, { pagination: byId }));
  expect(await caught(read)).toMatchObject({ code: 'filter_ignored', path: '/accounts' });
});

test.each([0, 1])(
  'throws an error of the cursor after the page that it was given, prefetch %d',
  async (prefetch) => {
    const { pages } = listing(range(1, 9), 2);
    const failure = new Error('of the caller');
    const pagination: CustomCursor<unknown> = {
      first: {},
      next: () => {
        throw failure;
      },
    };
    const read = pages({}, { pagination, prefetch });
    expect((await read.next()).value?.ids).toEqual(['1', '2']);
    expect(await caught(read.next())).toBe(failure);
  },
);

test('rejects a cursor without first, or with an unknown name in it', () => {
  const { accounts } = listing(range(1, 5), 2);
  for (const first of [undefined, { cursor: '7' }]) {
    const pagination = { first, next() {} } as never;
    expect(() => accounts.list({}, { pagination })).toThrow('pagination.first');
  }
});

test('rejects a cursor whose next is async', async () => {
  const { accounts, queries } = listing(range(1, 5), 2);
  const pagination = { first: {}, async next() {} } as never;
  const error = await caught(all(accounts.list({}, { pagination, prefetch: 0 })));
  expect(error).toMatchObject({ code: 'invalid_input' });
  expect(queries).toHaveLength(1);
});

test('leaves no unhandled rejection of an async next', async () => {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  const { accounts } = listing(range(1, 5), 2);
  const next = () => Promise.reject(new Error('of the caller'));
  const error = await caught(all(accounts.list({}, { pagination: { first: {}, next } as never })));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onRejection);
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'pagination.next' });
  expect(rejections).toEqual([]);
});

test.each(['cursor', 'after'])('rejects the unknown name %s that next returns', async (name) => {
  const { accounts, queries } = listing(range(1, 5), 2);
  const pagination = { first: {}, next: () => ({ [name]: '7' }) } as never;
  expect(await caught(all(accounts.list({}, { pagination })))).toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(name),
  });
  expect(queries).toHaveLength(1);
});
