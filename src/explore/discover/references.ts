import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { idFormOf, recordOfIri } from '../ids.ts';
import { singular, wordsOf } from '../names.ts';
import type { Observation, Observations } from './observation.ts';

/** A field that holds ids of another collection, or is only named as if it did. */
export interface Reference {
  readonly collection: CollectionName;
  /** `iri` if the field holds paths such as `/api/public/v1/accounts/2`. */
  readonly form: 'id' | 'iri';
  /** Whether an id of the field belongs to a record that was read, or is an IRI. */
  readonly found: boolean;
}

/** The ids of each collection that were read. */
export type SeenIds = ReadonlyMap<CollectionName, ReadonlySet<string>>;

/** The references among the fields of a collection, by the path of the field. */
export function findReferences(fields: Observations, seen: SeenIds): Map<string, Reference> {
  const references = new Map<string, Reference>();
  for (const { path, field } of candidateFields(fields, '')) {
    const [iri] = field.someValues.flatMap((value) => recordOfIri(value) ?? []);
    const isFoundIn = (name: CollectionName) => field.someValues.some((id) => seen.get(name)?.has(id));
    const collection = iri?.collection ?? namesake(path) ?? ownerOf(field, isFoundIn);
    if (collection === undefined) continue;
    const found = iri !== undefined || isFoundIn(collection);
    references.set(path, { collection, form: iri === undefined ? 'id' : 'iri', found });
  }
  return references;
}

/** Fields with IRIs, and fields that are named like ids. */
function* candidateFields(
  fields: Observations,
  prefix: string,
): Generator<{ path: string; field: Observation }> {
  for (const [name, field] of fields.fields) {
    const path = `${prefix}${name}`;
    const isNamedLikeId = path !== 'id' && /^ids?$/.test(wordsOf(name).at(-1) ?? '');
    const hasIri = field.someValues.some((value) => recordOfIri(value) !== undefined);
    // A name that begins with @ belongs to JSON-LD: `@id` is the record's own IRI.
    const isCandidate = !name.startsWith('@') && (isNamedLikeId || hasIri);
    if (isCandidate && field.someValues.length > 0) yield { path, field };
    if (field.members !== undefined) yield* candidateFields(field.members, `${path}.`);
  }
}

/** The collection whose name is most like that of a field. */
function namesake(path: string): CollectionName | undefined {
  const words = wordsOf(path.split('.').at(-1) ?? '').slice(0, -1);
  const [best] = collectionNames
    .map((name) => ({ name, score: likeness(words, singular(name)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  return best?.name;
}

/** The collection that has the ids of a field, if ids are unique everywhere. */
function ownerOf(
  { someValues }: Observation,
  isFoundIn: (name: CollectionName) => boolean,
): CollectionName | undefined {
  const areUnique = ['uuid', 'ulid'].includes(idFormOf(someValues) ?? '');
  return areUnique ? collectionNames.find(isFoundIn) : undefined;
}

/** How alike two names are, if one is the end of the other: `relation` and `account contact relation`. */
function likeness(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  if (length === 0 || a.slice(-length).join() !== b.slice(-length).join()) return 0;
  return length * 10 + (a.length === b.length ? 1 : 0);
}
