// Which product each row means, by what was read of the existing products.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { RecordRow } from '../reading/source.ts';
import type { Sight } from './create.ts';
import { changedFields, type JsonFields } from './draft.ts';
import type { ExistingPage } from './existing.ts';
import type { PushMemory } from './memory.ts';
import type { MissingProducts } from './missing.ts';
import { spellings } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { PushRow, Rows } from './rows.ts';

/** What was seen of the product of a row. */
export interface SeenProduct {
  /** The product that has its key, or else the one that it is known to have. */
  readonly id?: string;
  /** The fields in which the product differs from the row. */
  readonly fields: readonly string[];
  /** More products that have its key. */
  readonly otherIds: readonly string[];
  /** How its product was found. One that was found by its id has another key, or none. */
  readonly foundBy?: 'key' | 'id' | 'id_without_key';
  /** The key that the product has, if it was found by its id. */
  readonly otherKey?: string | undefined;
  /** What a get of its known product, which the list did not show, found out. */
  readonly lookUp?: 'missing' | 'failed';
  /** Why it cannot be known whether the row still has its known product. */
  readonly conflict?: string;
  /** A product that may have its key in another spelling. */
  readonly similar?: { readonly id: string; readonly key: string };
}

/** The rows, and what is known of their creates. */
interface Matched {
  readonly options: ResolvedPushOptions;
  readonly rows: Rows;
  readonly memory: PushMemory;
}

const NOTHING_SEEN: SeenProduct = { fields: [], otherIds: [] };

/** Takes in the existing products page by page. */
export class Match {
  readonly #missing: MissingProducts | undefined;
  readonly #options: ResolvedPushOptions;
  readonly #rows: Rows;
  readonly #memory: PushMemory;
  readonly #seen = new Map<PushRow, SeenProduct>();
  /** The rows that are known to have a product, by its id. */
  readonly #byId = new Map<string, PushRow[]>();
  /** One list for all rows that differ in the same fields, by its names. */
  readonly #fieldLists = new Map<string, readonly string[]>();
  /** How many rows a second read dropped as repeats: as many products it can have missed. */
  #lacking = 0;
  /** A product whose key cannot be read, so that any row can mean it. */
  #unreadable: string | undefined;
  /** Products without an id that can be read, by key. */
  readonly #withoutId = new Map<string, string>();

  /** `missing` takes in the products that no row has. */
  constructor({ options, rows, memory }: Matched, missing?: MissingProducts) {
    this.#options = options;
    this.#rows = rows;
    this.#memory = memory;
    this.#missing = missing;
    for (const row of rows.byKey.values()) this.expect(row);
  }

  /** What was seen of a row since it was expected. */
  seen(row: PushRow): SeenProduct {
    return this.#seen.get(row) ?? NOTHING_SEEN;
  }

  /** Forgets what was seen of a row, and takes the next product that has its known id as its own. */
  expect(row: PushRow): void {
    this.#seen.delete(row);
    const state = this.#memory.stateOf(row);
    if (state.is === 'made' && !this.#byId.get(state.id)?.includes(row))
      this.#byId.set(state.id, [...(this.#byId.get(state.id) ?? []), row]);
  }

  /** Adds to what was seen of a row. */
  note(row: PushRow, more: Partial<SeenProduct>): void {
    this.#seen.set(row, { ...this.seen(row), ...more });
  }

  add({ records, sent, invalid, restarted, repeatedAgain }: ExistingPage): void {
    if (restarted) this.#missing?.clear();
    this.#lacking = repeatedAgain ?? this.#lacking;
    records.forEach((record, index) => {
      this.addProduct({ record, row: sent[index] });
    });
    for (const { id, record } of invalid) this.#addInvalid(id, record);
  }

  addProduct(product: RecordRow<AnyProduct>, canBeMissing = true): void {
    const { id } = product.record;
    const key = this.#keyOf(product);
    const row = key === undefined ? undefined : this.#rows.byKey.get(key);
    if (row !== undefined) this.#addByKey(row, product);
    if (key !== undefined) this.#compareSpellings(id, key);
    const claimants = this.#byId.get(id) ?? [];
    for (const claimant of claimants) {
      if (claimant === row || this.seen(claimant).foundBy === 'key') continue;
      this.note(claimant, { foundBy: key === undefined ? 'id_without_key' : 'id', otherKey: key });
      this.#setProduct(claimant, product);
    }
    const isKept = row !== undefined || claimants.length > 0 || !canBeMissing;
    if (key !== undefined) this.#missing?.add(product, key, isKept);
  }

  /** What was seen of a row; `reason` says why it is not clear which product it means. */
  sightOf(row: PushRow): { readonly sight: Sight; readonly reason: string | undefined } {
    const reason = this.#conflictOf(row);
    const { id, foundBy, lookUp } = this.seen(row);
    const mayLack = this.isIncomplete || this.unreadableFor(row) !== undefined;
    if (foundBy === 'id_without_key')
      return { sight: { products: 'none', mayLack, made: 'of_another' }, reason };
    if (reason !== undefined) return { sight: { products: 'several' }, reason };
    if (foundBy === 'key') return { sight: { products: 'one', id: id as string }, reason };
    const made = foundBy === 'id' ? 'shown' : lookUp;
    return { sight: { products: 'none', mayLack, made }, reason };
  }

  /** Whether the list repeated products even when it was read a second time, so that it also missed some. */
  get isIncomplete(): boolean {
    return this.#lacking > 0 && this.#options.incompleteList === 'fail';
  }

  /** The product that may be that of the row, but cannot be read. */
  unreadableFor(row: PushRow): string | undefined {
    return this.#withoutId.get(row.key) ?? this.#unreadable;
  }

  /** Why it is not clear which product a row means; undefined if it is. */
  #conflictOf(row: PushRow): string | undefined {
    const { id, otherIds, similar, foundBy, conflict } = this.seen(row);
    if (otherIds.length > 0) return `products ${[id, ...otherIds].join(', ')} have this key`;
    if (this.#isShared(row)) return `product ${id} belongs to two rows`;
    if (conflict !== undefined) return conflict;
    if (foundBy === 'key') return undefined;
    if (foundBy === 'id_without_key')
      return `product ${id}, which was pushed under this key before, has no key`;
    if (similar !== undefined) {
      return `product ${similar.id} may be the one: ${spellings(row.key, similar.key)}`;
    }
    if (id !== undefined || this.#memory.stateOf(row).is === 'made') return undefined;
    // Of rows that the service may store under one key, only the first is created.
    for (const other of this.#rows.similarTo(row.key)) {
      if (other === row) return undefined;
      if (this.seen(other).id === undefined)
        return `an earlier row may mean the same product: ${spellings(row.key, other.key)}`;
    }
    return undefined;
  }

  /** Whether the product of a row is known as that of another row too. */
  #isShared(row: PushRow): boolean {
    const { id, foundBy, otherKey = '' } = this.seen(row);
    if (id === undefined) return false;
    const isOther = (other: PushRow) => other !== row && this.seen(other).foundBy === 'id';
    const hasOther = (this.#byId.get(id) ?? []).some(isOther);
    const owner = foundBy === 'id' && this.#rows.byKey.get(otherKey);
    if (hasOther || !owner) return hasOther;
    const seen = this.seen(owner);
    return [seen.id, ...seen.otherIds].includes(id);
  }

  /** Remembers for each row a product that may have its key in another spelling. */
  #compareSpellings(id: string, key: string): void {
    for (const row of this.#rows.similarTo(key)) {
      if (row.key !== key && this.seen(row).similar === undefined) this.note(row, { similar: { id, key } });
    }
  }

  #addByKey(row: PushRow, product: RecordRow<AnyProduct>): void {
    const { id } = product.record;
    const { foundBy, id: first, otherIds } = this.seen(row);
    this.note(row, { foundBy: 'key' });
    if (foundBy !== 'key' || first === id) this.#setProduct(row, product);
    else if (!otherIds.includes(id)) this.note(row, { otherIds: [...otherIds, id] });
  }

  #setProduct(row: PushRow, { record, row: sent }: RecordRow<AnyProduct>): void {
    const draft = JSON.parse(row.draft) as JsonFields;
    const fields = changedFields(sent as JsonFields, draft, this.#options.source.fields);
    const names = JSON.stringify(fields);
    const known = this.#fieldLists.get(names) ?? fields;
    this.#fieldLists.set(names, known);
    this.note(row, { id: record.id, fields: known });
  }

  /** A product that does not match the schema is compared as it was sent. Without a readable key, it may be that of any row. */
  #addInvalid(id: string | undefined, sent: unknown): void {
    const name = id === undefined ? 'a product without an id' : `product ${id}`;
    let key: unknown;
    try {
      key = this.#options.keyOf({ record: sent as AnyProduct, row: sent }) ?? undefined;
    } catch {
      this.#unreadable ??= name;
      return;
    }
    if (key !== undefined && typeof key !== 'string') this.#unreadable ??= name;
    else if (id !== undefined) this.addProduct({ record: { ...(sent as AnyProduct), id }, row: sent }, false);
    else if (key !== undefined) this.#withoutId.set(key, name);
  }

  #keyOf(product: RecordRow<AnyProduct>): string | undefined {
    let key: unknown;
    try {
      key = this.#options.keyOf(product);
    } catch (error) {
      throw new InvalidInputError('key', 'threw for an existing product', {}, { cause: error });
    }
    return typeof key === 'string' && key !== '' ? key : undefined;
  }
}
