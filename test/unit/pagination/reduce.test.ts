import { expect, test } from 'vitest';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import {
  type ReadContext,
  type ResponseRows,
  reduce,
  requestOf,
  type Step,
} from '../../../src/pagination/keyset/reduce.ts';
import { type ReadState, stateAtStart } from '../../../src/pagination/keyset/state.ts';

// Each rule of `reduce.ts`, with the numbers of its example.

const everything: ReadContext = {
  bounds: undefined,
  range: { after: BELOW_ALL, through: undefined },
  hint: undefined,
  onlyChanges: false,
  facts: { method: 'GET', path: '/accounts', attempts: 1, outcome: 'applied' },
};
const hint = { pageSize: 30, order: 'asc', sortedById: true } as const;
const changes: ReadContext = { ...everything, onlyChanges: true, hint };

const range = (from: number, to: number) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, n) => (to > from ? from + n : from - n));
const rowsOf = (ids: readonly (number | string)[]): ResponseRows => ({
  rows: ids.map((id) => ({ id: String(id) })),
  ids: ids.map(String),
  invalid: [],
});
const nothing = rowsOf([]);

/** In the middle of a collection, 30 per page. */
const reading = (changed: Partial<ReadState> = {}): ReadState => ({
  ...stateAtStart(everything),
  directionKnown: true,
  mostRows: 30,
  rows: 58,
  neighbours: 56,
  after: 58n,
  width: 24n,
  highest: 58n,
  ...changed,
});

const respond = (state: ReadState, response: ResponseRows, context = everything, held?: ResponseRows) =>
  reduce(state, response, context, held);
/** What is delivered and requested next. */
const summary = ({ deliver, state }: Step, context = everything) => {
  const { page, id } = requestOf(state, context);
  const bounds = Object.entries(id ?? {}).map(([name, value]) => `id[${name}]=${value}`);
  const query = [...(page === undefined ? [] : [`_page=${page}`]), ...bounds].join('&');
  return [deliver, state.phase === 'end' ? 'end' : query];
};

test('reduce changes no state and needs nothing but its arguments', () => {
  const state = Object.freeze(reading({ through: 82n }));
  const first = respond(state, rowsOf(range(59, 75)));
  expect(respond(state, rowsOf(range(59, 75)))).toEqual(first);
});

test('rule 1: the direction is that of the first page', () => {
  const step = respond(stateAtStart(everything), rowsOf(range(90, 61)));
  expect(step.state).toMatchObject({ order: 'desc', directionKnown: true });
  expect(summary(step)).toEqual(['nothing', 'id[gte]=62']);
});

test('rule 1: the direction is turned by a row that comes although a higher one came first alone', () => {
  const single = respond(stateAtStart(everything), rowsOf([90]));
  expect(summary(single)).toEqual(['nothing', 'id[lte]=89']);
  const turned = respond(single.state, rowsOf([61]));
  expect(summary(turned)).toEqual(['nothing', '']);
  expect(turned.state.order).toBe('desc');
});

test('rule 1: the direction is turned once, even if a hint named it', () => {
  const context = { ...everything, hint: { pageSize: 0, order: 'desc', sortedById: false } } as const;
  const single = respond(stateAtStart(context), rowsOf([61]), context);
  expect(summary(single, context)).toEqual(['nothing', 'id[gte]=62']);
  const turned = respond(single.state, rowsOf([64]), context);
  expect(summary(turned, context)).toEqual(['nothing', '']);
  expect(turned.state.order).toBe('asc');
  // A row before the first one was created since.
  const again = respond(turned.state, rowsOf([61]), context);
  expect(respond(again.state, rowsOf([60]), context).state.order).toBe('asc');
});

test('rule 1: the direction starts the read again if it contradicts a hint, without what was delivered', () => {
  const step = respond(reading({ directionKnown: false, after: -100n, order: 'desc' }), rowsOf([80, 90]));
  expect(summary(step)).toEqual(['restart', '']);
});

test('rule 1: the direction is only assumed of a row behind a single one, which may be new: no single row is short any more', () => {
  const context = { ...everything, hint: { pageSize: 3, order: 'desc', sortedById: true } } as const;
  const single = respond(stateAtStart(context), rowsOf([49]), context);
  expect(summary(single, context)).toEqual(['response', '_page=2']);
  // 50 and 51 were created meanwhile, and the page size is 1 now.
  const turned = respond(single.state, rowsOf([50]), context);
  expect(summary(turned, context)).toEqual(['restart', '']);
  expect(summary(respond(turned.state, rowsOf([51]), context), context)).toEqual(['nothing', 'id[lte]=50']);
});

test('rule 2: the order is lost with one response that is not by id', () => {
  expect(respond(stateAtStart(everything), rowsOf([1, 3, 2])).state.inOrder).toBe(false);
});

test.each([{ reliedOnHint: true }, { hidesRows: true }])(
  'rule 2: the order starts the read again if what was delivered relied on it: %j',
  (state) => {
    expect(summary(respond(reading(state), rowsOf([61, 63, 62])))).toEqual(['restart', '']);
  },
);

test('rule 2: the order does not start a read again that relied on full responses', () => {
  expect(respond(reading(), rowsOf([61, 63, 62])).deliver).toBe('nothing');
});

test('rule 3: a row that an earlier short response left out shows that the service hides rows', () => {
  const short = respond(reading({ through: 82n }), rowsOf(range(59, 75)));
  expect(short.state).toMatchObject({ assumedEmpty: true, assumedEmptyThrough: 82n, hidesRows: false });
  expect(respond(short.state, rowsOf(range(76, 90))).state.hidesRows).toBe(true);
  // Above the interval of that response it may always have been.
  expect(respond(short.state, rowsOf(range(83, 90))).state.hidesRows).toBe(false);
});

test('rule 4: a full response is narrowed to its last id but one in the order of ids', () => {
  const step = respond(reading({ after: 29n, highest: 29n }), rowsOf(range(30, 59)));
  expect(summary(step)).toEqual(['nothing', 'id[gt]=29&id[lte]=58']);
});

test('rule 4: a full response is narrowed to its median in another order, and then to half of the interval', () => {
  const unordered = reading({ inOrder: false, mostRows: 3, after: 0n, through: 1_000n });
  const first = respond(unordered, rowsOf([900, 10, 800]));
  expect(summary(first)).toEqual(['nothing', 'id[gt]=0&id[lte]=800']);
  const second = respond(first.state, rowsOf([800, 10, 700]));
  const third = respond(second.state, rowsOf([700, 10, 650]));
  expect(summary(third)).toEqual(['nothing', 'id[gt]=0&id[lte]=350']);
});

test('rule 4: a full response is narrowed to less than half if its rows lie far up together', () => {
  const unordered = reading({ inOrder: false, mostRows: 3, after: 0n, through: 1_000n, timesNarrowed: 2 });
  expect(summary(respond(unordered, rowsOf([900, 990, 950])))).toEqual(['nothing', 'id[gt]=0&id[lte]=536']);
});

test('rule 4: a full response of a single row is narrowed to what is before it, and then to the row', () => {
  const start = stateAtStart(everything);
  const before = respond(start, rowsOf([17]));
  expect(summary(before)).toEqual(['nothing', 'id[lte]=16']);
  const row = respond(before.state, nothing);
  expect(summary(row)).toEqual(['nothing', 'id[gt]=16&id[lte]=17']);
  expect(respond(row.state, rowsOf([17])).deliver).toBe('response');
});

test('rule 4: a response is full if it has as many rows as the page size of a hint that says sortedById', () => {
  const start = stateAtStart(changes);
  expect(respond(start, rowsOf(range(1, 29)), changes).deliver).toBe('response');
  expect(respond(start, rowsOf(range(1, 30)), changes).deliver).toBe('nothing');
  const unproven = { ...changes, hint: { ...hint, sortedById: false } };
  expect(respond(stateAtStart(unproven), rowsOf(range(1, 29)), unproven).deliver).toBe('nothing');
});

test('rule 5: a short response in the order of ids is delivered and proves nothing behind its last row', () => {
  const step = respond(reading({ through: 82n }), rowsOf(range(59, 75)));
  expect(summary(step)).toEqual(['response', 'id[gt]=75&id[lte]=99']);
  expect(step.state.rows).toBe(75);
});

test('rule 5: a short response in the order of ids is followed by an open interval if it has less than half a page', () => {
  expect(summary(respond(reading({ through: 82n }), rowsOf([60, 70])))).toEqual(['response', 'id[gt]=70']);
});

test('rule 5: a short response in the order of ids ends the read at the upper bound of the caller', () => {
  const bounded = { ...everything, bounds: { lte: '75' }, range: { after: BELOW_ALL, through: 75n } };
  expect(summary(respond(reading(), rowsOf(range(59, 75)), bounded), bounded)).toEqual(['response', 'end']);
});

test('rule 6: an empty interval is followed by an open one, whose second page comes first', () => {
  const step = respond(reading({ after: 75n, through: 99n }), nothing);
  expect(summary(step)).toEqual(['nothing', '_page=2&id[gt]=75']);
  expect(step.state.width).toBe(96n);
});

test('rule 6: an empty interval is followed by the first page of an open one if the service hides rows', () => {
  const step = respond(reading({ after: 75n, through: 99n, hidesRows: true }), nothing);
  expect(summary(step)).toEqual(['nothing', 'id[gt]=75']);
});

test('rule 7: an empty response to an open interval ends the read after the pages behind it', () => {
  expect(summary(respond(reading({ after: 75n, laterPagesRead: true }), nothing))).toEqual([
    'response',
    'end',
  ]);
});

test('rule 7: an empty response to an open interval ends the read of an empty collection after one second page', () => {
  const first = respond(stateAtStart(everything), nothing);
  expect(summary(first)).toEqual(['nothing', '_page=2']);
  expect(summary(respond(first.state, nothing))).toEqual(['response', 'end']);
});

test('rule 7: an empty response to an open interval ends an empty list of changes at once, and is only likely to be complete on a service that hides rows', () => {
  const ordinary = respond(stateAtStart(changes), nothing, changes);
  expect(summary(ordinary, changes)).toEqual(['response', 'end']);
  expect(ordinary.state.mayMissRows).toBe(false);
  const hiding = { ...changes, hint: { ...hint, pageSize: 0 } };
  const likely = respond(stateAtStart(hiding), nothing, hiding);
  expect(summary(likely, hiding)).toEqual(['response', 'end']);
  expect(likely.state.mayMissRows).toBe(true);
});

test('rule 7: an empty response to an open interval ends a list of changes at once if an earlier read has shown the page size', () => {
  expect(summary(respond(reading({ after: 75n }), nothing, changes), changes)).toEqual(['response', 'end']);
});

const afterEnd = reading({ phase: 'later_pages', page: 2, after: 75n });

test('rule 8: the pages behind an end are followed by the first page, and the read ends if both are empty', () => {
  const first = respond(afterEnd, nothing);
  expect(summary(first)).toEqual(['nothing', 'id[gt]=75']);
  expect(summary(respond(first.state, nothing))).toEqual(['response', 'end']);
});

test('rule 8: the pages behind an end show rows behind a page of hidden ones: the read continues there, and is likely to be complete', () => {
  const first = respond(afterEnd, rowsOf(range(106, 135)));
  expect(summary(first)).toEqual(['nothing', 'id[gt]=75']);
  const found = respond(first.state, nothing);
  expect(summary(found)).toEqual(['nothing', 'id[gt]=105']);
  expect(found.state).toMatchObject({ hidesRows: true, mayMissRows: true });
});

test('rule 8: the pages behind an end show nothing if the first page has rows after all', () => {
  const first = respond(afterEnd, rowsOf(range(106, 135)));
  const step = respond(first.state, rowsOf(range(76, 90)));
  expect(step.state).toMatchObject({ hidesRows: false, mayMissRows: false, rows: 73 });
});

test('rule 8: the pages behind an end are pages 4, 3 and 2 on a service that hides rows', () => {
  let step = respond(reading({ after: 75n, hidesRows: true }), nothing);
  const seen = [summary(step)];
  for (let n = 0; n < 3; n++) {
    step = respond(step.state, nothing);
    seen.push(summary(step));
  }
  expect(seen.map(([, query]) => query)).toEqual([
    '_page=4&id[gt]=75',
    '_page=3&id[gt]=75',
    '_page=2&id[gt]=75',
    'id[gt]=75',
  ]);
});

const ended = reading({ after: 75n, hidesRows: true, laterPagesRead: true });

test('rule 9: ids further on are requested at growing distances, and the read ends if there are none', () => {
  let step = respond(ended, nothing);
  const seen = [summary(step)];
  while (step.state.phase !== 'end') {
    step = respond(step.state, nothing);
    seen.push(summary(step));
  }
  expect(seen.map(([, query]) => query)).toEqual([
    'id[gt]=171',
    'id[gt]=459',
    'id[gt]=1611',
    'id[gt]=6219',
    'id[gt]=24651',
    'end',
  ]);
});

test('rule 9: ids further on show a longer run of hidden rows, whose end is searched for page by page', () => {
  const far = respond(ended, nothing);
  const search = respond(far.state, rowsOf(range(240, 269)));
  expect(summary(search)).toEqual(['nothing', '_page=5&id[gt]=75']);
  const next = respond(search.state, nothing);
  expect(summary(next)).toEqual(['nothing', '_page=6&id[gt]=75']);
  const found = respond(next.state, rowsOf(range(231, 255)));
  expect(summary(found)).toEqual(['nothing', 'id[gt]=230']);
  expect(found.state.mayMissRows).toBe(true);
});

test('rule 9: ids further on continue at the row that was seen there if thirty pages do not reach it', () => {
  const far = respond(ended, nothing);
  let step = respond(far.state, rowsOf(range(1_240, 1_269)));
  for (let page = 5; page <= 30; page++) {
    expect(summary(step)).toEqual(['nothing', `_page=${page}&id[gt]=75`]);
    step = respond(step.state, nothing);
  }
  expect(summary(step)).toEqual(['nothing', 'id[gt]=1239']);
});

const unordered = reading({ inOrder: false, through: 82n, highest: 500n });
const short = rowsOf([75, 59, 61]);

test('rule 10: a short response in another order is delivered up to the end of its interval, after a look at its second page', () => {
  const check = respond(unordered, short);
  expect(summary(check)).toEqual(['nothing', '_page=2&id[gt]=58&id[lte]=82']);
  const step = respond(check.state, nothing, everything, short);
  expect(step).toMatchObject({ deliver: 'held', state: { after: 82n, rows: 61, inOrder: false } });
});

test.each([
  [0, true],
  [2, true],
  [3, false],
  [7, false],
  [8, true],
])('rule 10: a short response in another order of number %d is checked: %s', (shortResponses, isChecked) => {
  expect(respond({ ...unordered, shortResponses }, short).deliver).toBe(isChecked ? 'nothing' : 'response');
});

test('rule 10: a short response in another order widens the next interval to four times its span if it is empty', () => {
  const step = respond({ ...unordered, shortResponses: 3 }, nothing);
  expect(summary(step)).toEqual(['nothing', 'id[gt]=82&id[lte]=178']);
});

test('rule 10: a short response in another order starts the read again if its second page has rows, and checks each one after that', () => {
  const check = respond(unordered, short);
  const step = respond(check.state, rowsOf([80]), everything, short);
  expect(step).toMatchObject({ deliver: 'restart', state: { hidesRows: true, inOrder: false } });
  expect(respond({ ...unordered, shortResponses: 3, hidesRows: true }, short).deliver).toBe('nothing');
});

test('rule 10: a short response in another order is narrowed by the rows of both pages on a service that hides rows', () => {
  const check = respond({ ...unordered, hidesRows: true }, short);
  const step = respond(check.state, rowsOf([80, 62]), everything, short);
  expect(summary(step)).toEqual(['nothing', 'id[gt]=58&id[lte]=62']);
});

const pagesOfTwo = { mostRows: 2, rows: 12, neighbours: 5, after: 75n, laterPagesRead: true };
const isCertain = (changed: Partial<ReadState>, context = everything) =>
  !respond(reading({ ...pagesOfTwo, ...changed }), nothing, context).state.mayMissRows;

test('rule 11: the end of a read with very short pages is only likely to be complete, because rows of no order look ordered in half of the pages of two', () => {
  expect(isCertain({})).toBe(false);
  expect(isCertain({ neighbours: 8 })).toBe(true);
});

test('rule 11: the end of a read with very short pages is certain if one response holds all of it, by its own page size or that of an earlier read', () => {
  expect(isCertain({ rows: 2, neighbours: 1 })).toBe(true);
  expect(isCertain({}, { ...everything, hint })).toBe(true);
  // A resumed read that found nothing more.
  expect(isCertain({ mostRows: 0 })).toBe(true);
});

test('rule 11: the end of a read with very short pages counts the neighbours of what is delivered', () => {
  const short = respond(reading({ neighbours: 3, through: 82n }), rowsOf([59, 60, 75]));
  expect(short.state.neighbours).toBe(5);
  expect(respond(reading({ neighbours: 3 }), rowsOf(range(59, 88))).state.neighbours).toBe(3);
});

test('an id that is not an integer ends the read by intervals', () => {
  for (const id of ['abc', '007', '-3', '1e3'])
    expect(respond(reading(), rowsOf([id])).deliver).toBe('by_page');
});

test('a row outside its interval is rejected', () => {
  expect(() => respond(reading({ through: 82n }), rowsOf([83]))).toThrow(/outside the requested bounds/);
});

test('fifty requests of intervals in a row without a delivered row are an error', () => {
  const full = rowsOf(range(59, 88));
  expect(respond(reading({ requestsWithoutRows: 48 }), full).deliver).toBe('nothing');
  expect(() => respond(reading({ requestsWithoutRows: 49 }), full)).toThrow(/in 50 requests/);
});

test.each([
  ['in another order', { inOrder: false }, [75, 59, 61]],
  ['in pages of one row', { mostRows: 1 }, [75]],
] as const)(
  'a thousand requests of intervals in a row without a delivered row are an error %s',
  (_, changed, ids) => {
    const state = (requestsWithoutRows: number) =>
      reading({ through: 82n, mostRows: ids.length, ...changed, requestsWithoutRows });
    expect(respond(state(998), rowsOf(ids)).deliver).toBe('nothing');
    expect(() => respond(state(999), rowsOf(ids))).toThrow(/in 1000 requests/);
  },
);

test('a larger id allows for larger bounds', () => {
  expect(respond(reading(), rowsOf([2_147_483_648])).state.idLimit).toBe(2n ** 53n - 1n);
});
