// Which product each row means, by what was read of the existing products.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { Read } from '../reading/source.ts';
import type { Sight } from './create.ts';
import { changedFields, type Fields } from './draft.ts';
import type { ExistingPage } from './existing.ts';
import type { MissingProducts } from './missing.ts';
import { spellings } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { PushRow, Rows } from './rows.ts';

/** Takes in the existing products page by page. */
export class Match {
  readonly #missing: MissingProducts | undefined;
  readonly #options: ResolvedPushOptions;
  readonly #rows: Rows;
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
  constructor(options: ResolvedPushOptions, rows: Rows, missing?: MissingProducts) {
    this.#options = options;
    this.#rows = rows;
    this.#missing = missing;
    for (const row of rows.byKey.values()) this.expect(row);
  }

  /** Forgets what was seen of a row, and takes the next product that has its known id as its own. */
  expect(row: PushRow): void {
    row.forget();
    const { state } = row;
    if (state.is === 'made' && !this.#byId.get(state.id)?.includes(row))
      this.#byId.set(state.id, [...(this.#byId.get(state.id) ?? []), row]);
  }

  add({ records, sent, invalid, restarted, repeatedAgain }: ExistingPage): void {
    if (restarted) this.#missing?.clear();
    this.#lacking = repeatedAgain ?? this.#lacking;
    records.forEach((record, index) => {
      this.addProduct({ record, row: sent[index] });
    });
    for (const { id, record } of invalid) this.#addInvalid(id, record);
  }

  addProduct(product: Read<AnyProduct>, canBeMissing = true): void {
    const { id } = product.record;
    const key = this.#keyOf(product);
    const row = key === undefined ? undefined : this.#rows.byKey.get(key);
    if (row !== undefined) this.#addByKey(row, product);
    if (key !== undefined) this.#compareSpellings(id, key);
    const claimants = this.#byId.get(id) ?? [];
    for (const claimant of claimants) {
      if (claimant === row || claimant.foundBy === 'key') continue;
      claimant.foundBy = key === undefined ? 'id_without_key' : 'id';
      claimant.otherKey = key;
      this.#setProduct(claimant, product);
    }
    const isKept = row !== undefined || claimants.length > 0 || !canBeMissing;
    if (key !== undefined) this.#missing?.add(product, key, isKept);
  }

  /** What was seen of a row; `reason` says why it is not clear which product it means. */
  sightOf(row: PushRow): { readonly sight: Sight; readonly reason: string | undefined } {
    const reason = this.#conflictOf(row);
    const { id, foundBy, lookUp } = row;
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
    const { id, otherIds, similar, foundBy } = row;
    if (otherIds.length > 0) return `products ${[id, ...otherIds].join(', ')} have this key`;
    if (this.#isShared(row)) return `product ${id} belongs to two rows`;
    if (row.conflict !== undefined) return row.conflict;
    if (foundBy === 'key') return undefined;
    if (foundBy === 'id_without_key')
      return `product ${id}, which was pushed under this key before, has no key`;
    if (similar !== undefined) {
      return `product ${similar.id} may be the one: ${spellings(row.key, similar.key)}`;
    }
    if (id !== undefined || row.state.is === 'made') return undefined;
    // Of rows that the service may store under one key, only the first is created.
    for (const other of this.#rows.similarTo(row.key)) {
      if (other === row) return undefined;
      if (other.id === undefined)
        return `an earlier row may mean the same product: ${spellings(row.key, other.key)}`;
    }
    return undefined;
  }

  /** Whether the product of a row is known as that of another row too. */
  #isShared(row: PushRow): boolean {
    const { id, foundBy } = row;
    if (id === undefined) return false;
    const others = (this.#byId.get(id) ?? []).filter((other) => other !== row && other.foundBy === 'id');
    if (others.length > 0 || foundBy !== 'id') return others.length > 0;
    const owner = this.#rows.byKey.get(row.otherKey ?? '');
    return owner !== undefined && [owner.id, ...owner.otherIds].includes(id);
  }

  /** Remembers for each row a product that may have its key in another spelling. */
  #compareSpellings(id: string, key: string): void {
    for (const row of this.#rows.similarTo(key)) {
      if (row.key !== key) row.similar ??= { id, key };
    }
  }

  #addByKey(row: PushRow, product: Read<AnyProduct>): void {
    const { id } = product.record;
    const isFirst = row.foundBy !== 'key';
    row.foundBy = 'key';
    if (isFirst || row.id === id) this.#setProduct(row, product);
    else if (!row.otherIds.includes(id)) row.otherIds = [...row.otherIds, id];
  }

  #setProduct(row: PushRow, { record, row: sent }: Read<AnyProduct>): void {
    const draft = JSON.parse(row.draft) as Fields;
    const fields = changedFields(sent as Fields, draft, this.#options.facts.fields);
    const names = JSON.stringify(fields);
    const known = this.#fieldLists.get(names) ?? fields;
    this.#fieldLists.set(names, known);
    row.id = record.id;
    row.fields = known;
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

  #keyOf(product: Read<AnyProduct>): string | undefined {
    let key: unknown;
    try {
      key = this.#options.keyOf(product);
    } catch (error) {
      throw new InvalidInputError('key', 'threw for an existing product', {}, { cause: error });
    }
    return typeof key === 'string' && key !== '' ? key : undefined;
  }
}
