import { type CollectionName, collections } from '../../collections/index.ts';
import { resolved } from '../../input/checks.ts';
import { is, type Named, type OptionInputs, option, optional } from '../../internal/options.ts';
import {
  type ExploreClient,
  type ExploreProgress,
  failsEverywhere,
  someCollections,
} from '../explore-client.ts';
import { idsOf } from '../rows.ts';
import { Observations } from './observation.ts';
import { printSource } from './print.ts';
import { findReferences, type Reference } from './references.ts';
import { sampleCollection } from './sample.ts';
import type { Shapes } from './shape.ts';

export const discoverOptions = {
  /** The collections to sample. Default: all fourteen. */
  collections: someCollections,
  /** Records to sample from each collection, spread over all its pages. Default: 500. */
  sample: option(is.integerFrom(1), 500),
  /** Stops the discovery: it rejects with the signal's reason. */
  signal: optional(is.signal),
  /** Called before each collection. */
  onProgress: optional(is.callback<(progress: ExploreProgress) => void>()),
};

/** Options of {@link discover}. */
export interface DiscoverOptions extends OptionInputs<typeof discoverOptions>, Named {}

/** What was seen of one collection. */
export interface DiscoveredCollection {
  readonly collection: CollectionName;
  /** `readable`, or the code of the error that its list returned. */
  readonly access: string;
  /** Records that were read. */
  readonly records: number;
  /** Every field but `id`, by name. */
  readonly fields: Shapes;
  /** Fields that certainly hold ids of other collections, by path. */
  readonly references: Readonly<Record<string, Reference>>;
}

/** What {@link discover} found. */
export interface Discovery {
  /** Where the service is, `/api/public/v1` included. */
  readonly baseUrl: string;
  /** Requests that were sent, retries included. */
  readonly requests: number;
  readonly collections: readonly DiscoveredCollection[];
  /** Formatted TypeScript: Zod loose objects for `createClient({ schemas })`. */
  readonly source: string;
}

/**
 * Reads some records of each collection and writes schemas of what it saw: the fields and their types, how many records
 * have them, which are amounts, dates, timestamps, ids of other collections. The specification does not show these for
 * most collections.
 *
 * ```ts
 * const { source } = await discover(createClient(), { collections: ['accounts'], sample: 200 });
 * await writeFile('src/schemas.mts', source); // then: createClient({ schemas }) gives typed, checked accounts
 * ```
 * @throws InvalidInputError for invalid options. If a collection fails in a way that every one would:
 * ConnectionError, TimeoutError, RedirectError, UnauthenticatedError.
 */
export async function discover(client: ExploreClient, options: DiscoverOptions = {}): Promise<Discovery> {
  const given = resolved(discoverOptions, options, { of: 'discover' });
  const { sample: size, signal, onProgress } = given;
  const names = [...new Set(given.collections)];
  signal?.throwIfAborted();

  let requests = 0;
  const sampled: { collection: CollectionName; access: string; seen: Observations }[] = [];
  const ids = new Map<CollectionName, ReadonlySet<string>>();
  for (const collection of names) {
    onProgress?.({ requests, collection, done: sampled.length, of: names.length });
    const sample = await sampleCollection(client, collections[collection].segment, { size, signal });
    requests += sample.requests;
    const { error, rows } = sample;
    if (typeof error === 'object' && failsEverywhere(error.code)) throw error;

    const seen = new Observations(collections[collection].fields);
    for (const row of rows) seen.add(row);
    const code = error === 'no_list' ? 'unexpected_response' : error?.code;
    if (code === undefined) ids.set(collection, new Set(idsOf(rows)));
    sampled.push({ collection, access: code ?? 'readable', seen });
  }

  // After all samples, because a field may refer to a collection that came later.
  const found = sampled.map((one) => ({
    ...one,
    references: findReferences(one.seen, ids),
    absence: absenceOf(one),
  }));
  return {
    baseUrl: client.accounts.baseUrl,
    requests,
    collections: found.map(({ collection, access, seen, references }) => {
      const { id: _, ...fields } = seen.shapes();
      return {
        collection,
        access,
        records: seen.records,
        fields,
        references: Object.fromEntries(references),
      };
    }),
    source: printSource(found),
  };
}

function absenceOf({ access, seen }: { access: string; seen: Observations }): string | undefined {
  if (access !== 'readable') return `it could not be read (${access})`;
  return seen.records === 0 ? 'there was no record' : undefined;
}
