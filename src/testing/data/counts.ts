import { type CollectionName, collectionNames as names } from '../../collections/index.ts';
import { checkCollections } from '../check-options.ts';
import type { RecordCounts } from '../options.ts';
import { fillingOf } from './generators.ts';

/** How many records each collection has. */
export type Counts = Readonly<Record<CollectionName, number>>;

function checked(count: number): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new RangeError(`records must be whole numbers of at least 0, not ${count}.`);
}

/** Spreads a number of records over all collections by their shares, so that the sum is exact. */
function spread(total: number): Counts {
  const shares = names.reduce((sum, name) => sum + fillingOf(name).share, 0);
  let shared = 0;
  let given = 0;
  const entries = names.map((name) => {
    // Each collection gets what the running total has grown by: rounding never adds up.
    shared += fillingOf(name).share;
    const count = Math.round((total * shared) / shares) - given;
    given += count;
    return [name, count] as const;
  });
  return Object.fromEntries(entries) as Counts;
}

/** The counts that an option stands for. */
export function countsOf(records: RecordCounts): Counts {
  if (typeof records !== 'object') return spread(checked(records));
  checkCollections('records', Object.keys(records) as CollectionName[]);
  return Object.fromEntries(names.map((name) => [name, checked(records[name] ?? 0)])) as Counts;
}
