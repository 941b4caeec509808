import { expect, it } from 'vitest';
import {
  type Cut,
  densityWith,
  knownWith,
  narrowedEnd,
  nextEnd,
  nextWidth,
} from '../../../src/pagination/interval-plan.ts';
import { Random } from '../../simulation/random.ts';

const keys = (...values: number[]) => values.map(BigInt);

const cut: Cut = {
  interval: { after: 0n, through: undefined },
  keys: keys(10, 20, 30, 40, 50),
  displaced: 0,
  planned: false,
  splits: 0,
  origin: 50n,
};

it('cuts an answer in order before its last row', () => {
  expect(narrowedEnd(cut)).toBe(40n);
});

it('cuts a scattered answer at its median, and one that nearly fitted higher', () => {
  expect(narrowedEnd({ ...cut, displaced: 4 })).toBe(30n);
  const ten = keys(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  expect(narrowedEnd({ ...cut, keys: ten, displaced: 9, planned: true })).toBe(7n);
});

it('cuts a scattered answer higher only where its interval was planned to fit, and the first time', () => {
  const ten = { ...cut, keys: keys(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), displaced: 9 };
  expect(narrowedEnd({ ...ten, planned: false, splits: 0 })).toBe(5n);
  expect(narrowedEnd({ ...ten, planned: true, splits: 1 })).toBe(5n);
});

it('takes no half that is farther than the rows seen say', () => {
  const narrow = { ...cut, interval: { after: 0n, through: 60n }, displaced: 4 };
  expect(narrowedEnd({ ...narrow, keys: keys(1, 2, 3, 4, 5), splits: 3 })).toBe(3n);
  expect(narrowedEnd({ ...narrow, keys: keys(1, 2, 3, 4, 5), splits: 12 })).toBe(3n);
});

it('cuts an answer that is nearly in order below the rows that may be missing', () => {
  const ten = keys(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  expect(narrowedEnd({ ...cut, keys: ten, displaced: 2 })).toBe(7n);
});

it('asks for all before a single row, and for the row alone where nothing fits before it', () => {
  expect(narrowedEnd({ ...cut, keys: keys(7) })).toBe(6n);
  expect(narrowedEnd({ ...cut, interval: { after: 6n, through: undefined }, keys: keys(7) })).toBe(7n);
  expect(narrowedEnd({ ...cut, interval: { after: undefined, through: undefined }, keys: keys(-7) })).toBe(
    -8n,
  );
});

it('takes halves after some splits in a row', () => {
  const narrow = { ...cut, interval: { after: 0n, through: 60n }, displaced: 4 };
  expect(narrowedEnd({ ...narrow, keys: keys(10, 20, 50, 55, 60), splits: 3 })).toBe(30n);
  expect(narrowedEnd({ ...narrow, keys: keys(51, 52, 53, 54, 60), splits: 3 })).toBe(51n);
  expect(narrowedEnd({ ...narrow, keys: keys(51, 52, 53, 54, 60), splits: 12 })).toBe(30n);
});

it('doubles its steps where there is no lower end', () => {
  const interval = { after: undefined, through: -200n };
  const answer = { ...cut, interval, keys: keys(-204, -203, -202, -201, -200), origin: -100n };
  expect(narrowedEnd({ ...answer, splits: 12 })).toBe(-301n);
});

it('narrows to a smaller interval that is not empty, whatever the answer', () => {
  const random = new Random(7);
  for (let turn = 0; turn < 5_000; turn++) {
    const after = random.chance(0.2) ? undefined : BigInt(random.int(-50, 50));
    const lowest = after ?? BigInt(random.int(-50, 50));
    const through = lowest + BigInt(random.int(2, 80));
    const seen = new Set<bigint>();
    for (let count = random.int(1, 10); count > 0; count--) {
      seen.add(lowest + BigInt(random.int(1, Number(through - lowest))));
    }
    const ascending = [...seen].sort((a, b) => (a < b ? -1 : 1));
    const end = narrowedEnd({
      interval: { after, through },
      keys: ascending,
      displaced: random.int(0, ascending.length - 1),
      planned: random.chance(0.5),
      splits: random.int(0, 20),
      origin: through + BigInt(random.int(0, 20)),
    });
    expect(end < through && (after === undefined || end > after)).toBe(true);
  }
});

it('plans the next interval for four fifths of a page', () => {
  const density = densityWith({ span: 0n, rows: 0 }, 290n, 29);
  expect(nextWidth(290n, density, 30)).toBe(240n);
});

it('grows the width fourfold at most, and to that where an interval was empty', () => {
  expect(nextWidth(100n, densityWith({ span: 0n, rows: 0 }, 100n, 1), 30)).toBe(400n);
  expect(nextWidth(100n, { span: 100n, rows: 0 }, 30)).toBe(400n);
});

it('remembers the density of the intervals before, later ones counting more', () => {
  const before = densityWith({ span: 0n, rows: 0 }, 1000n, 20);
  expect(densityWith(before, 1000n, 30)).toEqual({ span: 1750n, rows: 45 });
});

it('remembers the nearest rows to come, of all answers that were cut', () => {
  expect(knownWith(keys(100, 200, 500, 700), keys(600, 300, 500), 200n)).toEqual(keys(300, 500, 600, 700));
  expect(knownWith(keys(5), keys(-3), undefined)).toEqual(keys(-3, 5));
  const many = keys(...Array.from({ length: 1_500 }, (_, index) => 2 * index));
  expect(knownWith(many, keys(1, 2_999), undefined)).toEqual(
    keys(0, 1, ...Array.from({ length: 998 }, (_, index) => 2 * index + 2)),
  );
});

const learnt = { longest: 30, width: 100n, displaced: 0, known: keys(500, 700), sizeUnknown: false };

it('goes on in intervals where the last one was at least half full, else openly', () => {
  expect(nextEnd(1000n, 15, learnt)).toBe(1100n);
  expect(nextEnd(1000n, 14, learnt)).toBeUndefined();
});

it('goes on openly while the page size is only remembered', () => {
  expect(nextEnd(1000n, 30, { ...learnt, sizeUnknown: true })).toBeUndefined();
});

it('goes on to the next row it knows of among scattered ones, and openly behind the last', () => {
  const scattered = { ...learnt, displaced: 20 };
  expect(nextEnd(550n, 3, scattered)).toBe(700n);
  expect(nextEnd(450n, 3, scattered)).toBe(550n);
  expect(nextEnd(700n, 3, scattered)).toBeUndefined();
  expect(nextEnd(550n, 3, { ...learnt, displaced: 15 })).toBe(700n);
  expect(nextEnd(550n, 3, { ...learnt, displaced: 14 })).toBeUndefined();
});
