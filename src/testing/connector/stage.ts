import { type CollectionName, collections } from '../../collections/index.ts';
import { labelOf } from '../data/records.ts';
import { SeededRandom } from '../data/seeded-random.ts';
import type { LoggedRequest } from '../log.ts';
import type { SandboxOptions } from '../options.ts';
import { createSandbox, type Sandbox } from '../sandbox.ts';
import { collectionOf } from '../service/route.ts';
import { selects } from '../store/record-selection.ts';
import type { CollectionStore, StoreWriteOptions } from '../store/sandbox-store.ts';
import { type Fields, Timeline } from './timeline.ts';

const HOUR_MS = 3_600_000;

/** Whether a path is that of a collection, not of a record. */
export function isList(path: string): boolean {
  return path.split('/').length === 5;
}

/** Does something to a collection, such as changing records. */
export type Change = (stage: Stage, collection: CollectionName) => unknown;

/** A change after some of the responses to list requests of a collection: `after: [2]` is the second. */
export interface During {
  readonly after: readonly number[];
  readonly change: Change;
}

/** The service of a case, what changes in it, and the record of both. */
export class Stage {
  readonly sandbox: Sandbox;
  readonly collections: readonly CollectionName[];
  readonly random: SeededRandom;
  /** The number of requests in the night. */
  requests = 0;
  readonly #options: SandboxOptions & { readonly seed: number };
  readonly #timelines: ReadonlyMap<CollectionName, Timeline>;
  #during: During | undefined;
  #nights = 0;
  #changes = 0;

  constructor(options: SandboxOptions & { readonly seed: number }, names: readonly CollectionName[]) {
    this.sandbox = createSandbox(options);
    this.collections = names;
    this.random = new SeededRandom(options.seed);
    this.#options = options;
    this.#timelines = new Map(names.map((name) => [name, new Timeline()]));
    this.sandbox.onRequest((request) => this.#log(request));
  }

  begin(before: () => unknown, during: During | undefined): void {
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

  record(name: CollectionName, id: string): Fields {
    return this.store(name).get(id) ?? {};
  }

  /** Does something in each collection. */
  each(work: (name: CollectionName) => unknown): void {
    for (const name of this.collections) work(name);
  }

  /** The ids of a collection, or those at some places of the list by ascending id. */
  ids(name: CollectionName, ...places: readonly number[]): string[] {
    const ids = this.store(name).ids();
    return places.length === 0 ? ids : places.flatMap((place) => ids.at(place) ?? []);
  }

  /** Three ids of a collection. */
  some(name: CollectionName): string[] {
    const first = this.random.between(0, this.ids(name).length - 7);
    return this.ids(name, first, first + 2, first + 5);
  }

  /** One of the ids that responses of the night contained, and whose record still exists; none if there is none. */
  oneListed(name: CollectionName): string[] {
    const listed = new Set(this.timeline(name).pages.flatMap(({ ids }) => ids));
    const ids = this.ids(name).filter((id) => listed.has(id));
    return ids.length === 0 ? [] : [this.random.pick(ids)];
  }

  /** Whether a record rejects changes. */
  isLocked(name: CollectionName, record: Fields & { readonly id: string }): boolean {
    const { lockedRecords = 0 } = this.#options;
    return selects(lockedRecords, { id: record.id, record }, collections[name].segment, this.#options);
  }

  /** Changes records, each to a label that no other has unless `fields` have one. Requests see the change at once. */
  change(
    name: CollectionName,
    ids: readonly string[],
    fields: Fields = {},
    options: StoreWriteOptions = { visibleAfterMs: 0 },
  ): void {
    for (const id of ids)
      this.store(name).update(id, { ...this.#label(name, 'Changed'), ...fields }, options);
  }

  insert(name: CollectionName, fields: Fields = {}): void {
    this.store(name).insert({ ...this.#label(name, 'Added'), ...fields }, { visibleAfterMs: 0 });
  }

  remove(name: CollectionName, ids: readonly string[]): void {
    for (const id of ids) this.store(name).delete(id, { visibleAfterMs: 0 });
  }

  #label(name: CollectionName, what: string): Fields {
    this.#changes += 1;
    return { [labelOf(name)]: `${what} ${this.#changes}` };
  }

  #observe(name: CollectionName, when: string): void {
    const { hiddenRecords = 0 } = this.#options;
    const isListed = (record: Fields & { id: string }) =>
      !selects(hiddenRecords, { id: record.id, record }, collections[name].segment, this.#options);
    this.timeline(name).observe(this.store(name).all().filter(isListed), when);
  }

  #log({ path, ids = [], fault }: LoggedRequest): void {
    this.requests += 1;
    const name = isList(path) ? collectionOf(path) : undefined;
    const timeline = name && this.#timelines.get(name);
    if (name === undefined || timeline === undefined) return;
    // With a fault, the connector may not have the records.
    timeline.addPage(this.requests, fault === undefined ? ids : []);
    if (this.#during?.after.includes(timeline.pages.length) !== true) return;
    this.#during.change(this, name);
    this.#observe(name, `after request ${this.requests} of run ${this.#nights}`);
  }
}
