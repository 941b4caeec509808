import { type CollectionName, collectionNames, type collections } from '../../collections/index.ts';
import type { OptionNames } from '../../internal/option-names.ts';
import { checkNames } from '../check-options.ts';
import type { SandboxClock } from '../clock.ts';
import type { ResolvedSandboxOptions } from '../resolve-options.ts';
import type { Collection } from './collection.ts';
import type { Company } from './company.ts';

/** The record type of a collection. */
export type RecordOf<Name extends CollectionName> = NonNullable<(typeof collections)[Name]['$record']>;

/** What can be put into a collection: its fields, typed where the contract types them, and any others. */
export type RecordInput<Rec> = { readonly [Field in keyof Rec]?: Rec[Field] | undefined } & Readonly<
  Record<string, unknown>
>;

/** How the author's own write differs from one at this moment. */
export interface StoreWriteOptions {
  /** How long readers do not see the write, in ms. @default the sandbox's `commitDelayMs` */
  visibleAfterMs?: number | undefined;
}

export const STORE_WRITE_OPTIONS: OptionNames<StoreWriteOptions> = { visibleAfterMs: true };

/** The author's hand in one collection of the books. Nothing of it counts as a request, and nothing is in the journal. */
export interface CollectionStore<Rec extends { id: string }> {
  /** How many records readers see. */
  readonly count: number;
  /** Stores a record. `id` is given if left out; so are documented fields (`null`) and, where a record shows them, the times. */
  insert(fields: RecordInput<Rec>, options?: StoreWriteOptions): Rec;
  /** Changes the fields given; `null` clears. Throws a RangeError where there is no such record. */
  update(id: string, fields: RecordInput<Rec>, options?: StoreWriteOptions): Rec;
  /** Deletes a record; `false` where there was none. */
  delete(id: string, options?: StoreWriteOptions): boolean;
  /** What a writer sees under an id: the last write, whether or not readers see it yet. */
  get(id: string): Rec | undefined;
  /** Every record that readers see, by rising id. */
  all(): Rec[];
  /** The ids of `all()`. */
  ids(): string[];
  /** From now on PATCH and DELETE of this record are answered with 403 `forbidden`. */
  lock(id: string): void;
  /** Ends that. */
  unlock(id: string): void;
  /** Deletes every record. */
  clear(): void;
}

/** Records by collection, as `load` takes them and as a JSON file may hold them. */
export type Fixtures = {
  readonly [Name in CollectionName]?: readonly RecordInput<RecordOf<Name>>[] | undefined;
};

/** The books of one company, open to the author of a test at any moment, also in the middle of a walk. */
export type SandboxStore = {
  readonly [Name in CollectionName]: CollectionStore<RecordOf<Name>>;
} & {
  /** Stores fixtures: an object, or its JSON text. Throws a RangeError for a collection that does not exist. */
  load(fixtures: Fixtures | string): void;
  /** Deletes every record of every collection. */
  clear(): void;
};

/** A deep copy of a JSON value: a test that changes what it was given must not change the books, nor the other way round. */
function copy<T>(value: T): T {
  if (Array.isArray(value)) return value.map(copy) as T;
  if (typeof value !== 'object' || value === null) return value;
  // `undefined` means left out, as in a body.
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries.map(([field, inner]) => [field, copy(inner)])) as T;
}

function checkNewId(collection: Collection, id: unknown): void {
  if (id === undefined) return;
  if (typeof id !== 'string' || id === '')
    throw new TypeError(`${collection.segment}: an id is a text, not ${id}.`);
  if (collection.rows.latest(id) !== undefined)
    throw new RangeError(`${collection.segment}: ${id} exists already.`);
}

function collectionStore(
  collection: Collection,
  clock: SandboxClock,
  options: ResolvedSandboxOptions,
): CollectionStore<{ id: string }> {
  const { rows } = collection;
  const settled = () => {
    rows.settle(clock.now());
    return rows;
  };
  const all = () => {
    settled();
    // The range of everything in id order is never worked out in full: this is the cheap list.
    const list = collection.byId();
    return list.slice(0, list.length);
  };
  const at = (write?: StoreWriteOptions) => {
    if (write !== undefined) checkNames('a write to the store', write, Object.keys(STORE_WRITE_OPTIONS));
    const now = clock.now();
    settled();
    return { now, visibleAt: now + (write?.visibleAfterMs ?? options.commitDelayMs) };
  };
  return {
    get count() {
      return settled().count;
    },
    insert(fields, write) {
      const time = at(write);
      checkNewId(collection, fields.id);
      return copy(collection.insert(copy(fields), time).record);
    },
    update(id, fields, write) {
      const time = at(write);
      const before = rows.latest(id);
      if (before === undefined) throw new RangeError(`${collection.segment}: there is no record ${id}.`);
      return copy(collection.update(before, copy(fields), time).record);
    },
    delete(id, write) {
      const time = at(write);
      const existed = rows.latest(id) !== undefined;
      if (existed) collection.delete(id, time);
      return existed;
    },
    get(id) {
      const row = settled().latest(id);
      return row === undefined ? undefined : copy(row.record);
    },
    all: () => all().map((row) => copy(row.record)),
    ids: () => all().map((row) => row.id),
    lock: (id) => void collection.locked.add(id),
    unlock: (id) => void collection.locked.delete(id),
    clear: () => rows.clear(),
  };
}

/** The author's side of a company. */
export function createStore(
  company: Company,
  clock: SandboxClock,
  options: ResolvedSandboxOptions,
): SandboxStore {
  const stores = new Map<string, CollectionStore<{ id: string }>>();
  for (const name of collectionNames) {
    stores.set(name, collectionStore(company.collections[name], clock, options));
  }

  const store = {
    ...Object.fromEntries(stores),
    load(fixtures: Fixtures | string) {
      const given: unknown = typeof fixtures === 'string' ? JSON.parse(fixtures) : fixtures;
      for (const [name, records] of Object.entries(given as Record<string, readonly RecordInput<object>[]>)) {
        const target = stores.get(name);
        if (target === undefined) throw new RangeError(`There is no collection ${name}.`);
        for (const record of records) target.insert(record);
      }
    },
    clear() {
      for (const target of stores.values()) target.clear();
    },
  };
  // The table of collections is data; that each has its own record type is known to the types alone.
  return store as unknown as SandboxStore;
}
