import { expect, it } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { type CertifiedOptions, certifiedWalk } from '../../../src/pagination/certified.ts';
import { isByPages, pageSizeOf } from '../../../src/pagination/certified-position.ts';
import type { PageResponse } from '../../../src/pagination/page.ts';
import {
  answerOf,
  deferred,
  delivered,
  ids,
  isInside,
  listing,
  notFound,
  type Row,
  service,
  settle,
  stepsOf,
} from './services.ts';

const options: CertifiedOptions = { prefetch: 0, afterLastPage: 'empty' };

it('delivers an interval only when one answer showed it whole', async () => {
  const { fetchPage, asked } = listing(ids(1, 8), 5);
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  expect(steps.map((step) => step.answer.ids)).toEqual([ids(1, 4), ids(5, 8)]);
  expect(asked.map((query) => query.id)).toEqual([
    undefined,
    { lte: '4' },
    { gt: '4', lte: '8' },
    { gt: '8', lte: '12' },
    { gt: '12' },
  ]);
});

it.each([
  ['ascending', ids(1, 100)],
  ['descending', ids(1, 100).reverse()],
  ['scattered', ids(1, 100).sort((a, b) => ((Number(a) * 37) % 101) - ((Number(b) * 37) % 101))],
  ['as strings, all of one length', ids(100, 199)],
  ['beyond the exact integers of a number', ids(1, 100).map((id) => String(2n ** 53n + BigInt(id)))],
  ['of 39 digits', ids(100, 199).map((id) => `${'9'.repeat(36)}${id}`)],
  ['with 0 among them', ids(0, 50)],
  ['0 alone', ['0']],
  ['far apart', ids(1, 40).map((id) => String(BigInt(id) ** 20n))],
])('delivers every record once, ids %s', async (_, rows) => {
  for (const pageSize of [1, 2, 3, 10, 99, 100, 101]) {
    for (const prefetch of [0, 1]) {
      const read = await delivered(
        certifiedWalk(listing(rows, pageSize).fetchPage, { ...options, prefetch }),
      );
      expect(read.toSorted()).toEqual(rows.toSorted());
    }
  }
});

it('asks in the direction that the first page goes', async () => {
  const { fetchPage, asked } = listing(ids(1, 7).reverse(), 5);
  expect(await delivered(certifiedWalk(fetchPage, options))).toEqual(ids(1, 7).reverse());
  expect(asked[1]).toEqual({ id: { gte: '4' } });
  expect(asked[2]).toEqual({ id: { lt: '4' } });
});

it('reads a collection of one record without knowing the page size', async () => {
  const { fetchPage, asked } = listing(['42'], 30);
  expect(await delivered(certifiedWalk(fetchPage, options))).toEqual(['42']);
  expect(asked.map((query) => query.id)).toEqual([
    undefined,
    { lte: '41' },
    { gt: '41', lte: '42' },
    { gt: '42' },
  ]);
});

it('reads an empty collection with one request and shows its answer', async () => {
  const { fetchPage, asked } = listing([], 30);
  const steps = await stepsOf(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }));
  expect(steps.map((step) => step.records)).toEqual([[]]);
  expect(pageSizeOf(steps[0]?.position)).toBe(30);
  expect(asked).toEqual([{}]);
});

it('has a short answer confirmed by a second page where the page size is known from before', async () => {
  const { fetchPage, asked } = listing(ids(1, 5), 30);
  expect(await delivered(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }))).toEqual(ids(1, 5));
  expect(asked).toEqual([{}, { page: 2 }]);
});

it('takes a 404 on that second page for an empty one where the service answers so', async () => {
  const { fetchPage } = service(({ page }) => {
    if (page === 2) throw notFound();
    return answerOf(ids(1, 5));
  });
  const known = { ...options, pageSizeHint: 30 };
  expect(await delivered(certifiedWalk(fetchPage, { ...known, afterLastPage: 'not_found' }))).toEqual(
    ids(1, 5),
  );
  await expect(delivered(certifiedWalk(fetchPage, known))).rejects.toThrow('not found');
});

it('forgets a page size from before when pages have become shorter', async () => {
  const { fetchPage } = listing(ids(1, 95), 10);
  expect(await delivered(certifiedWalk(fetchPage, { ...options, pageSizeHint: 30 }))).toEqual(ids(1, 95));
});

it('asks within the bounds of the caller', async () => {
  const { fetchPage, asked } = listing(ids(1, 100), 10);
  const bounds = { gte: '21', lt: '61', between: ['5', '50'] } as const;
  expect(await delivered(certifiedWalk(fetchPage, { ...options, bounds }))).toEqual(ids(21, 50));
  expect(asked[0]).toEqual({ id: { gt: '20', lte: '50' } });
  for (const { id } of asked)
    expect([BigInt(id?.gt ?? 0) >= 20n, BigInt(id?.lte ?? 999) <= 50n]).toEqual([true, true]);
});

it('asks within the bounds of the caller going down', async () => {
  const { fetchPage, asked } = listing(ids(1, 100).reverse(), 10);
  expect(await delivered(certifiedWalk(fetchPage, { ...options, bounds: { between: '21..50' } }))).toEqual(
    ids(21, 50).reverse(),
  );
  expect(asked[0]).toEqual({ id: { gt: '20', lte: '50' } });
  expect(asked.at(-1)?.id).toMatchObject({ gte: '21' });
});

it('reads nothing between bounds that leave no room', async () => {
  const { fetchPage } = listing(ids(1, 100), 10);
  expect(await delivered(certifiedWalk(fetchPage, { ...options, bounds: { gt: '50', lte: '50' } }))).toEqual(
    [],
  );
});

it('becomes a walk by pages where the bounds of the caller are no integers', async () => {
  const { fetchPage, asked } = service(({ page }) => answerOf(page === 1 ? ['b'] : []));
  const steps = await stepsOf(certifiedWalk(fetchPage, { ...options, bounds: { gt: 'a' } }));
  expect(steps.map((step) => isByPages(step.position))).toEqual([true]);
  expect(asked).toEqual([{ page: 1 }, { page: 2 }]);
});

it.each(['a1', '007', '+5', '-3', '1e3', ' 5', '', '9'.repeat(40)])(
  'becomes a walk by pages at the id %j, says so and does not ask for the first page again',
  async (strange) => {
    const { fetchPage, asked } = service(({ page = 1 }) => answerOf([['1', '2'], [strange]][page - 1] ?? []));
    const first = service(({ page = 1 }) => answerOf([['1', strange], ['3']][page - 1] ?? []));
    const steps = await stepsOf(certifiedWalk(first.fetchPage, options));
    expect(steps.map((step) => step.answer.ids)).toEqual([['1', strange], ['3']]);
    expect(steps.map((step) => isByPages(step.position))).toEqual([true, true]);
    expect(first.asked).toEqual([{}, { page: 2 }, { page: 3 }]);

    const hinted = certifiedWalk(fetchPage, { ...options, pageSizeHint: 1 });
    await expect(stepsOf(hinted)).rejects.toBeInstanceOf(FilterIgnoredError);
    expect(asked.length).toBeLessThan(5);
  },
);

it('reads by pages from the first one when an id is no integer far into the walk', async () => {
  const rows = [...ids(1, 60), 'x'];
  const { fetchPage } = service(({ page = 1, id }) => {
    const inside = rows.filter((row) => (row === 'x' ? id?.lte === undefined : isInside(row, id)));
    return answerOf(inside.slice((page - 1) * 10, page * 10));
  });
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  const byPages = steps.filter((step) => isByPages(step.position));
  expect(byPages.flatMap((step) => step.answer.ids)).toEqual(rows);
  expect(byPages.length).toBeLessThan(steps.length);
});

it('goes on by pages from the first one at a position of a walk by pages', async () => {
  const { fetchPage, asked } = listing(ids(1, 5), 3);
  const walk = certifiedWalk(fetchPage, { ...options, resumeFrom: { pagination: 'page' } });
  expect(await delivered(walk)).toEqual(ids(1, 5));
  expect(asked[0]).toEqual({ page: 1 });
});

it.each([
  ['ascending', ids(1, 200)],
  ['descending', ids(1, 200).reverse()],
  ['scattered', ids(1, 200).sort((a, b) => ((Number(a) * 37) % 211) - ((Number(b) * 37) % 211))],
])('goes on behind any of its steps, ids %s', async (_, rows) => {
  const { fetchPage } = listing(rows, 10);
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  for (const [index, { position }] of steps.entries()) {
    const resumeFrom = JSON.parse(JSON.stringify(position));
    const before = steps.slice(0, index + 1).flatMap((step) => step.answer.ids);
    const after = await delivered(certifiedWalk(fetchPage, { ...options, resumeFrom }));
    expect([...before, ...after].toSorted()).toEqual(rows.toSorted());
  }
});

it('finds records that were added behind its last step', async () => {
  const steps = await stepsOf(certifiedWalk(listing(ids(1, 25), 10).fetchPage, options));
  const resumeFrom = steps.at(-1)?.position;
  const later = listing([...ids(1, 25), ...ids(100, 103)], 10);
  expect(await delivered(certifiedWalk(later.fetchPage, { ...options, resumeFrom }))).toEqual(ids(100, 103));
});

it('keeps its position small', async () => {
  const rows = ids(1, 100).map((id) => `${'9'.repeat(20)}${id.padStart(3, '0')}`);
  for (const { position } of await stepsOf(certifiedWalk(listing(rows, 10).fetchPage, options))) {
    expect(JSON.stringify(position).length).toBeLessThan(160);
  }
});

it.each([
  {},
  { pagination: 'other' },
  { pagination: 'keyset' },
  { pagination: 'keyset', direction: 'up', longest: 30 },
  { pagination: 'keyset', direction: 'asc', longest: -1 },
  { pagination: 'keyset', direction: 'asc', longest: 30, id: 5 },
  { pagination: 'keyset', direction: 'asc', longest: 30, id: '5x' },
  { pagination: 'keyset', direction: 'asc', longest: 30, id: '5', width: '-4' },
  { pagination: 'keyset', direction: 'asc', longest: '30' },
])('refuses %j as a position', async (resumeFrom) => {
  const { fetchPage, asked } = listing(ids(1, 25), 10);
  await expect(stepsOf(certifiedWalk(fetchPage, { ...options, resumeFrom }))).rejects.toBeInstanceOf(
    CheckpointError,
  );
  expect(asked).toEqual([]);
});

it('counts rows that fit no schema for the length of a page', async () => {
  // Every third row is invalid: ten rows fill a page, of which seven or six are records.
  const { fetchPage } = service(({ page = 1, id }) => {
    const inside = ids(1, 100).filter((row) => isInside(row, id));
    const rows = inside.slice((page - 1) * 10, page * 10);
    return answerOf(
      rows.filter((row) => Number(row) % 3 > 0),
      rows.filter((row) => Number(row) % 3 === 0),
    );
  });
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  const rows = steps.flatMap(({ answer }) => [...answer.ids, ...answer.invalid.map((row) => row.id)]);
  expect(
    rows
      .map(Number)
      .sort((a, b) => a - b)
      .map(String),
  ).toEqual(ids(1, 100));
});

it('delivers an interval whose rows all fit no schema', async () => {
  const { fetchPage } = service(({ id }) =>
    answerOf(
      [],
      ids(1, 3).filter((row) => isInside(row, id)),
    ),
  );
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  expect(steps.flatMap((step) => step.answer.invalid.map((row) => row.id))).toEqual(ids(1, 3));
});

it('becomes a walk by pages where no row of a full answer has an id', async () => {
  const { fetchPage } = service(({ page = 1 }) => answerOf([], page === 1 ? [undefined, undefined] : []));
  const steps = await stepsOf(certifiedWalk(fetchPage, options));
  expect(steps.map((step) => [step.answer.invalid.length, isByPages(step.position)])).toEqual([[2, true]]);
});

it('delivers a record once that an answer holds twice', async () => {
  const { fetchPage } = service(({ id }) =>
    answerOf(['1', '1', '2', '3', '3'].filter((row) => isInside(row, id))),
  );
  expect(await delivered(certifiedWalk(fetchPage, options))).toEqual(ids(1, 3));
});

it('asks for the next interval while the consumer works, and for no more', async () => {
  const { fetchPage, asked } = listing(ids(1, 100), 10);
  const walk = certifiedWalk(fetchPage, { ...options, prefetch: 5 });
  await walk.next();
  await settle();
  const [last] = asked.slice(-1);
  const before = asked.length;
  expect(last?.id?.gt).toBe('9');
  await settle();
  expect(asked).toHaveLength(before);
  await walk.return();
});

it('asks for nothing beyond a limit', async () => {
  const { fetchPage, asked } = listing(ids(1, 100), 10);
  expect(await delivered(certifiedWalk(fetchPage, { ...options, prefetch: 1, limit: 9 }))).toEqual(ids(1, 9));
  await settle();
  expect(asked).toHaveLength(2);
});

it('throws a failed look-ahead only after the step before it', async () => {
  const failure = new Error('the service fails');
  const { fetchPage } = service(({ id }) => {
    if (id?.gt !== undefined) throw failure;
    return answerOf(ids(1, 10).filter((row) => isInside(row, id)));
  });
  const walk = certifiedWalk(fetchPage, { ...options, prefetch: 1 });
  expect((await walk.next()).value?.answer.ids).toEqual(ids(1, 9));
  await settle();
  await expect(walk.next()).rejects.toBe(failure);
  expect(await walk.next()).toEqual({ done: true, value: undefined });
});

it('takes the position of a step before it looks ahead', async () => {
  const { fetchPage } = listing(ids(1, 100), 10);
  const ahead = await stepsOf(certifiedWalk(fetchPage, { ...options, prefetch: 1 }));
  const alone = await stepsOf(certifiedWalk(fetchPage, options));
  expect(ahead.map((step) => step.position)).toEqual(alone.map((step) => step.position));
});

it('shows the oldest answer that it relies on first, also where that is empty', async () => {
  // The rows of the first answer are gone by the time they are asked for again.
  const { fetchPage } = service(({ id }, count) =>
    answerOf(count > 1 ? [] : ids(5, 9).filter((row) => isInside(row, id))),
  );
  const answers: PageResponse<Row>[] = [];
  const walk = certifiedWalk(async (query, signal) => {
    const answer = await fetchPage(query, signal);
    answers.push(answer);
    return answer;
  }, options);
  const steps = await stepsOf(walk);
  expect(steps.map((step) => step.answer)).toEqual([answers[1]]);
});

it('keeps a pending look-ahead from the consumer of the step before it', async () => {
  const late = deferred<PageResponse<Row>>();
  const { fetchPage } = service(({ id }) =>
    id?.gt === undefined ? answerOf(ids(1, 10).filter((row) => isInside(row, id))) : late.promise,
  );
  const walk = certifiedWalk(fetchPage, { ...options, prefetch: 1 });
  expect((await walk.next()).done).toBe(false);
  const next = walk.next();
  late.resolve(answerOf(['10']));
  expect((await next).value?.answer.ids).toEqual(['10']);
  await walk.return();
});
