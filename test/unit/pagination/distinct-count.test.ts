import { expect, it } from 'vitest';
import { DistinctCount } from '../../../src/pagination/distinct-count.ts';

it.each([1, 10, 100, 300, 1_000, 10_000, 300_000])(
  'counts %d ids to a quarter, however often they come',
  (size) => {
    for (const first of [0, 10 ** 9]) {
      const count = new DistinctCount();
      for (let turn = 0; turn < 2; turn++) {
        for (let id = first; id < first + size; id++) count.add(String(id));
      }
      expect(count.estimate() / size).toBeGreaterThan(0.75);
      expect(count.estimate() / size).toBeLessThan(1.25);
    }
  },
);
