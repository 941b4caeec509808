import { type CollectionName, collections } from '../../collections/index.ts';
import type { SeededRandom } from '../data/seeded-random.ts';
import type { FaultKind } from '../faults/fault.ts';
import type { LoggedRequest } from '../log.ts';
import type { SandboxOptions } from '../options.ts';
import { createSandbox, type Sandbox } from '../sandbox.ts';
import { collectionOf } from '../service/route.ts';
import { selects } from '../store/record-selection.ts';
import type { CollectionStore, StoreWriteOptions } from '../store/sandbox-store.ts';
import { type Fields, Timeline } from './timeline.ts';

/** Faults that only delay a response. After any other the connector does not have it. */
const LATE: readonly (FaultKind | undefined)[] = [undefined, 'delay', 'slow-body'];

const HOUR_MS = 3_600_000;

/** Whether a path is that of a collection, not of a record. */
export function isList(path: string): boolean {
  return path.split('/').length === 5;
}

/** Changes of a collection after some of the responses to its list requests: `after: [2]` is the second. */
export interface Changes {
  readonly after: readonly number[];
  readonly change: (stage: Stage, collection: CollectionName) => void;
}

/** The service of a case, what changes in it, and the record of both. */
export class Stage {
  readonly sandbox: Sandbox;
  readonly collections: readonly CollectionName[];
  readonly random: SeededRandom;
  /** The natural keys of products that reject changes. */
  readonly locked = new Set<string>();
  /** The number of requests in the night. */
  requests = 0;
  readonly #options: SandboxOptions;
  readonly #timelines: ReadonlyMap<CollectionName, Timeline>;
  #during: Changes | undefined;
  #nights = 0;
  #changes = 0;

  constructor(options: SandboxOptions, collections: readonly CollectionName[], random: SeededRandom) {
    this.sandbox = createSandbox(options);
    this.collections = collections;
    this.random = random;
    this.#options = options;
    this.#timelines = new Map(collections.map((name) => [name, new Timeline()]));
    this.sandbox.onRequest((request) => this.#log(request));
  }

  begin(before: () => unknown, during: Changes | undefined): void {
    this.#nights += 1;
    before();
    for (const [name, timeline] of this.#timelines) {
      this.#observe(name, `before run ${this.#nights}`);
      timeline.beginRun();
    }
    this.#during = during;
    this.requests = 0;
    this.sandbox.clearLogs();
  }

  /** Ends a night, an hour before the next one: by then every write is visible. */
  end(): void {
    this.#during = undefined;
    this.sandbox.faults.clear();
    this.sandbox.clock.advance(HOUR_MS);
  }

  timeline(name: CollectionName): Timeline {
    return this.#timelines.get(name) ?? new Timeline();
  }

  store(name: CollectionName): CollectionStore<{ id: string } & Fields> {
    return this.sandbox.store[name] as unknown as CollectionStore<{ id: string } & Fields>;
  }

  /** The ids of a collection, or those at some places of the list by ascending id. */
  ids(name: CollectionName, ...places: readonly number[]): string[] {
    const ids = this.store(name).ids();
    return places.length === 0 ? ids : places.flatMap((place) => ids.at(place) ?? []);
  }

  /** The ids that responses of the night contained, and whose records still exist. */
  listed(name: CollectionName): string[] {
    const listed = new Set(this.timeline(name).pages.flatMap(({ ids }) => ids));
    return this.ids(name).filter((id) => listed.has(id));
  }

  /** Rejects changes of some products from now on. */
  lock(ids: readonly string[]): void {
    const { products } = this.sandbox.store;
    for (const id of ids) {
      products.lock(id);
      this.locked.add(String(products.get(id)?.productNumber));
    }
  }

  /** Does something in each collection. */
  each(work: (name: CollectionName) => void): void {
    for (const name of this.collections) work(name);
  }

  /** Changes records, each to a name that no other has unless `fields` have one. Requests see the change at once. */
  change(
    name: CollectionName,
    ids: readonly string[],
    fields: Fields = {},
    options: StoreWriteOptions = { visibleAfterMs: 0 },
  ): void {
    for (const id of ids) {
      this.#changes += 1;
      this.store(name).update(id, { name: `Changed ${this.#changes}`, ...fields }, options);
    }
  }

  insert(name: CollectionName, fields: Fields = {}): void {
    this.#changes += 1;
    this.store(name).insert({ name: `Added ${this.#changes}`, ...fields }, { visibleAfterMs: 0 });
  }

  remove(name: CollectionName, ids: readonly string[]): void {
    for (const id of ids) this.store(name).delete(id, { visibleAfterMs: 0 });
  }

  #observe(name: CollectionName, when: string): void {
    const { hiddenRecords = 0, seed = 0 } = this.#options;
    const isListed = (record: Fields & { id: string }) =>
      !selects(hiddenRecords, { id: record.id, record }, collections[name].segment, { seed });
    this.timeline(name).observe(this.store(name).all().filter(isListed), when);
  }

  #log({ path, query, ids = [], fault }: LoggedRequest): void {
    this.requests += 1;
    const collection = isList(path) ? collectionOf(path) : undefined;
    const timeline = collection && this.#timelines.get(collection);
    if (collection === undefined || timeline === undefined) return;
    timeline.addPage({
      request: this.requests,
      ...(LATE.includes(fault) ? { ids } : { ids: [], fault }),
      isLaterPage: Number(query[this.#options.pageParameter ?? '_page'] ?? 1) > 1,
    });
    if (this.#during?.after.includes(timeline.pages.length) !== true) return;
    this.#during.change(this, collection);
    this.#observe(collection, `after request ${this.requests}`);
  }
}
