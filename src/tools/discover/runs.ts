import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { mergeRuns, type SchemaChange } from './changes.ts';
import type { Remembered } from './memory.ts';
import type { Observations } from './observation.ts';
import type { Reference } from './references.ts';
import type { PrintedCollection } from './source.ts';

/** What one run saw of a collection. */
export interface Observed {
  readonly collection: CollectionName;
  /** `readable`, or the code of an error. */
  readonly access: string;
  readonly observations: Observations;
  readonly references: Map<string, Reference>;
}

/** This run and the earlier ones together: what is printed, and what is new in it. */
export function combine(
  observed: readonly Observed[],
  before: ReadonlyMap<string, Remembered>,
  strict: boolean,
): { readonly printed: readonly PrintedCollection[]; readonly changes: readonly SchemaChange[] } {
  const changes: SchemaChange[] = [];
  const printed = collectionNames.flatMap((collection): PrintedCollection[] => {
    const now = observed.find((one) => one.collection === collection);
    const old = before.get(collection);
    if (now === undefined) return old === undefined ? [] : [kept(collection, old)];

    const records = now.observations.records;
    const shapes = now.observations.shapes();
    // The identifier is printed by itself, and is never anything but a text.
    delete shapes.id;
    const own = { collection, seen: now.observations, references: now.references, absence: absenceOf(now) };
    if (old === undefined) {
      if (before.size > 0)
        changes.push({ collection, field: undefined, change: 'added', from: undefined, to: undefined });
      return [{ ...own, shapes, records }];
    }
    const merged = mergeRuns(old, { records, fields: shapes }, { collection, strict });
    changes.push(...merged.changes);
    return [{ ...own, shapes: merged.fields, records: Math.max(records, old.records) }];
  });
  return { printed, changes };
}

/** A collection that this run was not asked to look at. */
function kept(collection: CollectionName, { records, fields }: Remembered): PrintedCollection {
  return {
    collection,
    shapes: fields,
    records,
    seen: undefined,
    references: new Map(),
    absence: 'as an earlier run saw them',
  };
}

function absenceOf({ access, observations }: Observed): string | undefined {
  if (access !== 'readable') return `not readable with the key of the last run (${access})`;
  return observations.records === 0 ? 'there was no record to look at' : undefined;
}
