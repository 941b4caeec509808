import type { CustomCursor } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse } from '../../support/scripted-fetch.ts';
import { accountsOf, all, byId, listing, range, rowsOf, serviceOf } from './service.ts';

test('a list with a cursor sends its parameters and the filters of the caller until the cursor ends', async () => {
  const { accounts, queries } = accountsOf(range(1, 5), { pageSize: 2, clock: '2026-02-01' });
  const pages = await all(accounts.list({ updatedSince: '2026-01-31' }, { pagination: byId }).pages());
  expect(pages.flatMap(({ ids }) => ids)).toEqual(range(1, 5).map(String));
  expect(pages[0]?.pagination).toBe('custom');
  const since = 'updatedSince=2026-01-31';
  expect(queries()).toEqual([since, ...[2, 4, 5].map((id) => `id[gt]=${id}&${since}`)]);
});

test('a list continues after an empty page if the cursor does, with the parameters of the cursor', async () => {
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

test('a list with a cursor throws FilterIgnoredError if rows are sent again, even after an empty page', async () => {
  const windows = [[1, 2], [], [1, 2], [1, 2], [1, 2], [1, 2], [1, 2], [3]];
  const { accounts, queries } = serviceOf(({ count }) => rowsOf(windows[count - 1] ?? []));
  const pagination: CustomCursor<unknown> = { first: {}, next: () => (queries.length < 8 ? {} : undefined) };
  expect(await caught(all(accounts.list({}, { pagination, prefetch: 0 })))).toMatchObject({
    code: 'filter_ignored',
    message: expect.stringContaining('your own cursor'),
  });
  expect(queries).toHaveLength(7);
});

test('a cursor gets the rows of a response that came before too', async () => {
  const windows = [[1, 2], [2, 3], []];
  const { pages } = serviceOf(({ count }) => rowsOf(windows[count - 1] ?? []));
  const given: (readonly string[])[] = [];
  const next = ({ ids }: { readonly ids: readonly string[] }) =>
    given.push(ids) < windows.length ? {} : undefined;
  const read = await all(pages({}, { pagination: { first: {}, next } }));
  expect(read.map(({ ids }) => ids)).toEqual([['1', '2'], ['3'], []]);
  expect(given).toEqual([['1', '2'], ['2', '3'], []]);
  // A row that comes again shows that rows moved.
  const links = serviceOf(({ count }) =>
    jsonResponse({ member: rowsOf(windows[count - 1] ?? []), next: count < 2 ? '?cursor=x' : null }),
  );
  const linked = await all(links.pages({}, { pagination: 'link' }));
  expect(linked.at(-1)).toMatchObject({ complete: 'likely', repeated: 1 });
  expect(linked.at(-1)?.evidence.facts).toContain('repeated_rows');
});

test.each([0, 1])(
  'a list throws an error of its cursor after the page that the cursor got, with prefetch %d',
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

test('a list rejects a cursor without first, and unknown names in first and in what next returns', async () => {
  const { accounts, queries } = listing(range(1, 5), 2);
  for (const first of [undefined, { cursor: '7' }]) {
    const pagination = { first, next() {} } as never;
    expect(() => accounts.list({}, { pagination })).toThrow('pagination.first');
  }
  const pagination = { first: {}, next: () => ({ cursor: '7' }) } as never;
  const message = expect.stringContaining('cursor');
  expect(await caught(all(accounts.list({}, { pagination })))).toMatchObject({
    code: 'invalid_input',
    message,
  });
  expect(queries).toHaveLength(1);
});

test('a list rejects an async next, without an unhandled rejection', async () => {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  const { accounts, queries } = listing(range(1, 5), 2);
  const next = () => Promise.reject(new Error('of the caller'));
  const error = await caught(all(accounts.list({}, { pagination: { first: {}, next } as never })));
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onRejection);
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'pagination.next' });
  expect(queries).toHaveLength(1);
  expect(rejections).toEqual([]);
});
