import { type CollectionName, collectionNames, collections } from '../../collections/index.ts';
import { checkOptionNames } from '../../errors/check-option-names.ts';
import { InvalidInputError } from '../../errors/invalid-input-error.ts';
import type { OptionNames } from '../../internal/option-names.ts';
import { checkNames, isHopeless } from '../check-names.ts';
import { idsOf } from '../list-body.ts';
import type { ToolsClient } from '../tools-client.ts';
import type { SchemaChange } from './changes.ts';
import { remembered } from './memory.ts';
import { Observations } from './observation.ts';
import { findReferences, type Reference } from './references.ts';
import { combine, type Observed } from './runs.ts';
import { sampleCollection } from './sample.ts';
import type { Shapes } from './shape.ts';
import { printSource } from './source.ts';

/** How far a discovery is. */
export interface DiscoverProgress {
  /** Requests sent so far. */
  readonly requests: number;
  /** The collection that is being sampled; undefined while ids are looked up. */
  readonly collection: CollectionName | undefined;
  readonly done: number;
  readonly of: number;
}

/** Options of {@link discover}. */
export interface DiscoverOptions {
  /** The collections to sample. Default: all fourteen. */
  collections?: readonly CollectionName[] | undefined;
  /** Records to sample from each collection, spread over all its pages. Default: 500. */
  sample?: number | undefined;
  /**
   * Whether schemas ask for what was seen: fields that were always there and never null are required, amounts and dates
   * are checked by their form. Default: false, and everything but `id` may be null or missing.
   */
  strict?: boolean | undefined;
  /** The file that an earlier run wrote: what it knew is kept, and `changes` says what is new. */
  previous?: string | undefined;
  /** Stops the discovery, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Told after each collection, and after each id that was looked up. */
  onProgress?: ((progress: DiscoverProgress) => void) | undefined;
}

export const DISCOVER_OPTIONS: OptionNames<DiscoverOptions> = {
  collections: true,
  sample: true,
  strict: true,
  previous: true,
  signal: true,
  onProgress: true,
};

/** What was seen of one collection. */
export interface DiscoveredCollection {
  readonly collection: CollectionName;
  /** `readable`, or the code of the error that its list was answered with. */
  readonly access: string;
  /** Records that this run looked at. */
  readonly records: number;
  /** Every field, by name, with what earlier runs knew of it. */
  readonly fields: Shapes;
  /** Fields that hold ids of other collections, by path, or are named as if they did. */
  readonly references: Readonly<Record<string, Reference>>;
}

/** What {@link discover} found. */
export interface Discovery {
  /** Where the service is, `/api/public/v1` included. */
  readonly baseUrl: string;
  /** Requests that were sent. */
  readonly requests: number;
  readonly collections: readonly DiscoveredCollection[];
  /** What differs from `previous`; empty without one. */
  readonly changes: readonly SchemaChange[];
  /** Formatted TypeScript: Zod loose objects for `createClient({ schemas })`. */
  readonly source: string;
}

/**
 * Reads some records of each collection and writes down what they look like: which fields, of which type, how often
 * missing or null, which are amounts, dates, instants, ids of other collections. For the collections whose fields the
 * contract does not show, this is what types them.
 *
 * ```ts
 * const { source } = await discover(createClient(), { collections: ['accounts'], sample: 200 });
 * await writeFile('src/schemas.ts', source); // then: createClient({ schemas }) gives typed, checked accounts
 * ```
 * @throws InvalidInputError for options that cannot be right; what any call throws where not even the first collection
 * could be asked for.
 */
export async function discover(client: ToolsClient, options: DiscoverOptions = {}): Promise<Discovery> {
  checkOptionNames(options, DISCOVER_OPTIONS, { of: 'discover' });
  const { sample = 500, strict = false, previous = '', signal } = options;
  const names = checkNames(options.collections ?? collectionNames);
  if (!(Number.isInteger(sample) && sample >= 1)) {
    throw new InvalidInputError('sample', 'must be a whole number of at least 1');
  }
  signal?.throwIfAborted();

  const run = new Run(client, names, options);
  const observed = await run.sampleAll(sample);
  await run.findReferences(observed);
  const { printed, changes } = combine(observed, remembered(previous), strict);
  return {
    baseUrl: client.accounts.baseUrl,
    requests: run.requests,
    collections: observed.map(({ collection, access, observations, references }) => ({
      collection,
      access,
      records: observations.records,
      fields: printed.find((one) => one.collection === collection)?.shapes ?? {},
      references: Object.fromEntries(references),
    })),
    changes,
    source: printSource(printed, { strict }),
  };
}

class Run {
  requests = 0;
  readonly #client: ToolsClient;
  readonly #names: readonly CollectionName[];
  readonly #options: DiscoverOptions;
  readonly #known = new Map<CollectionName, ReadonlySet<string>>();

  constructor(client: ToolsClient, names: readonly CollectionName[], options: DiscoverOptions) {
    this.#client = client;
    this.#names = names;
    this.#options = options;
  }

  async sampleAll(size: number): Promise<Observed[]> {
    const { signal } = this.#options;
    const observed: Observed[] = [];
    for (const collection of this.#names) {
      this.#tell(collection, observed.length);
      const sample = await sampleCollection(this.#client, collections[collection].segment, { size, signal });
      this.requests += sample.requests;
      const { error } = sample;
      if (observed.length === 0 && typeof error === 'object' && isHopeless(error.code)) throw error;

      const observations = new Observations();
      for (const row of sample.rows) observations.see(row);
      const code = error === 'no_list' ? 'unexpected_response' : error?.code;
      if (code === undefined) this.#known.set(collection, new Set(idsOf(sample.rows)));
      observed.push({ collection, access: code ?? 'readable', observations, references: new Map() });
    }
    return observed;
  }

  /** After all samples: a field may point to a collection that came later. */
  async findReferences(observed: readonly Observed[]): Promise<void> {
    const { signal } = this.#options;
    const onRequest = () => {
      this.requests += 1;
      this.#tell(undefined, observed.length);
    };
    for (const one of observed) {
      const search = { client: this.#client, known: this.#known, signal, onRequest };
      const references = await findReferences(one.observations, search);
      for (const [path, reference] of references) one.references.set(path, reference);
    }
  }

  #tell(collection: CollectionName | undefined, done: number): void {
    this.#options.onProgress?.({ requests: this.requests, collection, done, of: this.#names.length });
  }
}
