import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { isApiError } from '../../errors/guards.ts';
import type { ExploreClient } from '../explore-client.ts';
import { idFormOf, recordOfIri } from '../ids.ts';
import { singular, wordsOf } from '../names.ts';
import { isRow } from '../rows.ts';
import type { Observation, Observations } from './observation.ts';

/** A field that holds ids of another collection, or is only named as if it did. */
export interface Reference {
  readonly collection: CollectionName;
  /** Ids of the field that were looked up. */
  readonly checked: number;
  /** How many of them exist. */
  readonly found: number;
  /** `iri` if the field holds paths such as `/api/public/v1/accounts/2`. */
  readonly form: 'id' | 'iri';
}

/** What a search for references needs. */
interface ReferenceSearch {
  readonly client: ExploreClient;
  /** Ids of each collection that was sampled. */
  readonly ids: ReadonlyMap<CollectionName, ReadonlySet<string>>;
  readonly signal: AbortSignal | undefined;
  /** Called before each request. */
  readonly onRequest: () => void;
}

/**
 * The references among the fields of a collection, by the path of the field. A name proves nothing, so some ids of the
 * field are looked up: among the sampled ids, or by a request for the record.
 */
export async function findReferences(
  fields: Observations,
  search: ReferenceSearch,
): Promise<Map<string, Reference>> {
  const found = new Map<string, Reference>();
  for (const { path, field } of candidateFields(fields, '')) {
    const iris = field.someValues.flatMap((value) => recordOfIri(value) ?? []);
    const form = iris.length > 0 ? 'iri' : 'id';
    const targets =
      form === 'iri' ? new Set(iris.map(({ collection }) => collection)) : targetsOf(path, field, search.ids);
    for (const collection of targets) {
      const ofTarget = iris.filter((iri) => iri.collection === collection).map(({ id }) => id);
      const ids = form === 'iri' ? ofTarget : field.someValues;
      const reference: Reference = { collection, form, ...(await lookUpSome(collection, ids, search)) };
      const areAllFound = reference.found === reference.checked;
      if (!found.has(path) || areAllFound) found.set(path, reference);
      if (areAllFound) break;
    }
  }
  return found;
}

/** Whether every id that was looked up exists. */
export function isSure({ checked, found }: Reference): boolean {
  return checked > 0 && found === checked;
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

/** The collections that a field may refer to: by its name; if its ids are unique everywhere, also by the ids. */
function targetsOf(path: string, field: Observation, ids: ReferenceSearch['ids']): CollectionName[] {
  const words = wordsOf(path.split('.').at(-1) ?? '').slice(0, -1);
  const named = collectionNames
    .map((name) => ({ name, score: likeness(words, singular(name)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ name }) => name);
  const areUnique = ['uuid', 'ulid'].includes(idFormOf(field.someValues) ?? '');
  if (named.length > 0 || !areUnique) return named;
  return collectionNames.filter((name) => field.someValues.some((id) => ids.get(name)?.has(id)));
}

/** How alike two names are, if one is the end of the other: `relation` and `account contact relation`. */
function likeness(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  if (length === 0 || a.slice(-length).join() !== b.slice(-length).join()) return 0;
  return length * 10 + (a.length === b.length ? 1 : 0);
}

async function lookUpSome(
  collection: CollectionName,
  ids: readonly string[],
  search: ReferenceSearch,
): Promise<Pick<Reference, 'checked' | 'found'>> {
  // The first, the middle and the last: neighbours would prove the same.
  const some = new Set([ids[0], ids[Math.floor(ids.length / 2)], ids.at(-1)]);
  let checked = 0;
  let found = 0;
  for (const id of some) {
    if (id === undefined) continue;
    const exists = search.ids.get(collection)?.has(id) === true || (await lookUp(collection, id, search));
    if (exists !== undefined) checked += 1;
    if (exists) found += 1;
  }
  return { checked, found };
}

/** Whether a record exists; undefined if that is unknown. */
async function lookUp(
  collection: CollectionName,
  id: string,
  { client, ids, signal, onRequest }: ReferenceSearch,
): Promise<boolean | undefined> {
  if (!ids.has(collection)) return undefined;
  onRequest();
  try {
    const path = [client[collection].segment, id];
    const record = await client.request({ path, redactKey: true }, { signal });
    return isRow(record) ? String(record.id) === id : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    return isApiError(error, 'not_found') ? false : undefined;
  }
}
