import { expect, it } from 'vitest';
import { IntervalPlanner } from '../../../src/pagination/interval-planner.ts';

const keys = (...values: number[]) => values.map(BigInt);
const view = (values: readonly bigint[], displaced = 0) => ({ rows: values.length, keys: values, displaced });

const ten = keys(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
const whole = { after: 0n, through: undefined };
const open = { open: true, splits: 0 };
const planned = { open: false, splits: 0 };
const completed = { first: false, longest: 10, sizeUnknown: false };

it('begins with the width that it is given, as a walk that goes on has one', () => {
  expect(new IntervalPlanner(120n).width).toBe(120n);
});

it('cuts a scattered answer higher where its interval was planned to fit', () => {
  expect(new IntervalPlanner(undefined).narrowed(whole, view(ten, 9), open)).toBe(5n);
  expect(new IntervalPlanner(undefined).narrowed(whole, view(ten, 9), planned)).toBe(7n);
});

it('remembers that rows are scattered, also where an answer happens to be in order', () => {
  const cut = new IntervalPlanner(undefined);
  cut.narrowed(whole, view(ten, 9), open);
  expect(cut.narrowed(whole, view(ten), open)).toBe(5n);

  const read = new IntervalPlanner(undefined);
  read.afterCompleted(0n, 10n, view(ten, 9), completed);
  read.afterCompleted(10n, 20n, view([]), completed);
  expect(read.narrowed(whole, view(ten), open)).toBe(5n);
});

it('doubles its steps from where the splits began, where there is no lower end', () => {
  const planner = new IntervalPlanner(undefined);
  const endless = { after: undefined, through: undefined };
  planner.narrowed(endless, view(keys(-104, -103, -102, -101, -100), 4), open);
  const late = { open: false, splits: 12 };
  const low = view(keys(-204, -203, -202, -201, -200), 4);
  expect(planner.narrowed({ ...endless, through: -200n }, low, late)).toBe(-301n);
  // Other splits begin elsewhere.
  planner.narrowed(endless, view(keys(-154, -153, -152, -151, -150), 4), open);
  expect(planner.narrowed({ ...endless, through: -200n }, low, late)).toBe(-251n);
});

it('reads a single row by itself, and asks openly for more of its kind', () => {
  const planner = new IntervalPlanner(undefined);
  expect(planner.narrowed(whole, view(keys(500)), open)).toBe(499n);
  expect(planner.afterCompleted(0n, 499n, view([]), completed)).toBe(500n);
  expect(planner.afterCompleted(499n, 500n, view(keys(500)), { ...completed, longest: 1 })).toBeUndefined();
  // It is read: the interval after the next one is planned as any other.
  expect(planner.afterCompleted(500n, 510n, view(ten), completed)).toBeGreaterThan(510n);
});

it('goes on to a single row in as many steps as it takes', () => {
  const planner = new IntervalPlanner(undefined);
  planner.narrowed(whole, view(keys(500)), open);
  expect(planner.afterCompleted(0n, 200n, view([]), completed)).toBe(500n);
  expect(planner.afterCompleted(200n, 499n, view([]), completed)).toBe(500n);
});

it('plans on behind a row that nothing fits before', () => {
  const planner = new IntervalPlanner(undefined);
  expect(planner.narrowed({ after: 6n, through: undefined }, view(keys(7)), open)).toBe(7n);
  const next = planner.afterCompleted(6n, 7n, view(keys(7)), { ...completed, longest: 1 });
  expect(next).toBe(8n);
});

it('plans the next interval as wide as fills four fifths of a page', () => {
  const planner = new IntervalPlanner(undefined);
  expect(planner.afterCompleted(0n, 100n, view(ten), completed)).toBe(180n);
  expect(planner.width).toBe(80n);
});

it('takes what lies before the first row of all for no sign of how dense the rows are', () => {
  const planner = new IntervalPlanner(undefined);
  const far = ten.map((key) => key + 1_000n);
  expect(planner.afterCompleted(0n, 1_010n, view(far), { ...completed, first: true })).toBe(1_018n);
  expect(planner.width).toBe(8n);
});

it('widens fourfold behind an empty interval, and knows no width of one without a lower end', () => {
  const planner = new IntervalPlanner(undefined);
  expect(planner.afterCompleted(100n, 110n, view([]), completed)).toBeUndefined();
  expect(planner.width).toBe(40n);
  planner.afterCompleted(undefined, 110n, view([]), { ...completed, first: true });
  expect(planner.width).toBe(4n);

  planner.afterCompleted(110n, 210n, view(ten), completed);
  planner.afterCompleted(210n, 310n, view([]), completed);
  expect(planner.width).toBe(400n);
});

it('asks openly while the page size is only remembered', () => {
  const planner = new IntervalPlanner(undefined);
  expect(planner.afterCompleted(0n, 100n, view(ten), { ...completed, sizeUnknown: true })).toBeUndefined();
});

it('goes on to the next row that a scattered answer has shown', () => {
  const planner = new IntervalPlanner(undefined);
  planner.narrowed(whole, view([...keys(1, 2, 3), ...keys(700, 800)], 5), open);
  expect(planner.afterCompleted(0n, 3n, view(keys(1, 2, 3)), completed)).toBe(700n);
  expect(
    new IntervalPlanner(undefined).afterCompleted(0n, 3n, view(keys(1, 2), 5), completed),
  ).toBeUndefined();
});
