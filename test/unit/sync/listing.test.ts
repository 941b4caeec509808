import { expect, test } from 'vitest';
import { Semaphore } from '../../../src/internal/semaphore.ts';
import { Listing } from '../../../src/sync/listing.ts';

test.each([0, 1, 9_999, 10_000, 10_001, 20_000])(
  'of a copy that gives 10,000 ids at a time, %i records that were not listed are candidates',
  async (count) => {
    const ids = Array.from({ length: count }, (_, at) => String(at).padStart(5, '0'));
    const marks = {
      count: async () => ({ records: count, marked: 0 }),
      async *unmarked(_collection: string, _read: number, after = '') {
        yield* ids.filter((id) => id > after).slice(0, 10_000);
      },
    };
    const context = {
      copy: {},
      collection: 'accounts',
      options: { mode: 'full' },
      consumer: new Semaphore(1),
      signal: undefined,
    } as const;
    const listing = new Listing(context, marks, { read: 1, local: count });
    expect((await listing.count()).candidates).toBe(count);
  },
);
