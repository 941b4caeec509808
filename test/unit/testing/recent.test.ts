import { expect, test } from 'vitest';
import { Recent } from '../../../src/testing/recent.ts';

test('a log keeps its last entries, and counts all of them', () => {
  const recent = new Recent<number>(3);
  for (const [entry, kept] of [
    [],
    [1],
    [1, 2],
    [1, 2, 3],
    [2, 3, 4],
    [3, 4, 5],
    [4, 5, 6],
    [5, 6, 7],
  ].entries()) {
    if (entry > 0) recent.add(entry);
    expect([recent.list(), recent.total]).toEqual([kept, entry]);
  }
  recent.clear();
  expect([recent.list(), recent.total]).toEqual([[], 0]);
});
