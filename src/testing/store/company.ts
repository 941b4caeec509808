import { type CollectionName, collectionNames } from '../../collections/index.ts';
import type { SandboxClock } from '../clock.ts';
import { generateRecords, recordCounts } from '../data/generate.ts';
import { hashText, mix } from '../data/seeded-random.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { Collection } from './collection.ts';
import { idSequence } from './ids.ts';

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
  const counts = recordCounts(company === 'main' ? options.records : options.otherRecords);
  const offset = company === 'main' ? 0 : ID_DISTANCE;
  const seedOf = (name: CollectionName) => mix(options.seed, hashText(`${company}/${name}`));
  const idsOf = (name: CollectionName) => idSequence(options.ids, { seed: seedOf(name), offset });
  const collections = collectionNames.map((name) => {
    const generated = generateRecords(name, { seed: seedOf(name), counts, idsOf });
    return [name, new Collection(name, { ids: idsOf(name), generated, clock, options })] as const;
  });
  return Object.fromEntries(collections) as Company;
}
