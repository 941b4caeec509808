import type { CollectionName } from '../../collections/index.ts';
import { collectionOfIri, idFormOf } from '../ids.ts';
import type { Observations } from './observation.ts';

/** A field that holds ids of another collection. */
export interface Reference {
  readonly collection: CollectionName;
  /** `iri` if the field holds paths such as `/api/public/v1/accounts/2`. */
  readonly form: 'id' | 'iri';
}

/** The ids of each collection that were read. */
type SeenIds = ReadonlyMap<CollectionName, ReadonlySet<string>>;

/** The fields of a collection that certainly hold ids, by their paths: IRIs, or ids that are unique everywhere. */
export function findReferences(fields: Observations, seen: SeenIds): Map<string, Reference> {
  return new Map(referencesIn(fields, seen, ''));
}

function* referencesIn(
  fields: Observations,
  seen: SeenIds,
  prefix: string,
): Generator<[path: string, reference: Reference]> {
  for (const [name, field] of fields.fields) {
    const path = `${prefix}${name}`;
    // A name that begins with @ belongs to JSON-LD: `@id` is the record's own IRI.
    const isOwn = path === 'id' || name.startsWith('@');
    const reference = isOwn ? undefined : referenceOf(field.someValues, seen);
    if (reference !== undefined) yield [path, reference];
    if (field.members !== undefined) yield* referencesIn(field.members, seen, `${path}.`);
  }
}

function referenceOf(values: readonly string[], seen: SeenIds): Reference | undefined {
  const [collection, ...others] = new Set(values.map(collectionOfIri));
  if (collection !== undefined && others.length === 0) return { collection, form: 'iri' };
  if (!['uuid', 'ulid'].includes(idFormOf(values) ?? '')) return undefined;

  const [owner] = [...seen].find(([, ids]) => values.some((id) => ids.has(id))) ?? [];
  return owner && { collection: owner, form: 'id' };
}
