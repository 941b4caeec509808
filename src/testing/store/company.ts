import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { checkCollections } from '../checks.ts';
import type { SandboxClock } from '../clock.ts';
import { generatorOf } from '../data/records.ts';
import { hashText, mix, SeededRandom } from '../data/seeded-random.ts';
import { optionsOf, type RecordCounts, type ResolvedSandboxOptions } from '../options.ts';
import { Collection, type GeneratedRecord } from './collection.ts';
import { type IdSequence, idSequence } from './ids.ts';
import type { Times } from './row.ts';

/** The two companies of a sandbox. Neither sees a record of the other. */
export type CompanyName = 'main' | 'other';

/** The collections of one company. */
export type Company = Readonly<Record<CollectionName, Collection>>;

/** Far enough apart that no record of one company has the id of a record of the other. */
const ID_DISTANCE = 1_000_000_000;

/** A company with its generated records. */
export function createCompany(
  company: CompanyName,
  { clock, options }: { clock: SandboxClock; options: ResolvedSandboxOptions },
): Company {
  const counts = countsOf(company === 'main' ? options.records : options.otherRecords);
  const offset = company === 'main' ? 0 : ID_DISTANCE;
  const seeds = byCollection((name) => mix(options.seed, hashText(`${company}/${name}`)));
  const own = byCollection((name) => optionsOf(options, name));
  const ids = byCollection((name) => idSequence(own[name].ids, { seed: seeds[name], offset }));
  return byCollection((name) => {
    const generated = generateRecords(name, { seed: seeds[name], counts, ids });
    return new Collection(name, { ids: ids[name], generated, clock, options: own[name] });
  });
}

function byCollection<T>(compute: (name: CollectionName) => T): Readonly<Record<CollectionName, T>> {
  const values = collectionNames.map((name) => [name, compute(name)]);
  return Object.fromEntries(values) as Record<CollectionName, T>;
}

/** How many records each collection has. */
type Counts = Readonly<Record<CollectionName, number>>;

/** The counts that an option stands for. A number is spread over all collections by their shares. */
function countsOf(records: RecordCounts): Counts {
  if (typeof records !== 'number') {
    checkCollections('records', Object.keys(records));
    return byCollection((name) => records[name] ?? 0);
  }
  const allShares = collectionNames.reduce((sum, name) => sum + generatorOf(name).share, 0);
  let shares = 0;
  let assigned = 0;
  return byCollection((name) => {
    // Rounding the running total keeps the sum exact.
    shares += generatorOf(name).share;
    const count = Math.round((records * shares) / allShares) - assigned;
    assigned += count;
    return count;
  });
}

/** The generated records of a collection. Each depends on its seed and its index alone. */
function* generateRecords(
  collection: CollectionName,
  { seed, counts, ids }: { seed: number; counts: Counts; ids: Readonly<Record<CollectionName, IdSequence>> },
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

/** Generated records were created and changed between these two timestamps, whatever the clock says. */
const FROM_MS = Date.UTC(2022, 0, 1);
const UNTIL_MS = Date.UTC(2025, 0, 1);

/** The share of records that were changed after they were created. */
const CHANGED = 0.45;

function timesOf(index: number, count: number, seed: number): Times {
  // Older records have smaller ids, as in any table that has grown.
  const createdAt = FROM_MS + Math.floor(((UNTIL_MS - FROM_MS) * index) / count);
  const chance = mix(seed + 1, index) / 2 ** 32;
  const later = chance > CHANGED ? 0 : Math.floor((UNTIL_MS - createdAt) * (chance / CHANGED));
  return { createdAt, modifiedAt: createdAt + later };
}
