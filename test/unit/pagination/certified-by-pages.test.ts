import { expect, it } from 'vitest';
import { type CertifiedOptions, certifiedWalk } from '../../../src/pagination/certified.ts';
import { answerOf, delivered, listing, notFound, service, settle, stepsOf } from './services.ts';

const options: CertifiedOptions = { prefetch: 0, afterLastPage: 'empty' };

/** How a certified walk comes to read by pages: at once, and at an id that is no integer. */
const ways = [
  ['from the beginning', { ...options, resumeFrom: { pagination: 'page' } }],
  ['from an id on', options],
] as const;

/** So many pages of two records whose ids are no integers. */
function pagesOf(count: number) {
  return service(({ page = 1 }) => answerOf(page <= count ? [`a${page}`, `b${page}`] : []));
}

it.each(ways)('by pages %s it asks for nothing beyond a limit', async (_, way) => {
  const { fetchPage, asked } = pagesOf(9);
  const steps = await stepsOf(certifiedWalk(fetchPage, { ...way, limit: 4 }));
  expect(steps.flatMap((step) => step.answer.ids)).toEqual(['a1', 'b1', 'a2', 'b2']);
  expect(asked).toHaveLength(2);
});

it.each(ways)('by pages %s it looks as far ahead as it may', async (_, way) => {
  const { fetchPage, asked } = pagesOf(9);
  const walk = certifiedWalk(fetchPage, { ...way, prefetch: 3 });
  await walk.next();
  await settle();
  expect(asked.map(({ page = 1 }) => page)).toEqual([1, 2, 3, 4]);
  await walk.return();
});

it.each(ways)('by pages %s it takes a 404 for the end where the service answers so', async (_, way) => {
  const { fetchPage } = service(({ page = 1 }) => {
    if (page > 2) throw notFound();
    return answerOf([`a${page}`]);
  });
  expect(await delivered(certifiedWalk(fetchPage, { ...way, afterLastPage: 'not_found' }))).toEqual([
    'a1',
    'a2',
  ]);
  await expect(delivered(certifiedWalk(fetchPage, way))).rejects.toThrow('not found');
});

it.each(ways)('by pages %s leaving it aborts what is in flight', async (_, way) => {
  const signals: (AbortSignal | undefined)[] = [];
  const { fetchPage } = pagesOf(9);
  const walk = certifiedWalk((query, signal) => {
    signals.push(signal);
    return fetchPage(query, signal);
  }, way);
  await walk.next();
  await walk.next();
  await walk.return();
  expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
});

it('becomes a walk by pages with what is left of its limit', async () => {
  // The second interval shows an id that is no integer.
  const { fetchPage, asked } = service(({ page, id }) => {
    if (page !== undefined) return answerOf([`p${page}`, `q${page}`]);
    if (id?.gt !== undefined) return answerOf(['x']);
    return answerOf(id?.lte === undefined ? ['1', '2', '3'] : ['1', '2']);
  });
  const walk = certifiedWalk(fetchPage, { ...options, limit: 5 });
  expect(await delivered(walk)).toEqual(['1', '2', 'p1', 'q1', 'p2', 'q2']);
  expect(asked.filter(({ page }) => page !== undefined)).toHaveLength(2);
});

it('asks for the first page anew where the answer with such an id was to a narrower question', async () => {
  const { fetchPage, asked } = listing([], 10);
  const bounded = certifiedWalk(
    async (query, signal) => {
      await fetchPage(query, signal);
      return answerOf(query.page === 2 ? [] : ['x1']);
    },
    { ...options, resumeFrom: { pagination: 'keyset', direction: 'asc', id: '5', longest: 10 } },
  );
  expect(await delivered(bounded)).toEqual(['x1']);
  expect(asked).toEqual([{ id: { gt: '5' } }, { page: 1 }, { page: 2 }]);
});
