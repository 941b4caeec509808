import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { isApiError } from '../../errors/guards.ts';
import { CLEARED } from '../../internal/cleared.ts';
import { idFormOf } from '../id-form.ts';
import { isRow } from '../list-body.ts';
import { idFromReference } from '../reference.ts';
import type { ToolsClient } from '../tools-client.ts';
import { wordsOf } from '../words.ts';
import type { Observation, Observations } from './observation.ts';

/** A field that holds ids of another collection, or is only named as if it did. */
export interface Reference {
  readonly collection: CollectionName;
  /** Ids that were held against those of the collection. */
  readonly checked: number;
  /** How many of them exist there. */
  readonly found: number;
  /** `iri` if the field holds paths such as `/api/public/v1/accounts/2`. */
  readonly form: 'id' | 'iri';
}

/** Ids of each collection that was sampled. */
export type KnownIds = ReadonlyMap<CollectionName, ReadonlySet<string>>;

/** So many ids of a field are looked up. */
const LOOKED_UP = 3;

/** What finding references needs to know. */
export interface Search {
  readonly client: ToolsClient;
  readonly known: KnownIds;
  readonly signal: AbortSignal | undefined;
  /** Told of each id that had to be looked up. */
  readonly onRequest: () => void;
}

/**
 * The references among the fields of a collection, by the path of the field. A name is no proof: ids of the field are
 * held against those of the collection, the sampled ones first, others by asking for the record.
 */
export async function findReferences(fields: Observations, search: Search): Promise<Map<string, Reference>> {
  const found = new Map<string, Reference>();
  for (const { path, field } of idFields(fields, '')) {
    const iris = field.someValues.flatMap((value) => idFromReference(value) ?? []);
    const candidates =
      iris.length > 0
        ? new Set(iris.map(({ collection }) => collection))
        : candidatesFor(path, field, search.known);
    for (const collection of candidates) {
      const form = iris.length > 0 ? 'iri' : 'id';
      const values = iris.filter((iri) => iri.collection === collection).map(({ id }) => id);
      const checked = await check(collection, form === 'iri' ? values : field.someValues, search);
      const reference: Reference = { collection, form, ...checked };
      if (!found.has(path) || reference.found === reference.checked) found.set(path, reference);
      if (reference.found === reference.checked) break;
    }
  }
  return found;
}

/** Whether every id that was looked at exists where it should. */
export function isSure({ checked, found }: Reference): boolean {
  return checked > 0 && found === checked;
}

function* idFields(fields: Observations, prefix: string): Generator<{ path: string; field: Observation }> {
  for (const [name, field] of fields.fields) {
    const path = `${prefix}${name}`;
    const last = wordsOf(name).at(-1);
    const isNamedSo = path !== 'id' && (last === 'id' || last === 'ids');
    const isIri = field.someValues.some((value) => idFromReference(value) !== undefined);
    // A name that begins with @ belongs to JSON-LD: `@id` is the record's own IRI.
    if (!name.startsWith('@') && (isNamedSo || isIri) && field.someValues.length > 0) yield { path, field };
    if (field.members !== undefined) yield* idFields(field.members, `${path}.`);
  }
}

/** Collections that a field may point to: by its name, or, for ids that exist once in the world, by where they are. */
function candidatesFor(path: string, field: Observation, known: KnownIds): CollectionName[] {
  const words = wordsOf(path.split('.').at(-1) ?? '').slice(0, -1);
  const named = collectionNames
    .map((name) => ({ name, score: likeness(words, singular(name)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ name }) => name);
  if (named.length > 0 || !['uuid', 'ulid'].includes(idFormOf(field.someValues) ?? '')) return named;
  return collectionNames.filter((name) => field.someValues.some((id) => known.get(name)?.has(id)));
}

/** How many words two names share at their end, where one of them is whole: `relation` is like `account contact relation`. */
function likeness(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  if (length === 0 || a.slice(-length).join() !== b.slice(-length).join()) return 0;
  // The whole name before a part of it.
  return length * 10 + (a.length === b.length ? 1 : 0);
}

/** The words of a collection's name, the last one in the singular. */
export function singular(collection: CollectionName): string[] {
  const words = wordsOf(collection);
  const last = words.at(-1) ?? '';
  const one = last.endsWith('ies') ? `${last.slice(0, -3)}y` : last.replace(/(?<=ss)es$|(?<!s)s$/, '');
  return [...words.slice(0, -1), one];
}

async function check(
  collection: CollectionName,
  values: readonly string[],
  search: Search,
): Promise<Pick<Reference, 'checked' | 'found'>> {
  const ids = search.known.get(collection);
  // The first, one from the middle, the last: neighbours would prove the same thing three times.
  const picked = new Set(
    [values[0], values[Math.floor(values.length / 2)], values.at(-1)].slice(0, LOOKED_UP),
  );
  let checked = 0;
  let found = 0;
  for (const id of picked) {
    if (id === undefined) continue;
    const exists = ids?.has(id) === true || (await lookUp(collection, id, search));
    if (exists === undefined) continue;
    checked += 1;
    if (exists) found += 1;
  }
  return { checked, found };
}

/** Whether there is such a record; undefined where that cannot be told. */
async function lookUp(collection: CollectionName, id: string, search: Search): Promise<boolean | undefined> {
  const { client, signal, onRequest } = search;
  if (!search.known.has(collection)) return undefined;
  onRequest();
  try {
    const record = await client.request(
      { path: [client[collection].segment, id] },
      { signal, [CLEARED]: true },
    );
    return isRow(record) ? String(record.id) === id : undefined;
  } catch (error) {
    signal?.throwIfAborted();
    return isApiError(error, 'not_found') ? false : undefined;
  }
}
