import { type CollectionName, collectionNames } from '../../collections/index.ts';
import { isPlainObject, type Named, type OptionInputs, optional } from '../../internal/options.ts';
import { at, is, resolved, within } from '../checks.ts';
import type { Fixtures, RecordInput, RecordOf } from '../fixtures.ts';
import type { Collection } from './collection.ts';
import type { Company } from './company.ts';

const storeWriteOptions = {
  /** How long requests do not see the write, in ms. @default the sandbox's `commitDelayMs` */
  visibleAfterMs: optional(is.durationFrom(0)),
};

/** When a write to the store becomes visible. */
export interface StoreWriteOptions extends OptionInputs<typeof storeWriteOptions>, Named {}

/**
 * Direct access to one collection, for a test: what it does is neither a request nor in the journal. Every record given
 * and returned is a copy.
 */
export interface CollectionStore<Rec extends { id: string }> {
  /** The number of records that requests see. */
  readonly count: number;
  /**
   * Stores a record. The store fills fields that are left out: `id`, documented fields (`null`) and, if records of the
   * collection show them, the timestamps. Throws a RangeError if the id already exists.
   */
  insert(fields: RecordInput<Rec>, options?: StoreWriteOptions): Rec;
  /** Changes the fields given; `null` clears. Throws a RangeError if the record does not exist. */
  update(id: string, fields: RecordInput<Rec>, options?: StoreWriteOptions): Rec;
  /** Deletes a record; `false` if it does not exist. */
  delete(id: string, options?: StoreWriteOptions): boolean;
  /** The record after its last write, whether or not requests see that write yet. */
  get(id: string): Rec | undefined;
  /** Every record that requests see, by ascending id. */
  all(): Rec[];
  /** The ids of `all()`. */
  ids(): string[];
  /** Rejects PATCH and DELETE of this record with 403 `forbidden` from now on. */
  lock(id: string): void;
  /** Deletes every record. */
  clear(): void;
}

/** The records of one company. A test can read and change them at any time, even during pagination. */
export type SandboxStore = {
  readonly [Name in CollectionName]: CollectionStore<RecordOf<Name>>;
} & {
  /** Stores fixtures, which requests see at once. Throws a RangeError for an unknown collection. */
  load(fixtures: Fixtures): void;
  /** Deletes every record of every collection. */
  clear(): void;
};

/** Direct access to the records of a company, which is another one after each reset of the sandbox. */
export function createStore(company: () => Company): SandboxStore {
  const stores = new Map<string, CollectionStore<{ id: string }>>(
    collectionNames.map((name) => [name, collectionStore(() => company()[name])]),
  );
  const store = {
    ...Object.fromEntries(stores),
    load(fixtures: Fixtures) {
      for (const [name, records = []] of Object.entries(fixtures)) {
        const target = stores.get(name);
        const path = `fixtures.${name}`;
        if (target === undefined) throw at(path, new RangeError(`There is no collection ${name}.`));
        if (!Array.isArray(records) || !(records as readonly unknown[]).every(isPlainObject))
          throw at(path, new TypeError(`${name} must be an array of records.`));
        for (const [index, record] of records.entries())
          within(`${path}.${index}`, () => target.insert(record, { visibleAfterMs: 0 }));
      }
    },
    clear() {
      for (const target of stores.values()) target.clear();
    },
  };
  // Only the types know the record type of each collection.
  return store as unknown as SandboxStore;
}

function collectionStore(current: () => Collection): CollectionStore<{ id: string }> {
  const delayOf = (options: StoreWriteOptions = {}) =>
    resolved(storeWriteOptions, options, 'a write to the store').visibleAfterMs;
  return {
    get count() {
      return current().count;
    },
    insert(fields, options) {
      const delay = delayOf(options);
      const collection = current();
      checkNewId(collection, fields.id);
      collection.checkFields(fields);
      return copy(collection.insert(copy(fields), delay).record);
    },
    update(id, fields, options) {
      const delay = delayOf(options);
      const collection = current();
      const before = collection.latest(id);
      if (before === undefined) throw new RangeError(`${collection.segment}: there is no record ${id}.`);
      collection.checkFields(fields);
      return copy(collection.update(before, copy(fields), delay).record);
    },
    delete(id, options) {
      const delay = delayOf(options);
      const collection = current();
      if (collection.latest(id) === undefined) return false;
      collection.delete(id, delay);
      return true;
    },
    get(id) {
      const row = current().latest(id);
      return row === undefined ? undefined : copy(row.record);
    },
    all: () =>
      current()
        .all()
        .map(({ record }) => copy(record)),
    ids: () =>
      current()
        .all()
        .map(({ id }) => id),
    lock: (id) => void current().locked.add(id),
    clear: () => current().clear(),
  };
}

/** Throws for an id that a new record cannot have. */
export function checkNewId(collection: Collection, id: unknown): void {
  if (id === undefined) return;
  if (typeof id !== 'string' || id === '') {
    throw at(
      'id',
      new TypeError(`${collection.segment}: an id is a string that is not empty, not ${JSON.stringify(id)}.`),
    );
  }
  if (collection.latest(id) !== undefined)
    throw at('id', new RangeError(`${collection.segment}: ${id} already exists.`));
}

/** A copy, so that a test and the store never share an object. `undefined` means left out, as in a request body. */
function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
