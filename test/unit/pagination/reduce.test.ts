import { expect, test } from 'vitest';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import {
  type ReadContext,
  type ResponseRows,
  reduce,
  requestOf,
  type Step,
} from '../../../src/pagination/keyset/reduce.ts';
import {
  type BehindEndState,
  type IntervalState,
  isCertain,
  type ReadState,
  START,
} from '../../../src/pagination/keyset/state.ts';
import { reading } from '../../support/keyset-state.ts';

// Each rule of `reduce.ts`, with the numbers of its example.

const everything: ReadContext = {
  bounds: undefined,
  range: { after: BELOW_ALL, through: undefined },
  onlyChanges: false,
  facts: { method: 'GET', path: '/accounts', attempts: 1, outcome: 'applied' },
};
const changes: ReadContext = { ...everything, onlyChanges: true };

const range = (from: number, to: number) =>
  Array.from({ length: Math.abs(to - from) + 1 }, (_, n) => (to > from ? from + n : from - n));
const rowsOf = (ids: readonly (number | string)[]): ResponseRows => ({
  rows: ids.map((id) => ({ id: String(id) })),
  ids: ids.map(String),
  invalid: [],
});
const nothing = rowsOf([]);

/** Of a frozen state, because reading ahead reduces the same state several times. */
const respond = (
  state: ReadState,
  response: ResponseRows,
  context = everything,
  given?: Parameters<typeof reduce>[3],
) => reduce(Object.freeze(state), response, context, given);
/** What is delivered and requested next. */
const summary = ({ deliver, state }: Step, context = everything) => {
  const { page, id } = requestOf(state, context);
  const bounds = Object.entries(id ?? {}).map(([name, value]) => `id[${name}]=${value}`);
  const query = [...(page === undefined ? [] : [`_page=${page}`]), ...bounds].join('&');
  return [deliver, state.phase === 'end' ? 'end' : query];
};

test('rule 1: the direction is that of the first page', () => {
  const step = respond(START, rowsOf(range(90, 61)));
  expect(step.state).toMatchObject({ order: 'desc', directionKnown: true });
  expect(summary(step)).toEqual(['nothing', 'id[gte]=62']);
});

test('rule 1: the direction is turned once', () => {
  const single = respond(START, rowsOf([90]));
  const turned = respond(single.state, rowsOf([61]));
  const down = respond(turned.state, rowsOf([61]));
  expect(summary(down)).toEqual(['nothing', 'id[gte]=62']);
  // A row before the first one was created since.
  expect(respond(down.state, rowsOf([64])).state.order).toBe('desc');
});

test('rule 1: the direction starts the read again if it contradicts the assumed one, without what was delivered', () => {
  const step = respond(reading({ directionKnown: false, after: -100n, order: 'desc' }), rowsOf([80, 90]));
  expect(summary(step)).toEqual(['restart', '']);
});

test('rule 1: the direction is learned from the page behind a single row', () => {
  const single = reading({
    directionKnown: false,
    rows: 1,
    mostRows: 1,
    longest: 1,
    after: 90n,
    highest: 90n,
  });
  const behind = respond(single, nothing);
  expect(summary(behind)).toEqual(['nothing', '_page=2']);
  expect(summary(respond(behind.state, rowsOf([60])))).toEqual(['restart', '']);
  expect(respond(behind.state, rowsOf([95])).state).toMatchObject({ order: 'asc', directionKnown: true });
});

test.each([{ resumed: true }, { hidesRows: true }, { order: 'desc', after: -90n, highest: -90n }] as const)(
  'rule 2: the order starts the read again if what was delivered relied on it: %o',
  (state) => {
    expect(summary(respond(reading(state), rowsOf([61, 63, 62])))).toEqual(['restart', '']);
    expect(respond(reading({ ...state, rows: 0 }), rowsOf([61, 63, 62])).deliver).toBe('nothing');
  },
);

test('rule 2: the order does not start a read again that relied on full responses', () => {
  expect(respond(reading(), rowsOf([61, 63, 62])).deliver).toBe('nothing');
});

test('rule 3: a row that an earlier short response left out shows that the service hides rows', () => {
  const short = respond(reading({ through: 82n }), rowsOf(range(59, 75)));
  expect(short.state).toMatchObject({ leftOutThrough: 82n, hidesRows: false });
  expect(respond(short.state, rowsOf(range(76, 90))).state.hidesRows).toBe(true);
  // The last row of the interval of that response, and the first one behind it, which may always have been there.
  expect(respond(short.state, rowsOf(range(82, 90))).state.hidesRows).toBe(true);
  expect(respond(short.state, rowsOf(range(83, 90))).state.hidesRows).toBe(false);
});

test('rule 3: a row that a short response to an open interval left out shows that as well', () => {
  const short = respond(reading(), rowsOf(range(59, 75)));
  const open = respond(short.state, nothing);
  expect(summary(open)).toEqual(['nothing', 'id[gt]=75']);
  expect(respond(open.state, rowsOf([900])).state.hidesRows).toBe(true);
});

test('rule 3: a response up to the end of its interval left nothing out', () => {
  const whole = respond(reading({ through: 82n }), rowsOf(range(59, 82)));
  expect(whole.state).toMatchObject({ leftOutThrough: undefined });
  expect(respond(whole.state, rowsOf(range(83, 90))).state.hidesRows).toBe(false);
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
  const start = START;
  const before = respond(start, rowsOf([17]));
  expect(summary(before)).toEqual(['nothing', 'id[lte]=16']);
  const row = respond(before.state, nothing);
  expect(summary(row)).toEqual(['nothing', 'id[gt]=16&id[lte]=17']);
  expect(respond(row.state, rowsOf([17])).deliver).toBe('response');
});

test('rule 4: a response is full if it is as long as a page before the resume, if the list is sorted by id and hides no rows', () => {
  const resumed = reading({ resumed: true, mostRows: 0, sortedById: true });
  expect(respond(resumed, rowsOf(range(59, 87))).deliver).toBe('response');
  expect(respond(resumed, rowsOf(range(59, 88))).deliver).toBe('nothing');
  for (const untrusted of [{ sortedById: false }, { hidesRows: true }])
    expect(respond({ ...resumed, ...untrusted }, rowsOf(range(59, 87))).deliver).toBe('nothing');
});

test('rule 5: a short response in the order of ids is delivered and proves nothing behind its last row', () => {
  const step = respond(reading({ through: 82n }), rowsOf(range(59, 75)));
  expect(summary(step)).toEqual(['response', 'id[gt]=75&id[lte]=104']);
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

test('rule 7: an empty response to an open interval ends a list of changes at once, and is only likely to be complete on a service that hides rows', () => {
  for (const state of [START, reading({ after: 75n })]) {
    const ordinary = respond(state, nothing, changes);
    expect(summary(ordinary, changes)).toEqual(['response', 'end']);
    expect(ordinary.state.mayMissRows).toBe(false);
    const hiding = respond({ ...state, hidesRows: true, sortedById: true }, nothing, changes);
    expect(summary(hiding, changes)).toEqual(['response', 'end']);
    expect(hiding.state.mayMissRows).toBe(true);
  }
});

const afterEnd: BehindEndState = { ...reading({ after: 75n }), phase: 'behind_end', firstPageRead: false };

test('rule 8: the page behind an end is followed by the first page, and the read ends if both are empty', () => {
  const first = respond(afterEnd, nothing);
  expect(summary(first)).toEqual(['nothing', 'id[gt]=75']);
  expect(summary(respond(first.state, nothing))).toEqual(['response', 'end']);
});

test('rule 8: the page behind an end shows rows behind a page of hidden ones: the read continues there, and is likely to be complete', () => {
  const first = respond(afterEnd, rowsOf(range(106, 135)));
  expect(summary(first)).toEqual(['nothing', 'id[gt]=75']);
  const found = respond(first.state, nothing);
  expect(summary(found)).toEqual(['nothing', 'id[gt]=105']);
  expect(found.state).toMatchObject({ hidesRows: true, mayMissRows: true });
});

test('rule 8: the page behind an end shows nothing if the first page has rows after all', () => {
  const first = respond(afterEnd, rowsOf(range(106, 135)));
  const step = respond(first.state, rowsOf(range(76, 90)));
  expect(step.state).toMatchObject({ hidesRows: false, mayMissRows: false, rows: 73 });
});

test('rule 8: the page behind an end is requested after the first one on a service that hides rows', () => {
  const open = respond(reading({ after: 75n, through: 99n, hidesRows: true }), nothing);
  expect(summary(open)).toEqual(['nothing', 'id[gt]=75']);
  const behind = respond(open.state, nothing);
  expect(summary(behind)).toEqual(['nothing', '_page=2&id[gt]=75']);
  expect(summary(respond(behind.state, nothing))).toEqual(['nothing', 'id[gt]=75']);
});

const unordered = reading({ inOrder: false, through: 82n, highest: 500n });
const short = rowsOf([75, 59, 61]);

test('rule 9: a short response in another order is delivered up to the end of its interval, after a look at its second page', () => {
  const check = respond(unordered, short);
  expect(summary(check)).toEqual(['nothing', '_page=2&id[gt]=58&id[lte]=82']);
  const step = respond(check.state, nothing, everything, { held: short });
  expect(step).toMatchObject({ deliver: 'held', state: { after: 82n, rows: 61, inOrder: false } });
});

test.each([
  [0, true],
  [2, true],
  [3, false],
  [7, false],
  [8, true],
])('rule 9: a short response in another order of number %d is checked: %s', (shortResponses, isChecked) => {
  expect(respond({ ...unordered, shortResponses }, short).deliver).toBe(isChecked ? 'nothing' : 'response');
});

const unsorted = rowsOf([76, 59, 61]);
/** A list of changes in another order, after its first page and the second one. */
const listed = (secondPage: ResponseRows) =>
  respond(respond(START, unsorted, changes).state, secondPage, changes, { held: unsorted });

test('rule 9: a list of changes in another order is complete if its second page has no row, and then the first has all again', () => {
  expect(summary(respond(START, unsorted, changes))).toEqual(['nothing', '_page=2']);
  expect(summary(listed(nothing))).toEqual(['nothing', '']);
  const step = respond(listed(nothing).state, rowsOf([61, 76, 80, 59]), changes);
  expect(step).toMatchObject({ deliver: 'response', state: { phase: 'end', rows: 4 } });
  expect(isCertain(step.state)).toBe(false);
});

test.each([
  [
    'a row of the first page is deleted meanwhile',
    () => respond(listed(nothing).state, rowsOf([61, 80, 59]), changes),
  ],
  ['the second page has rows', () => listed(rowsOf([40]))],
])('rule 9: a list of changes in another order is read by intervals if %s', (_, read) => {
  expect(summary(read())[1]).toMatch(/^id\[lte\]=\d+$/);
  expect(read().state).toMatchObject({ hidesRows: false, firstPage: undefined });
});

test('rule 9: only a first page of integer ids in a list of changes may be the whole list', () => {
  expect(summary(respond(START, unsorted))).toEqual(['nothing', 'id[lte]=61']);
  const nameless = { ...unsorted, rows: [...unsorted.rows, {}], invalid: [{ id: undefined }] as never };
  expect(summary(respond(START, nameless, changes))).toEqual(['nothing', 'id[lte]=61']);
});

test('rule 9: a short response in another order widens the next interval to four times its span if it is empty', () => {
  const step = respond({ ...unordered, shortResponses: 3 }, nothing);
  expect(summary(step)).toEqual(['nothing', 'id[gt]=82&id[lte]=178']);
});

test('rule 9: a short response in another order starts the read again if its second page has rows, and checks each one after that', () => {
  const check = respond(unordered, short);
  const step = respond(check.state, rowsOf([80]), everything, { held: short });
  expect(step).toMatchObject({ deliver: 'restart', state: { hidesRows: true, inOrder: false } });
  expect(respond({ ...unordered, shortResponses: 3, hidesRows: true }, short).deliver).toBe('nothing');
});

test('rule 9: a short response in another order is narrowed by the rows of both pages on a service that hides rows', () => {
  const check = respond({ ...unordered, hidesRows: true }, short);
  const step = respond(check.state, rowsOf([80, 62]), everything, { held: short });
  expect(summary(step)).toEqual(['nothing', 'id[gt]=58&id[lte]=62']);
});

const short3 = {
  mostRows: 3,
  longest: 3,
  rows: 12,
  neighbours: 7,
  after: 75n,
  behindEnd: 'nothing',
} as const;
const ended = (changed: Partial<IntervalState>) => respond(reading({ ...short3, ...changed }), nothing).state;

test.each<[Partial<IntervalState>, boolean]>([
  [{}, true],
  [{ neighbours: 8 }, false],
  // One response held all of it, perhaps before the read was resumed.
  [{ rows: 3, neighbours: 2 }, false],
  [{ rows: 4, neighbours: 2 }, true],
  [{ rows: 3, neighbours: 2, mostRows: 0 }, false],
  [{ mostRows: 0 }, true],
  // Pages of two rows show no order, however many there are.
  [{ mostRows: 2, longest: 2, neighbours: 50 }, true],
  [{ mostRows: 2, longest: 2, rows: 2, neighbours: 1 }, true],
  [{ mostRows: 2, longest: 2, rows: 2, neighbours: 1, behindEnd: 'nothing_at_all' }, false],
  [{ mostRows: 1, longest: 1, rows: 1, neighbours: 0 }, false],
  [{ mostRows: 0, longest: 0, rows: 0, neighbours: 0 }, false],
])('rule 10: the end of a read with very short pages, %o, may miss rows: %s', (state, mayMissRows) => {
  expect(ended(state).mayMissRows).toBe(mayMissRows);
});

test('rule 10: only a second page of the whole list shows that two rows are all', () => {
  const two: BehindEndState = {
    ...reading({ rows: 2, mostRows: 2, longest: 2, after: 75n }),
    phase: 'behind_end',
    firstPageRead: false,
  };
  expect(requestOf(two, everything)).toEqual({ page: 2, id: undefined });
  expect(respond(two, nothing).state).toMatchObject({ behindEnd: 'nothing_at_all' });
  // A row that comes before the last one was on no page that was delivered.
  expect(respond(two, rowsOf([60])).state).toMatchObject({ behindEnd: 'nothing' });
  // Nor do rows in another order, which are not requested again.
  const unordered = respond(two, rowsOf([70, 60, 65]));
  expect(unordered.state).toMatchObject({ phase: 'interval', inOrder: false });
  const more: BehindEndState = { ...two, rows: 3 };
  expect(requestOf(more, everything)).toEqual({ page: 2, id: { gt: '75' } });
  expect(respond(more, nothing).state).toMatchObject({ behindEnd: 'nothing' });
});

test('rule 10: the end of a read with very short pages counts the neighbours of what is delivered', () => {
  const short = respond(reading({ neighbours: 3, through: 82n }), rowsOf([59, 60, 75]));
  expect(short.state.neighbours).toBe(5);
  expect(respond(reading({ neighbours: 3 }), rowsOf(range(59, 88))).state.neighbours).toBe(3);
});

test.each<[Partial<IntervalState>, boolean]>([
  [{}, true],
  [{ inOrder: false }, false],
  [{ mayMissRows: true }, false],
  // Rows in the order of ids may be in the order of a date by chance.
  [{ hidesRows: true }, false],
  [{ hidesRows: true, sortedById: true }, true],
])(
  'a read is certain as long as every response was in order, and hidden rows are excluded: %o %s',
  (state, certain) => {
    expect(isCertain(reading(state))).toBe(certain);
  },
);

const timed = (hours: readonly (number | undefined)[], from = 59): ResponseRows => ({
  ...rowsOf(range(from, from + hours.length - 1)),
  rows: hours.map((hour) => ({
    updatedAt: hour === undefined ? undefined : new Date(hour * 3_600_000).toISOString(),
  })),
});

test.each<[readonly (number | undefined)[], boolean]>([
  [[1, 3, 2], true],
  [[3, undefined, 1, 2], true],
  [[1, 2, 3], false],
  [[3, 2, 1], false],
  [[undefined, undefined], false],
  // Ten minutes show no order.
  [[1, 1.16, 1], false],
  [[1, 1.18, 1], true],
])(
  'timestamps after %j hours in the order of ids show that the list is not sorted by date: %s',
  (hours, sortedById) => {
    expect(respond(reading({ through: 82n }), timed(hours)).state.sortedById).toBe(sortedById);
  },
);

/** What was asked for the interval after 58. */
const asked = (after: bigint, through: bigint, isGap = false) => ({ asked: { after, through, isGap } });

test('a response that begins earlier is used from the interval on, and up to its own end', () => {
  const step = respond(reading({ through: 82n }), rowsOf(range(51, 74)), everything, asked(50n, 74n));
  expect(summary(step)).toEqual(['response', 'id[gt]=74&id[lte]=103']);
  expect(step.state).toMatchObject({ rows: 74, neighbours: 71, after: 74n, leftOutThrough: undefined });
  const short = respond(reading({ through: 82n }), rowsOf(range(51, 70)), everything, asked(50n, 74n));
  expect(short.state).toMatchObject({ after: 70n, leftOutThrough: 74n });
});

test('a response that begins earlier is short by all of its rows', () => {
  const step = respond(reading({ through: 82n }), rowsOf(range(51, 80)), everything, asked(50n, 90n));
  expect(summary(step)).toEqual(['nothing', 'id[gt]=58&id[lte]=79']);
  expect(step.state).toMatchObject({ timesNarrowed: 1, requestsWithoutRows: 1 });
});

test.each([
  ['with one new row', range(30, 59)],
  ['without a new row', range(29, 58)],
])(
  'a full response that begins earlier, %s, shows nothing of the rest: that is requested exactly',
  (_, ids) => {
    const step = respond(reading({ through: 82n }), rowsOf(ids), everything, asked(28n, 60n));
    expect(summary(step)).toEqual(['nothing', 'id[gt]=58&id[lte]=60']);
    // The room for one id is not room for all that the response could have.
    const single = respond(reading({ through: 82n }), rowsOf(range(30, 59)), everything, asked(29n, 59n));
    expect(summary(single)).toEqual(['nothing', 'id[gt]=58&id[lte]=59']);
  },
);

test('a full response that begins earlier, with two new rows, is narrowed as any other', () => {
  const step = respond(reading({ through: 82n }), rowsOf(range(31, 60)), everything, asked(30n, 62n));
  expect(summary(step)).toEqual(['nothing', 'id[gt]=58&id[lte]=59']);
});

test('a response that begins earlier, without a new row, is an empty interval', () => {
  const step = respond(reading({ through: 82n }), rowsOf(range(55, 58)), everything, asked(54n, 78n));
  expect(summary(step)).toEqual(['nothing', '_page=2&id[gt]=58']);
  expect(step.state.after).toBe(58n);
});

test('a response that begins earlier and loses the order is requested exactly', () => {
  const step = respond(reading({ through: 82n }), rowsOf([59, 55, 70]), everything, asked(54n, 78n));
  expect(summary(step)).toEqual(['nothing', 'id[gt]=58&id[lte]=78']);
  expect(step.state).toMatchObject({ inOrder: false, rows: 58 });
});

test.each([
  [[57, 60], true],
  [[57, 58, 66], false],
])(
  'of a response that begins earlier only what is behind can have been left out before: %j',
  (ids, hidesRows) => {
    const state = reading({ through: 82n, leftOutThrough: 65n });
    expect(respond(state, rowsOf(ids), everything, asked(54n, 78n)).state.hidesRows).toBe(hidesRows);
  },
);

test('a response that begins where it should and loses the order is not requested again', () => {
  const step = respond(reading({ through: 82n }), rowsOf([59, 70, 65]), everything, asked(58n, 78n));
  expect(summary(step)).toEqual(['nothing', '_page=2&id[gt]=58&id[lte]=78']);
});

test('a response that begins earlier may have only rows of what was asked', () => {
  const wrong = (id: number) => () =>
    respond(reading({ through: 82n }), rowsOf([id]), everything, asked(54n, 78n));
  expect(wrong(55)).not.toThrow();
  for (const id of [54, 79]) expect(wrong(id)).toThrow(/outside the requested bounds/);
});

test('a response to a gap says nothing of how dense the rows behind it are', () => {
  const gap = respond(reading({ through: 82n }), rowsOf([70]), everything, asked(58n, 70n, true));
  expect(summary(gap)).toEqual(['response', 'id[gt]=70&id[lte]=94']);
  expect(gap.state.width).toBe(24n);
  const sparse = respond(reading({ through: 82n }), rowsOf([70]), everything, asked(58n, 70n));
  expect(summary(sparse)).toEqual(['response', 'id[gt]=70']);
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
