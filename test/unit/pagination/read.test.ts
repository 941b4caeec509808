import { describe, expect, test } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import { ABOVE_ALL, type Interval } from '../../../src/pagination/keyset/interval.ts';
import {
  type Ask,
  delivered,
  isEnded,
  isSortedById,
  type Learned,
  next,
  queryOf,
  type ReadContext,
  type ReadState,
  type ResponseRows,
  reduce,
  startOf,
} from '../../../src/pagination/keyset/read.ts';
import { MAX_FRUITLESS } from '../../../src/pagination/page.ts';
import { thrown } from '../../support/caught.ts';

// Each rule of `read.ts`, by its number there.

const everything: ReadContext = {
  bounds: undefined,
  range: { after: BELOW_ALL, through: undefined },
  onlyChanges: false,
  listOrder: 'any',
  facts: { method: 'GET', path: '/accounts', attempts: 1, outcome: 'applied' },
};
const changes = { ...everything, onlyChanges: true };

const range = (from: number, to: number): number[] =>
  from <= to ? Array.from({ length: to - from + 1 }, (_, n) => from + n) : range(to, from).toReversed();
/** Rows without dates, which cannot be sorted by them. */
const rowsOf = (ids: readonly (number | string)[]): ResponseRows => ({
  rows: ids.map((id) => ({ id })),
  ids: ids.map(String),
  invalid: [],
});
const shown = ({ after, through }: Interval) => `${after}…${through === ABOVE_ALL ? '' : through}` as const;

/** A read whose requests are answered one by one, by their query. */
function reading(state: ReadState, context = everything) {
  let current = state;
  const asks = new Map<string, Ask>();
  const read = {
    state: () => current,
    /** What is requested now, with at most so many requests in flight. */
    next(most = 1) {
      const planned = next(Object.freeze(current), most, context);
      current = planned.state;
      return planned.asks.map((ask) => {
        const { page, id = {} } = queryOf(ask, current, context);
        const bounds = Object.entries(id).map(([name, value]) => `${name}=${value}`);
        const query = [...(page === undefined ? [] : [`_page=${page}`]), ...bounds].join('&');
        asks.set(query, ask);
        return query;
      });
    },
    respond(query: string, ids: readonly (number | string)[]) {
      const reduced = reduce(Object.freeze(current), asks.get(query) as Ask, rowsOf(ids), context);
      current = reduced ?? current;
      return reduced;
    },
    /** Requests and responds, one after another: what was requested. */
    play(...responses: readonly (readonly (number | string)[])[]) {
      return responses.map((ids) => {
        const [query = 'nothing'] = read.next();
        read.respond(query, ids);
        read.deliver();
        return query;
      });
    },
    deliver() {
      const parts: string[] = [];
      for (let step = delivered(current); step !== undefined; step = delivered(current)) {
        current = step.state;
        parts.push(shown(step.part));
      }
      return parts;
    },
  };
  return read;
}

const learned: Learned = {
  order: 'asc',
  inOrder: true,
  mayMissRows: false,
  boundsApply: true,
  notByDate: false,
  gap: 1,
  highest: 58n,
  idLimit: 2_147_483_647n,
};

/** A read of pages of 30 rows, up to the id 58. */
const middle = (changed: Partial<ReadState> = {}, context = everything): ReadState => ({
  ...startOf(context, learned, 58n),
  pageSize: 30,
  isNearEnd: false,
  depth: 4,
  ...changed,
});

test('the example of the comment is read as it says', () => {
  const read = reading(startOf(everything));
  const queries = read.play(range(1, 30), range(1, 29), range(30, 59), range(30, 58), range(59, 75), [], []);
  expect(queries).toEqual([
    '_page=1',
    'lte=29',
    'gt=29',
    'gt=29&lte=58',
    'gt=58&lte=87',
    'gt=75',
    '_page=2&gt=75',
  ]);
  expect(isEnded(read.state())).toBe(true);
});

test('rule 1: the direction is that of the first page, and never turns', () => {
  const read = reading(startOf(everything));
  expect(read.play(range(90, 61), range(90, 62), range(61, 1))).toEqual(['_page=1', 'gte=62', 'lt=62']);
  expect(read.state()).toMatchObject({ order: 'desc', inOrder: true });

  const single = reading(startOf(everything));
  single.play([90], [], [90], [92, 91]);
  expect(single.state()).toMatchObject({ order: 'asc', inOrder: false });
});

test('rule 2: one response out of order is another order for good, and what was proven stays proven', () => {
  const read = reading(startOf(everything));
  read.play(range(1, 30), range(1, 29), [31, 30]);
  expect(read.state()).toMatchObject({ inOrder: false, after: 29n });
});

test('rule 3: a full response proves nothing, and the begin of its interval is requested as it is', () => {
  const read = reading(middle({ isNearEnd: true }));
  expect(read.play(range(59, 88))).toEqual(['gt=58']);
  expect(read.state()).toMatchObject({ after: 58n, fruitless: 1 });
  expect(read.next()).toEqual(['gt=58&lte=87']);
});

test.each<[string, Partial<ReadState>, readonly number[], string]>([
  ['the last row but one, in the order of ids', {}, [60, 70, 80], 'gt=58&lte=70'],
  ['the middle row, in another order', { inOrder: false }, [80, 60, 70, 65], 'gt=58&lte=65'],
  ['the id before a row that fills a page alone', { pageSize: 1 }, [70], 'gt=58&lte=69'],
])('rule 3: an interval is cut after %s', (_, changed, rows, expected) => {
  const read = reading(middle({ pageSize: 3, isNearEnd: true, ...changed }));
  read.play(rows);
  expect(read.next()).toEqual([expected]);
});

test('rule 3: an interval that was split twice in another order is halved', () => {
  const read = reading(middle({ pageSize: 3, inOrder: false, isNearEnd: true }));
  const queries = read.play([900, 60, 800], [800, 60, 700], [700, 60, 650]);
  expect(queries.slice(1)).toEqual(['gt=58&lte=800', 'gt=58&lte=700']);
  expect(read.next()).toEqual(['gt=58&lte=354']);
});

describe("rule 3, with listOrder: 'id'", () => {
  const context = { ...everything, listOrder: 'id' } as const;

  test('a full response proves the rows up to its last one, and the rest is requested as it is', () => {
    const read = reading(startOf(context), context);
    const queries = read.play(range(1, 30), range(1, 29), range(30, 59), range(60, 89), range(90, 95), []);
    expect(queries).toEqual(['_page=1', 'lte=29', 'gt=29', 'gt=59', 'gt=89', '_page=2&gt=89']);
    expect(isEnded(read.state())).toBe(true);
  });

  test.each<[string, Partial<ReadState>]>([
    ['the service lists by descending id', { order: 'desc', notByDate: true }],
    ['a response was in another order', { inOrder: false, notByDate: true }],
    ['all rows can be sorted by date', { notByDate: false }],
    ['no bound has shown a row', { boundsApply: false, notByDate: true }],
  ])('a full response proves nothing if %s', (_, changed) => {
    expect(isSortedById(middle({ ...changed }), context)).toBe(false);
    expect(isSortedById(middle({ notByDate: true }), context)).toBe(true);
  });

  test.each<[string, readonly (string | undefined)[], boolean]>([
    ['ascend', ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z'], false],
    ['descend once', ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'], true],
    [
      'ascend as moments',
      ['2026-01-02T00:00:00+02:00', '2026-01-01T23:00:00Z', '2026-01-02T00:00:00Z'],
      false,
    ],
    ['are missing', [undefined, undefined, undefined], true],
  ])('rows whose dates %s', (_, dates, expected) => {
    const rows = dates.map((updatedAt, index) => ({ id: String(59 + index), updatedAt }));
    const ask = { after: 58n, through: ABOVE_ALL };
    const start = middle({ work: [{ ...ask, ask, splits: 0, seen: [], held: undefined }] });
    const state = reduce(start, ask, { rows, ids: rows.map(({ id }) => id), invalid: [] }, context);
    expect(state?.notByDate).toBe(expected);
  });
});

test('rule 4: a short response proves its interval in another order, and up to its last row in the order of ids', () => {
  const ordered = reading(middle({ highest: 500n }));
  const [query = ''] = ordered.next();
  ordered.respond(query, range(59, 70));
  expect(ordered.deliver()).toEqual(['58…70']);

  const other = reading(middle({ inOrder: false, highest: 500n }));
  const [same = ''] = other.next();
  other.respond(same, range(59, 70));
  expect(other.deliver()).toEqual(['58…87']);
});

test('rule 5: the read begins again if the first bound hides rows, and ends with an error if they come again', () => {
  const read = reading(startOf(everything));
  expect(read.play(range(1, 30), [])).toEqual(['_page=1', 'lte=29']);
  expect(read.deliver()).toEqual([]);
  expect(read.next()).toEqual(['_page=1']);
  expect(thrown(() => read.respond('_page=1', range(29, 58)))).toBeInstanceOf(FilterIgnoredError);
});

test('rule 5: the read continues if the rows of the first bound were deleted', () => {
  const read = reading(startOf(everything));
  const queries = read.play(range(1, 30), [], range(31, 60), range(31, 59), [60], []);
  expect(queries).toEqual(['_page=1', 'lte=29', '_page=1', 'lte=59', 'gt=59', '_page=2&gt=59']);
  expect(isEnded(read.state())).toBe(true);
});

test('rule 6: a short response without an end waits for its second page', () => {
  const read = reading(middle({ isNearEnd: true }));
  expect(read.play(range(59, 75))).toEqual(['gt=58']);
  expect(read.next()).toEqual(['_page=2&gt=58']);
  read.respond('_page=2&gt=58', []);
  expect(read.deliver()).toEqual([`58…`]);
  expect(read.state()).toMatchObject({ mayMissRows: false, work: [] });
});

test.each<[string, Partial<ReadState>, readonly number[], string[], string]>([
  ['after its last row', {}, range(59, 75), ['58…75'], 'gt=75'],
  ['after a page without rows', {}, [], ['58…89'], 'gt=89'],
  ['with its begin in another order', { inOrder: false }, range(59, 75), [], 'gt=58&lte=75'],
])(
  'rule 6: if its second page has other rows, the read continues %s',
  (_, changed, rows, parts, expected) => {
    const read = reading(middle({ isNearEnd: true, ...changed }));
    read.next();
    read.respond('gt=58', rows);
    read.next();
    read.respond('_page=2&gt=58', range(90, 105));
    expect(read.deliver()).toEqual(parts);
    expect(read.state().mayMissRows).toBe(true);
    expect(read.next()).toEqual([expected]);
  },
);

test('rule 6: a second page with the rows of the first is the end: the service ignores page numbers', () => {
  const read = reading(middle({ isNearEnd: true }));
  read.play(range(59, 75), range(59, 75));
  expect(isEnded(read.state())).toBe(true);
});

test('rule 6: a list of changes ends with an empty response', () => {
  const read = reading(startOf(changes), changes);
  expect(read.play([])).toEqual(['_page=1']);
  expect(isEnded(read.state())).toBe(true);
});

test('rule 7: a row outside of its interval is an error', () => {
  const read = reading(middle());
  const [query = ''] = read.next();
  expect(thrown(() => read.respond(query, [12]))).toBeInstanceOf(FilterIgnoredError);
});

test('rule 7: so many responses in a row that prove nothing are an error', () => {
  const read = reading(middle({ fruitless: MAX_FRUITLESS - 1 }));
  const [query = ''] = read.next();
  expect(thrown(() => read.respond(query, range(59, 87)))).toBeInstanceOf(FilterIgnoredError);
});

test('requests intervals that touch, and takes their responses in any order', () => {
  const read = reading(middle({ highest: 500n }));
  const queries = read.next(3);
  expect(queries).toEqual(['gt=58&lte=87', 'gt=87&lte=116', 'gt=116&lte=145']);
  read.respond('gt=116&lte=145', range(117, 145));
  expect(read.deliver()).toEqual([]);
  read.respond('gt=58&lte=87', range(59, 87));
  read.respond('gt=87&lte=116', range(88, 116));
  expect(read.deliver()).toEqual(['58…87', '87…116', '116…145']);
});

test.each([
  [{ idLimit: 2_147_483_647n, highest: 2_147_483_600n }, 2_147_483_640n, 'gt=2147483640&lte=2147483647'],
  [{ idLimit: 2_147_483_647n, highest: 2_147_483_600n }, 2_147_483_647n, 'gt=2147483647'],
])('requests no bound above the largest id of the type: %o after %s', (changed, after, expected) => {
  const read = reading({
    ...startOf(everything, { ...learned, ...changed }, after),
    pageSize: 30,
    isNearEnd: false,
  });
  expect(read.next()).toEqual([expected]);
});
