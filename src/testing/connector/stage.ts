import type { CollectionName } from '../../collections/index.ts';
import type { SeededRandom } from '../data/seeded-random.ts';
import type { FaultKind } from '../faults/fault.ts';
import type { LoggedRequest } from '../log.ts';
import type { SandboxOptions } from '../options.ts';
import { createSandbox, type Sandbox } from '../sandbox.ts';
import { collectionOf } from '../service/route.ts';
import type { CollectionStore } from '../store/sandbox-store.ts';
import type { SentPage } from './judgement.ts';
import { type Fields, Timeline } from './timeline.ts';

/** Faults that only delay a response. After any other the connector does not have it. */
const LATE: readonly (FaultKind | undefined)[] = [undefined, 'delay', 'slow-body'];

const NIGHT_MS = 3_600_000;

/** The service of a case, what changes in it, and the record of both. */
export class Stage {
  readonly sandbox: Sandbox;
  readonly collections: readonly CollectionName[];
  readonly random: SeededRandom;
  readonly timelines: ReadonlyMap<CollectionName, Timeline>;
  /** The lists of the night. */
  readonly responses = new Map<CollectionName, SentPage[]>();
  /** Called after each response to a list request. */
  onList: (request: { collection: CollectionName; number: number }) => void = () => {};
  /** Called with each request, by its number in the night. */
  onRequest: (number: number) => void = () => {};
  readonly options: SandboxOptions;
  #moment = 0;
  #requests = 0;
  #night = 0;
  #changes = 0;

  constructor(options: SandboxOptions, collections: readonly CollectionName[], random: SeededRandom) {
    this.sandbox = createSandbox(options);
    this.collections = collections;
    this.random = random;
    this.options = options;
    this.timelines = new Map(collections.map((name) => [name, new Timeline()]));
    this.sandbox.onRequest((request) => this.#log(request));
  }

  /** The number of requests in the night. */
  get requests(): number {
    return this.#requests;
  }

  /** Begins a night, and returns its moment. */
  beginNight(before: () => void): number {
    if (this.#night > 0) this.sandbox.clock.advance(NIGHT_MS);
    this.#night += 1;
    before();
    this.observe(`before run ${this.#night}`);
    this.#requests = 0;
    this.responses.clear();
    this.sandbox.clearLogs();
    return this.#moment;
  }

  /** Notes what has changed. */
  observe(when: string): void {
    this.#moment += 1;
    for (const [name, timeline] of this.timelines) {
      timeline.observe(this.store(name).all(), this.#moment, when);
    }
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
    const listed = new Set(this.responses.get(name)?.flatMap(({ ids }) => ids));
    return this.ids(name).filter((id) => listed.has(id));
  }

  /** The natural keys of products that reject changes. */
  readonly locked = new Set<string>();

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

  /** Changes records, with a name that no other has. */
  change(name: CollectionName, ids: readonly string[], options?: { visibleAfterMs: number }): void {
    for (const id of ids) {
      this.#changes += 1;
      const fields = { name: `Changed ${this.#changes}` };
      this.store(name).update(id, fields, options);
    }
  }

  insert(name: CollectionName, fields: Fields = {}): string {
    this.#changes += 1;
    return this.store(name).insert({ name: `Added ${this.#changes}`, ...fields }).id;
  }

  remove(name: CollectionName, ids: readonly string[]): void {
    for (const id of ids) this.store(name).delete(id);
  }

  #log(request: LoggedRequest): void {
    this.#requests += 1;
    const collection = collectionOf(request.path);
    const { ids } = request;
    if (collection !== undefined && ids !== undefined && this.collections.includes(collection)) {
      // What has changed since the request before, whether a case has changed it or it became visible by itself.
      this.observe(`after request ${this.#requests - 1}`);
      const pages = this.responses.get(collection) ?? [];
      this.responses.set(collection, pages);
      pages.push({
        at: this.#moment,
        request: this.#requests,
        ids: LATE.includes(request.fault) ? ids : [],
        isLaterPage: Number(request.query[this.options.pageParameter ?? '_page'] ?? 1) > 1,
      });
      this.onList({ collection, number: pages.length });
    }
    this.onRequest(this.#requests);
  }
}
