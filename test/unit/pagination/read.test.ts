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
import { MAX_STALLED } from '../../../src/pagination/page.ts';
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

/** What is not delivered yet is in exactly one interval, and those are ascending. */
function expectTiles({ after, work, proven }: ReadState, end: bigint) {
  const all = [...work, ...proven].sort((a, b) => (a.after < b.after ? -1 : 1));
  const ends = all.map(({ through }) => through);
  expect(all.map((each) => each.after)).toEqual(ends.length === 0 ? [] : [after, ...ends.slice(0, -1)]);
  if (ends.length > 0) expect(ends.at(-1)).toBe(end);
}

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
      if (context.range.through === undefined && current.order === 'asc') expectTiles(current, ABOVE_ALL);
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
  hidesPages: false,
  lostRows: false,
  cutsShort: false,
  hasFew: true,
  boundsApply: true,
  notByDate: false,
  gap: 1,
  highest: 58n,
  idLimit: 2_147_483_647n,
};

/** A read of pages of 30 rows, up to the id 58. */
const middle = (changed: Partial<ReadState> = {}, context = everything): ReadState => ({
  ...startOf(context, learned, { after: 58n, row: 58n }),
  pageSize: 30,
  isNearEnd: false,
  depth: 4,
  ...changed,
});

test('the example of the comment is read as it says', () => {
  const read = reading(startOf(everything));
  const queries = read.play(
    range(1, 30),
    range(1, 29),
    range(30, 59),
    range(30, 58),
    range(59, 75),
    [75],
    [],
  );
  expect(queries).toEqual([
    '_page=1',
    'lte=29',
    'gt=29',
    'gt=29&lte=58',
    'gt=58&lte=87',
    'gt=74',
    '_page=2&gt=74',
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
  expect(read.play(range(59, 88))).toEqual(['gt=57']);
  expect(read.state()).toMatchObject({ after: 58n, stalled: 1 });
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
    const queries = read.play(
      range(1, 30),
      range(1, 29),
      range(30, 59),
      range(60, 89),
      range(90, 95),
      [95],
      [],
    );
    expect(queries).toEqual(['_page=1', 'lte=29', 'gt=29', 'gt=59', 'gt=89', 'gt=94', '_page=2&gt=94']);
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
    const start = middle({ work: middle().work.map((item) => ({ ...item, ...ask, ask })) });
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

test('rule 4: a known row alone proves an interval with an end only up to itself', () => {
  const read = reading(middle({ known: [58n, 70n], highest: 500n }));
  const [query = ''] = read.next();
  read.respond(query, [70]);
  expect([query, ...read.deliver()]).toEqual(['gt=58&lte=87', '58…70']);

  const first = reading(middle({ known: [58n, 59n], highest: 500n }));
  const [same = ''] = first.next();
  first.respond(same, [59]);
  expect([same, ...first.deliver()]).toEqual(['gt=58&lte=87', '58…59']);
});

test('rule 4: a row that comes only after its interval was proven without it can be one of several', () => {
  const shown = (ids: readonly number[]) => {
    const read = reading(middle({ isNearEnd: true, known: [50n, 55n] }));
    read.next();
    read.respond('gt=54', ids);
    return read.state().lostRows;
  };
  expect([[55, 59], [55], [55, 57]].map(shown)).toEqual([false, false, true]);
});

test('rule 3: a page of one row proves that row if no other id comes before it', () => {
  const read = reading(middle({ pageSize: 1, isNearEnd: true, known: [58n, 59n, 60n] }));
  const [query = ''] = read.next();
  read.respond(query, [59]);
  expect([query, ...read.deliver()]).toEqual(['gt=58', '58…59']);
});

test('remembers the rows that are not proven, and a page of those that were delivered', () => {
  const read = reading(startOf(everything));
  read.play(range(1, 30), range(1, 29), range(30, 59), range(30, 58));
  for (let last = 87; last < 700; last += 29) read.play(range(last - 28, last));
  const { known } = read.state();
  expect(known.length).toBeGreaterThanOrEqual(50);
  expect(known.length).toBeLessThanOrEqual(60);
  expect(known.at(-1)).toBe(read.state().after);
});

test('rule 4: a row that was shown and is missing is requested once more, and then lost', () => {
  const read = reading(middle({ isNearEnd: true }));
  read.play([58, ...range(59, 87)]);
  const without70 = range(59, 86).filter((id) => id !== 70);
  expect(read.play(without70)).toEqual(['gt=58&lte=86']);
  expect(read.state()).toMatchObject({ after: 58n, lostRows: false });
  expect(read.play(without70)).toEqual(['gt=58&lte=86']);
  expect(read.state()).toMatchObject({ after: 86n, lostRows: true, cutsShort: false });
});

test('rule 4: a row that was shown behind the last row of a response in no order is missing too', () => {
  const read = reading(middle({ inOrder: false, known: [58n, 86n], highest: 500n }));
  expect(read.play(range(59, 70))).toEqual(['gt=58&lte=87']);
  expect(read.state()).toMatchObject({ after: 58n, lostRows: false });
  expect(read.play(range(59, 70))).toEqual(['gt=58&lte=90']);
  expect(read.state()).toMatchObject({ after: 90n, lostRows: true });
});

test('rule 4: rows that were shown behind the last row were cut, and the read goes on', () => {
  const read = reading(middle({ isNearEnd: true }));
  read.play([58, ...range(59, 87)]);
  expect(read.play(range(59, 80))).toEqual(['gt=58&lte=86']);
  expect(read.state()).toMatchObject({ after: 80n, lostRows: false, cutsShort: true, varies: true });
  expect(read.next()).toEqual(['gt=80&lte=109']);
});

describe('rule 5: a response without rows', () => {
  const isError = (error: unknown) =>
    expect(error).toMatchObject({
      code: 'unexpected_response',
      reason: 'incomplete_list',
      retryable: true,
      message: expect.stringContaining('records, and then none of them'),
    });

  test('is believed if the row before its interval comes alone', () => {
    const read = reading(middle({ highest: 500n }));
    expect(read.play([], [58])).toEqual(['gt=58&lte=87', 'gt=57']);
    expect(read.state()).toMatchObject({ lostRows: false, after: 58n });
    expect(read.next()).toEqual(['_page=2&gt=57']);
  });

  test('is believed for an interval with an end if the row before it comes alone again', () => {
    const read = reading(middle({ highest: 500n }));
    const [first = '', second = ''] = read.next(2);
    read.respond(first, []);
    const [again = ''] = read.next(2);
    expect([first, second, again]).toEqual(['gt=58&lte=87', 'gt=87&lte=116', 'gt=57&lte=87']);
    read.respond(again, [58]);
    expect(read.deliver()).toEqual(['58…87']);
    read.respond(second, range(88, 115));
    expect(read.deliver()).toEqual(['87…115']);
  });

  test('is not believed if more rows come behind the row before it', () => {
    const read = reading(middle({ highest: 500n }));
    expect(read.play([], [58, 60, 61])).toEqual(['gt=58&lte=87', 'gt=57']);
    expect(read.state()).toMatchObject({ after: 61n, lostRows: false });
  });

  test('is requested from half a page of rows before it if the row before it does not come either', () => {
    const read = reading(startOf(everything));
    const queries = read.play(
      range(1, 30),
      range(1, 29),
      range(30, 59),
      range(30, 58),
      [],
      [],
      range(44, 58),
    );
    expect(queries.slice(4)).toEqual(['gt=58&lte=87', 'gt=58', 'gt=43']);
    // 59 was shown, and is gone.
    expect(read.state()).toMatchObject({ lostRows: true, after: 58n });
    expect(read.play([58], [])).toEqual(['gt=57', '_page=2&gt=57']);
    expect(isEnded(read.state())).toBe(true);
  });

  test('ends the read with an error if none of three rows or more comes again', () => {
    const read = reading(startOf(everything));
    read.play(range(1, 30), range(1, 29), [], []);
    const [query = ''] = read.next();
    expect(query).toBe('gt=14');
    isError(thrown(() => read.respond(query, [])));
  });

  test.each([1, 2])('is believed if only %i rows were shown: they can have been deleted', (count) => {
    const read = reading(startOf(everything));
    read.play(range(1, count), count === 1 ? [] : [1]);
    for (let request = 0; !isEnded(read.state()); request++) {
      expect(request).toBeLessThan(6);
      read.play([]);
    }
    expect(read.state().lostRows).toBe(true);
  });

  test.each([
    ['fails if the whole list has none', [[], [], []], true],
    ['is likely if other rows are there', [[], range(1, 30), [], []], false],
    ['is certain if the last row is there', [[58], [], []], false],
  ] as const)('of a resumed read %s', (_, responses, fails) => {
    const read = reading(startOf(everything, learned, { after: 58n, row: 58n }));
    const error = fails ? thrown(() => read.play(...responses)) : undefined;
    if (fails) return isError(error);
    read.play(...responses);
    expect(isEnded(read.state())).toBe(true);
    expect(read.state().lostRows).toBe(responses[0].length === 0);
  });

  test('in another order is believed with an end, unless ids are dense', () => {
    const sparse = reading(middle({ inOrder: false, gap: 5, highest: 500n }));
    sparse.play([]);
    expect(sparse.state().after).toBeGreaterThan(58n);
    const dense = reading(middle({ inOrder: false, highest: 500n }));
    // Wider, because there are fewer rows than it seemed.
    expect(dense.play([], [58])).toEqual(['gt=58&lte=87', 'gt=57&lte=237']);
    expect(dense.state()).toMatchObject({ after: 237n });
  });

  test('makes the read begin again before a bound has shown a row, and is an error if the rows come again', () => {
    const read = reading(startOf(everything));
    expect(read.play(range(1, 30), [], [])).toEqual(['_page=1', 'lte=29', 'lte=29']);
    expect(read.next()).toEqual(['_page=1']);
    const error = thrown(() => read.respond('_page=1', range(29, 58)));
    expect(error).toBeInstanceOf(FilterIgnoredError);
    expect(error).toMatchObject({ retryable: true });
  });

  test('makes the read begin again, which continues if the rows of the first bound were deleted', () => {
    const read = reading(startOf(everything));
    const queries = read.play(range(1, 30), [], [], range(31, 60), range(31, 59), [60], []);
    expect(queries.slice(2)).toEqual(['lte=29', '_page=1', 'lte=59', 'gt=59', '_page=2&gt=59']);
    expect(isEnded(read.state())).toBe(true);
  });

  test('makes the read begin again, and fails if the whole list has none then', () => {
    const read = reading(startOf(everything));
    read.play(range(1, 30), [], []);
    read.next();
    isError(thrown(() => read.respond('_page=1', [])));
  });
});

test('rule 6: a short response without an end is followed by a request from its last row, and by its second page', () => {
  const read = reading(middle({ isNearEnd: true }));
  expect(read.play([58, ...range(59, 75)], [75], [])).toEqual(['gt=57', 'gt=74', '_page=2&gt=74']);
  expect(read.state()).toMatchObject({ hidesPages: false, cutsShort: false, work: [] });
});

test('rule 6: two rows behind what looked like the end show that pages are cut, so the end is requested plainly too', () => {
  const read = reading(middle({ isNearEnd: true }));
  read.play([58, ...range(59, 75)], [75, 76, 77]);
  expect(read.state()).toMatchObject({ after: 77n, cutsShort: true, varies: true });
  expect(read.play([77], [], [])).toEqual(['gt=76', 'gt=77', '_page=2&gt=77']);
  expect(isEnded(read.state())).toBe(true);
});

test('rule 6: a page longer than those before shows that pages differ in length', () => {
  const read = reading(middle({ isNearEnd: true, pageSize: 3 }));
  read.play([58, 59, 60, 61]);
  expect(read.state()).toMatchObject({ pageSize: 4, varies: true });
});

test('rule 6: one row behind what looked like the end was written meanwhile', () => {
  const read = reading(middle({ isNearEnd: true }));
  read.play([58, ...range(59, 75)], [75, 76]);
  expect(read.state()).toMatchObject({ after: 76n, cutsShort: false });
});

test('rule 6: several known rows are no end, and the request begins at the last of them', () => {
  const read = reading(middle({ isNearEnd: true, known: [56n, 57n, 58n], highest: 500n }));
  read.next();
  read.respond('gt=57', []);
  expect(read.next()).toEqual(['gt=55']);
  read.respond('gt=55', [56, 57]);
  expect(read.play([57])).toEqual(['gt=56']);
  expect(read.next()).toEqual(['_page=2&gt=56']);
});

test.each<[string, Partial<ReadState>, readonly number[], string, readonly string[]]>([
  ['before them once more', {}, [58], 'gt=57', ['gt=58', 'gt=89']],
  ['with its begin in another order', { inOrder: false }, range(59, 75), 'gt=57', ['gt=58&lte=75']],
])('rule 6: if its second page has other rows, the read continues %s', (_, changed, rows, end, expected) => {
  const read = reading(middle({ isNearEnd: true, ...changed }));
  read.play(rows);
  expect(read.next()).toEqual([`_page=2&${end}`]);
  read.respond(`_page=2&${end}`, range(90, 105));
  expect(read.state().hidesPages).toBe(true);
  const queries = expected.map(() => read.play([])[0]);
  expect(queries).toEqual(expected);
});

test('rule 6: a second page with the rows of the first is the end: the service ignores page numbers', () => {
  const read = reading(middle({ isNearEnd: true }));
  read.play([58], [58]);
  expect(isEnded(read.state())).toBe(true);
});

test('rule 6: a page of one row is no proof that another one would not fit', () => {
  const onePerPage = middle({ isNearEnd: true, pageSize: 1 });
  const queries = reading(onePerPage).play([58], [60], [], [60], []);
  expect(queries).toEqual(['gt=57', 'gt=58', 'gt=58&lte=59', 'gt=59', 'gt=60']);
  // An id that follows another one: the next one is requested alone.
  expect(reading(onePerPage).play([58], [59], [60])).toEqual(['gt=57', 'gt=58', 'gt=59&lte=60']);
});

test('rule 6: a list of changes ends with the last row alone', () => {
  const read = reading(startOf(changes), changes);
  expect(read.play([7, 8, 9], [7, 8], [9])).toEqual(['_page=1', 'lte=8', 'gt=8']);
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

test('rule 7: so many responses in a row that prove nothing are an error, and one that proves something begins the count again', () => {
  const read = reading(middle({ stalled: MAX_STALLED - 1 }));
  const [query = ''] = read.next();
  expect(thrown(() => read.respond(query, range(59, 87)))).toBeInstanceOf(FilterIgnoredError);

  const other = reading(middle({ stalled: MAX_STALLED - 2 }));
  other.play(range(59, 87));
  expect(other.state().stalled).toBe(0);
});

test('bounds ids up to the largest of the smallest type that holds all that were shown', () => {
  const read = reading(startOf(everything));
  read.play(range(100, 129));
  expect(read.state().idLimit).toBe(2_147_483_647n);
  read.play(range(100, 128), [129, 2_147_483_648]);
  expect(read.state().idLimit).toBe(BigInt(Number.MAX_SAFE_INTEGER));
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
    ...startOf(everything, { ...learned, ...changed }, { after }),
    pageSize: 30,
    isNearEnd: false,
  });
  expect(read.next()).toEqual([expected]);
});
