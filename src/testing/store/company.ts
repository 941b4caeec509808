import type { CollectionName } from '../../collections/index.ts';
import type { SandboxClock } from '../clock.ts';
import { byCollection, generateRecords, recordCounts } from '../data/generate.ts';
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
  const seeds = byCollection((name) => mix(options.seed, hashText(`${company}/${name}`)));
  const ids = byCollection((name) => idSequence(options.ids, { seed: seeds[name], offset }));
  return byCollection((name) => {
    const generated = generateRecords(name, { seed: seeds[name], counts, ids });
    return new Collection(name, { ids: ids[name], generated, clock, options });
  });
}
