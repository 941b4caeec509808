import { expect, test } from 'vitest';
import { ClipBudget, MOST_BYTES } from '../../../src/testing/control/clip.ts';

const digits = (length: number) => new TextEncoder().encode('1'.repeat(length));

test('shows a body as JSON only if it is whole', () => {
  const budget = new ClipBudget();
  expect(budget.clip(digits(MOST_BYTES)).json()).toBe('1'.repeat(MOST_BYTES));
  // The beginning of a longer number would be another number.
  const cut = budget.clip(digits(MOST_BYTES + 1));
  expect([cut.bytes, cut.json()]).toEqual([MOST_BYTES + 1, JSON.stringify('1'.repeat(MOST_BYTES))]);
  expect(budget.clip(undefined).json()).toBe('null');
});

test('keeps a copy of a body, and drops the oldest over 32 MB in all', () => {
  const budget = new ClipBudget();
  const body = digits(MOST_BYTES);
  const clips = Array.from({ length: 513 }, () => budget.clip(body));
  body.fill(0);
  const kept = () => clips.map((clip) => clip.json() === '1'.repeat(MOST_BYTES));
  expect(kept().indexOf(true)).toBe(1);
  expect(kept().lastIndexOf(false)).toBe(0);
  // What is no longer in the log takes nothing from what follows.
  budget.clear();
  clips.splice(0, Infinity, ...Array.from({ length: 512 }, () => budget.clip(digits(MOST_BYTES))));
  expect(kept()).not.toContain(false);
  clips.splice(0, Infinity, ...Array.from({ length: 1_100 }, () => budget.clip(digits(MOST_BYTES))));
  expect([kept().indexOf(true), kept().lastIndexOf(false)]).toEqual([588, 587]);
});
