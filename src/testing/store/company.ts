import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { countsOf } from '../data/counts.ts';
import { hashText, mix } from '../data/dice.ts';
import { generatedSource } from '../data/generated-source.ts';
import type { RecordCounts } from '../options.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import { Collection } from './collection.ts';
import { idSequence } from './ids.ts';
import { shapeOf } from './shape.ts';

/** The two companies of a sandbox. Neither sees a record of the other. */
export type CompanyName = 'main' | 'other';

/** The books of one company. */
export interface Company {
  readonly name: CompanyName;
  readonly collections: Readonly<Record<CollectionName, Collection>>;
}

/** Far enough apart that an id of one company is never one of the other. */
const ID_DISTANCE = 1_000_000_000;

/** An object with a value for each collection. */
function forEach<T>(make: (name: CollectionName) => T): Readonly<Record<CollectionName, T>> {
  return Object.fromEntries(collectionNames.map((name) => [name, make(name)])) as Record<CollectionName, T>;
}

/** A company with its generated records. */
export function createCompany(
  name: CompanyName,
  records: RecordCounts,
  options: ResolvedSandboxOptions,
): Company {
  const counts = countsOf(records);
  const offset = name === 'main' ? 0 : ID_DISTANCE;
  const seedOf = (collection: CollectionName) => mix(options.seed, hashText(`${name}/${collection}`));
  const ids = forEach((collection) => idSequence(options.ids, { seed: seedOf(collection), offset }));

  return {
    name,
    collections: forEach((collection) => {
      const generation = { seed: seedOf(collection), counts, ids, shape: shapeOf(collection, options) };
      return new Collection(collection, generatedSource(generation, collection), options);
    }),
  };
}
