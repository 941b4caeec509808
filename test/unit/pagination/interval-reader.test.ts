import { expect, it } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { NotFoundError } from '../../../src/errors/not-found-error.ts';
import { type CertifiedOptions, certifiedWalk } from '../../../src/pagination/certified.ts';
import type { IdBounds } from '../../../src/pagination/page.ts';
import { answerOf, delivered, ids, listing, notFound, service, stepsOf } from './services.ts';

const options: CertifiedOptions = { prefetch: 0, afterLastPage: 'empty' };
const facts = { method: 'GET', path: '/accounts' };

/** The rows of a dense collection of so many, two a page, within bounds; without looking at each of them. */
function dense(count: number, { gt = '0', lte = String(count) }: IdBounds = {}) {
  const from = Number(gt) + 1;
  return ids(from, Math.min(from + 1, Number(lte), count));
}

it('reads on past a thousand requests, for as long as they show rows', async () => {
  const { fetchPage, asked } = service(({ id }) => answerOf(dense(1_500, id)));
  expect(await delivered(certifiedWalk(fetchPage, options))).toEqual(ids(1, 1_500));
  expect(asked.length).toBeGreaterThan(1_000);
});

it('gives up after a thousand requests that ended in nothing, and says why', async () => {
  const { fetchPage, asked } = service(({ id }) =>
    answerOf(id?.lte === undefined ? dense(1_000_000, id) : []),
  );
  const walk = stepsOf(certifiedWalk(fetchPage, { ...options, facts }));
  const failure = await walk.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(FilterIgnoredError);
  expect(failure).toMatchObject({
    ...facts,
    message:
      'GET /accounts showed rows to open requests and none to narrower ones, 1000 requests in a row: the service ignored the bounds on id.',
  });
  expect(asked).toHaveLength(1_000);
});

it('names no path where it knows none', async () => {
  const { fetchPage } = service(({ id }) => answerOf(id?.lte === undefined ? dense(1_000_000, id) : []));
  await expect(stepsOf(certifiedWalk(fetchPage, options))).rejects.toThrow(/^GET a list showed rows/);
});

it('narrows in halves where every answer shows the highest rows of what was asked for', async () => {
  const { fetchPage, asked } = service(({ id }) => {
    const to = Number(id?.lte ?? 100_000);
    const rows = ids(Math.max(Number(id?.gt ?? 0) + 1, to - 9), to);
    // Not quite in order, so that the first rows may be missing.
    return answerOf([...rows.slice(1), ...rows.slice(0, 1)]);
  });
  const { value } = await certifiedWalk(fetchPage, options).next();
  expect(value?.answer.ids).toContain('1');
  expect(asked.length).toBeLessThan(40);
});

it.each([
  ['going up', ['1', '2'], ['1', '9'], '"9"'],
  ['going down', ['9', '8'], ['9', '1'], '"1"'],
])('%s, a row outside its interval ends the walk and is named', async (_, first, second, stranger) => {
  const { fetchPage } = service((_query, count) => answerOf(count === 1 ? first : second));
  const failure = await stepsOf(certifiedWalk(fetchPage, { ...options, facts })).catch((error) => error);
  expect(failure).toBeInstanceOf(FilterIgnoredError);
  expect(failure.path).toBe('/accounts');
  expect(failure.message).toContain(`GET /accounts answered with id ${stranger}, outside the bounds`);
});

it('takes no failure of the second page for its end but a 404', async () => {
  const failure = new Error('the service fails');
  const { fetchPage } = service(({ page }) => {
    if (page === 2) throw failure;
    return answerOf(ids(1, 5));
  });
  const walk = certifiedWalk(fetchPage, { ...options, pageSizeHint: 30, afterLastPage: 'not_found' });
  await expect(delivered(walk)).rejects.toBe(failure);
});

it('takes no 404 for an end where a list was asked for and no second page', async () => {
  const { fetchPage } = service(() => Promise.reject(notFound()));
  await expect(
    delivered(certifiedWalk(fetchPage, { ...options, afterLastPage: 'not_found' })),
  ).rejects.toBeInstanceOf(NotFoundError);
});

it('asks for a second page within the same bounds', async () => {
  const { fetchPage, asked } = listing(ids(1, 100), 30);
  const walk = certifiedWalk(fetchPage, { ...options, pageSizeHint: 30, bounds: { gt: '95' } });
  expect(await delivered(walk)).toEqual(ids(96, 100));
  expect(asked).toEqual([{ id: { gt: '95' } }, { page: 2, id: { gt: '95' } }]);
});

it('has no page confirmed that is as long as those of an earlier run: it is cut', async () => {
  const { fetchPage, asked } = listing(ids(1, 30), 30);
  expect(await delivered(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }))).toEqual(ids(1, 30));
  expect(asked.map(({ page }) => page)).not.toContain(2);
});

it('plans its intervals as soon as a page is as long as those of an earlier run', async () => {
  const { fetchPage, asked } = listing(ids(1, 100), 10);
  await stepsOf(certifiedWalk(fetchPage, { ...options, pageSizeHint: 10 }));
  expect(asked.slice(0, 3).map(({ id }) => id)).toEqual([undefined, { lte: '9' }, { gt: '9', lte: '17' }]);
});

it('forgets the page size of an earlier run once a shorter page had another behind it', async () => {
  const { fetchPage, asked } = listing(ids(1, 95), 10);
  const steps = await stepsOf(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }));
  expect(asked.filter(({ page }) => page === 2)).toHaveLength(1);
  expect(steps.at(-1)?.position).toMatchObject({ longest: 10 });
});

it('keeps the page size of an earlier run in its positions while it has seen no longer page', async () => {
  const { fetchPage } = listing(ids(1, 5), 30);
  const [step] = await stepsOf(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }));
  expect(step?.position).toEqual({ pagination: 'keyset', direction: 'asc', id: '5', longest: 30 });
});

const at = { pagination: 'keyset', direction: 'asc', id: '50', longest: 10, width: '20' } as const;

it.each([
  ['with its next interval', at, {}, { gt: '50', lte: '70' }],
  ['openly where no width is known yet', { ...at, width: undefined }, {}, { gt: '50' }],
  ['from the beginning where nothing was delivered yet', { ...at, id: undefined }, {}, undefined],
  ['going down', { ...at, direction: 'desc' }, {}, { lt: '50', gte: '30' }],
  [
    'with its next interval where the bounds of the caller lie farther',
    at,
    { lte: '90' },
    { gt: '50', lte: '70' },
  ],
  ['no farther than the bounds of the caller', at, { lte: '60' }, { gt: '50', lte: '60' }],
  ['not before the bounds of the caller', at, { gt: '55' }, { gt: '55', lte: '70' }],
])('goes on %s', async (_, resumeFrom, bounds, id) => {
  const { fetchPage, asked } = listing(ids(1, 100), 10);
  await certifiedWalk(fetchPage, { ...options, resumeFrom, bounds }).next();
  expect(asked[0]).toEqual(id === undefined ? {} : { id });
});

it('keeps the direction of the walk that it goes on with, whatever the next page looks like', async () => {
  const { fetchPage, asked } = listing(ids(1, 100), 10);
  const walk = certifiedWalk(fetchPage, { ...options, resumeFrom: { ...at, direction: 'desc' } });
  expect((await delivered(walk)).toSorted()).toEqual(ids(1, 49).toSorted());
  expect(asked.every(({ id }) => id?.gt === undefined && id?.lte === undefined)).toBe(true);
});

it('goes down where the first answer does, and its positions say so', async () => {
  const { fetchPage, asked } = listing(ids(1, 30).reverse(), 10);
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  expect(steps.flatMap((step) => step.answer.ids)).toEqual(ids(1, 30).reverse());
  expect(steps.every(({ position }) => position?.direction === 'desc')).toBe(true);
  expect(asked[1]?.id).toEqual({ gte: '22' });
});

it('passes records on as they came where none is repeated', async () => {
  const answer = answerOf(['1', '2']);
  const { fetchPage } = service(({ page }) => (page === 2 ? answerOf([]) : answer));
  const [step] = await stepsOf(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }));
  expect(step?.records).toBe(answer.records);
});

it('is done up to its last row, and not beyond it', async () => {
  const { fetchPage } = listing(['3', '8'], 10);
  const last = async (bounds: IdBounds) =>
    (await stepsOf(certifiedWalk(fetchPage, { ...options, pageSizeHint: 10, bounds }))).at(-1)?.position?.id;
  expect(await last({})).toBe('8');
  expect(await last({ lte: '20' })).toBe('8');
  expect(await last({ gt: '8' })).toBe('8');
});
