import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { checkCollections } from '../checks.ts';
import type { RecordCounts } from '../options.ts';
import type { GeneratedRecord } from '../store/collection.ts';
import type { IdSequence } from '../store/ids.ts';
import type { Times } from '../store/row.ts';
import { generatorOf } from './records.ts';
import { mix, SeededRandom } from './seeded-random.ts';

/** How many records each collection has. */
type Counts = Readonly<Record<CollectionName, number>>;

/** The counts that an option stands for. A number is spread over all collections by their shares. */
export function recordCounts(records: RecordCounts): Counts {
  if (typeof records === 'number') return spread(records);
  checkCollections('records', Object.keys(records));
  return byCollection((name) => records[name] ?? 0);
}

function spread(total: number): Counts {
  const allShares = collectionNames.reduce((sum, name) => sum + generatorOf(name).share, 0);
  let shares = 0;
  let assigned = 0;
  return byCollection((name) => {
    // Rounding the running total keeps the sum exact.
    shares += generatorOf(name).share;
    const count = Math.round((total * shares) / allShares) - assigned;
    assigned += count;
    return count;
  });
}

/** A value for each collection. */
export function byCollection<T>(compute: (name: CollectionName) => T): Readonly<Record<CollectionName, T>> {
  return Object.fromEntries(collectionNames.map((name) => [name, compute(name)])) as Record<
    CollectionName,
    T
  >;
}

/** Generated records were created and changed between these two timestamps, whatever the clock says. */
const FROM_MS = Date.UTC(2022, 0, 1);
const UNTIL_MS = Date.UTC(2025, 0, 1);

/** The share of records that were changed after they were created. */
const CHANGED = 0.45;

/** What the generated records of a company have in common. */
interface Generation {
  readonly seed: number;
  readonly counts: Counts;
  readonly ids: Readonly<Record<CollectionName, IdSequence>>;
}

/** The generated records of a collection. Each depends on its seed and its index alone. */
export function* generateRecords(
  collection: CollectionName,
  { seed, counts, ids }: Generation,
): Iterable<GeneratedRecord> {
  const generator = generatorOf(collection);
  const count = counts[collection];
  for (let index = 0; index < count; index += 1) {
    const random = new SeededRandom(mix(seed, index));
    const parentIndex = (parent: CollectionName) => Math.floor((index * counts[parent]) / count);
    const fields = generator.fields(random, {
      index,
      parentIndex,
      parent: (parent) => (counts[parent] === 0 ? null : ids[parent].at(parentIndex(parent))),
      any: (other) => (counts[other] === 0 ? null : ids[other].at(random.between(0, counts[other] - 1))),
    });
    yield { fields, times: timesOf(index, count, seed) };
  }
}

function timesOf(index: number, count: number, seed: number): Times {
  // Older records have smaller ids, as in any table that has grown.
  const createdAt = FROM_MS + Math.floor(((UNTIL_MS - FROM_MS) * index) / count);
  const chance = mix(seed + 1, index) / 2 ** 32;
  const later = chance > CHANGED ? 0 : Math.floor((UNTIL_MS - createdAt) * (chance / CHANGED));
  return { createdAt, modifiedAt: createdAt + later };
}
