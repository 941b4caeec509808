// Which product each row means, by what a list and look-ups showed.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { momentOf } from '../reading/company.ts';
import type { RecordRow } from '../reading/source.ts';
import type { PushChange } from '../reports/push-report.ts';
import type { CreateState, MadeSight, ProductFacts, SeenProduct, Sight } from './create.ts';
import { changedFields, type JsonFields, ownValue } from './draft.ts';
import { folded, lookOf } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { PushRow, RowGroup, Rows } from './rows.ts';

/** A product that a row can mean, as it was shown. */
export interface ShownProduct extends SeenProduct {
  /** The fields in which it differs from the row. */
  readonly fields: readonly string[];
  /** Their values, in a dry run. */
  readonly changes: readonly PushChange[];
}

/** What a get of a product came to that no list of this look showed. */
type LookUpResult = Exclude<MadeSight['is'], 'shown'>;

/** A sight, and what the result of its row says. */
export interface RowSight {
  readonly sight: Sight;
  /** The product that the row means. */
  readonly product: ShownProduct | undefined;
  /** The products that it could mean. */
  readonly ids: readonly string[];
  /** Why it is not clear which, or why the list can lack it. */
  readonly reason: string;
}

/** Why the list that was read last can lack the product of a row. A look without a list knows no better. */
export interface ListFlaws {
  /** It has been shown to lack products. */
  isIncomplete: boolean;
  /** A product whose key cannot be read, so that any row can mean it. */
  unreadable: string | undefined;
  /** Products without an id that can be read, by folded key. */
  readonly withoutId: Map<string, string>;
}

type MatchOptions = Pick<ResolvedPushOptions, 'keyOf' | 'keyField' | 'source' | 'dryRun' | 'incompleteList'>;

/** Takes in the existing products page by page, and then those that were looked up. */
export class Match {
  readonly #options: MatchOptions;
  readonly #rows: Rows;
  /** The products with exactly the key of a row. */
  readonly #exact = new Map<PushRow, ShownProduct[]>();
  /** Those whose folded key is the same, by the first row that has it, if no row has exactly their key. */
  readonly #similar = new Map<PushRow, ShownProduct[]>();
  /** Those whose key only looks alike. */
  readonly #alike = new Map<PushRow, { readonly ids: readonly string[]; readonly key: string }>();
  /** Those that have the id of the product of a row, but another key. */
  readonly #known = new Map<PushRow, ShownProduct>();
  readonly #lookUps = new Map<PushRow, LookUpResult>();
  /** The rows whose key looks like that of others, by that look: few. */
  readonly #byLook = new Map<string, RowGroup[]>();
  /** The rows that are known to have a product, by its id. */
  readonly #byId = new Map<string, PushRow[]>();
  /** One list for all rows that differ in the same fields, by its names. */
  readonly #fieldLists = new Map<string, readonly string[]>();
  readonly #flaws: ListFlaws;

  constructor(options: MatchOptions, rows: Rows, flaws: ListFlaws) {
    this.#options = options;
    this.#rows = rows;
    this.#flaws = flaws;
    for (const group of rows.values()) {
      const look = lookOf(group[0].key);
      if (look !== group[0].folded) this.#byLook.set(look, [...(this.#byLook.get(look) ?? []), group]);
    }
  }

  /** Takes the product with the id that a row is known to have as one that it may have. */
  expect(row: PushRow, state: CreateState): void {
    if (state.is === 'made') this.#byId.set(state.id, [...(this.#byId.get(state.id) ?? []), row]);
  }

  /** The product of a row that has another key now is no longer its own. */
  release(row: PushRow): void {
    this.#known.delete(row);
  }

  /** Takes in a product. `isListed`: a list showed it. */
  add(product: RecordRow<AnyProduct>, isListed: boolean): void {
    const given = naturalKey(this.#options, product);
    const facts = factsOf(product, given);
    const group = this.#rows.get(facts.key);
    const owner = group?.find(({ key }) => key === given);
    const shown = (row: PushRow) => this.#shown(row, product, { facts, isListed });
    if (owner !== undefined) addTo(this.#exact, owner, shown(owner));
    else if (group !== undefined) addTo(this.#similar, group[0], shown(group[0]));
    if (facts.key !== '') this.#addAlike(given, facts);
    for (const row of this.#byId.get(facts.id) ?? [])
      if (row.folded !== facts.key) this.#known.set(row, shown(row));
  }

  /** A product that does not match the schema is compared as it was sent. Without a readable key, it may be that of any row. */
  addInvalid(id: string | undefined, sent: unknown): void {
    const name = id === undefined ? 'a product without an id' : `product ${id}`;
    let key: unknown;
    try {
      key = this.#options.keyOf({ record: sent as AnyProduct, row: sent }) ?? undefined;
    } catch {
      this.#flaws.unreadable ??= name;
      return;
    }
    if (key !== undefined && typeof key !== 'string') this.#flaws.unreadable ??= name;
    else if (id !== undefined) this.add({ record: { ...(sent as AnyProduct), id }, row: sent }, true);
    else if (key !== undefined) this.#flaws.withoutId.set(folded(key), name);
  }

  /** What a get of the product of a row came to. */
  noteLookUp(row: PushRow, lookUp: LookUpResult): void {
    this.#lookUps.set(row, lookUp);
  }

  /** Whether no product that a row can mean was shown. */
  isUnseen(row: PushRow): boolean {
    return this.#lacksKey(row) && !this.#known.has(row);
  }

  /** Whether a product has the key of a row. */
  hasKey(row: PushRow): boolean {
    return !this.#lacksKey(row);
  }

  /** Whether a product has exactly the key of a row. */
  hasExact(row: PushRow): boolean {
    return this.#exact.has(row);
  }

  /** The product of a row that has another key now, or none. */
  renumbered(row: PushRow): ShownProduct | undefined {
    return this.#lacksKey(row) ? this.#known.get(row) : undefined;
  }

  sightOf(row: PushRow): RowSight {
    const candidates = this.#exact.get(row) ?? this.#similar.get(row) ?? [];
    const [product] = candidates;
    const ids = candidates.map(({ id }) => id);
    if (candidates.length > 1) {
      const reason = `products ${ids.join(', ')} have this key`;
      return { sight: { products: 'several' }, product, ids, reason };
    }
    if (product !== undefined) return { sight: { products: 'one', product }, product, ids, reason: '' };
    const alike = this.#alike.get(row);
    if (alike !== undefined) {
      const products = `${alike.ids.length > 1 ? 'one of the products' : 'product'} ${alike.ids.join(', ')}`;
      const reason = `${products} may be the one: ${alike.key} looks like ${JSON.stringify(row.key)}`;
      return { sight: { products: 'several' }, product, ids: alike.ids, reason };
    }
    const known = this.#known.get(row);
    const { isIncomplete, withoutId, ...flaws } = this.#flaws;
    const unreadable = withoutId.get(row.folded) ?? flaws.unreadable;
    const isLacking = isIncomplete && this.#options.incompleteList === 'fail';
    return {
      sight: {
        products: 'none',
        mayLack: isLacking || unreadable !== undefined,
        made: this.#madeSight(row),
      },
      product: known,
      ids: known === undefined ? [] : [known.id],
      reason: known === undefined ? (unreadable ?? '') : this.#whyNotClear(known),
    };
  }

  #madeSight(row: PushRow): MadeSight | undefined {
    const known = this.#known.get(row);
    const lookUp = this.#lookUps.get(row);
    if (known === undefined) return lookUp && { is: lookUp };
    // Of two rows that are known to have the product, each could be meant.
    const others = (this.#byId.get(known.id) ?? []).filter((other) => other !== row);
    const isShared = others.some((other) => this.renumbered(other) !== undefined);
    const isTaken = known.key === '' || this.#rows.has(known.key) || isShared;
    return { is: 'shown', product: known, isTaken };
  }

  #whyNotClear({ id, key }: ShownProduct): string {
    if (key === '') return `product ${id}, which was pushed under this key before, has no key`;
    if (this.#rows.has(key))
      return `product ${id}, which was pushed under this key before, has that of another row`;
    return `product ${id}, which was pushed under this key before, has another key, and may be another product`;
  }

  #lacksKey(row: PushRow): boolean {
    return !this.#exact.has(row) && !this.#similar.has(row);
  }

  #addAlike(given: string, { id, key }: ProductFacts): void {
    const look = lookOf(given);
    const group = look === key ? undefined : this.#rows.get(look);
    for (const row of [...(this.#byLook.get(look) ?? []), ...(group === undefined ? [] : [group])].flat()) {
      if (row.folded === key) continue;
      const ids = this.#alike.get(row)?.ids ?? [];
      if (!ids.includes(id)) this.#alike.set(row, { ids: [...ids, id], key: JSON.stringify(given) });
    }
  }

  #shown(
    row: PushRow,
    { row: sent }: RecordRow<AnyProduct>,
    { facts, isListed }: { readonly facts: ProductFacts; readonly isListed: boolean },
  ): ShownProduct {
    const { source, keyField, dryRun } = this.#options;
    const draft = JSON.parse(row.draft) as JsonFields;
    const product = sent as JsonFields;
    const fields = changedFields(product, draft, { kinds: source.fields, rowKey: row.folded, keyField });
    const names = JSON.stringify(fields);
    const same = this.#fieldLists.get(names) ?? fields;
    this.#fieldLists.set(names, same);
    const changes = dryRun ? fields.map((field) => changeOf(field, product, draft)) : NO_CHANGES;
    return { ...facts, isListed, fields: same, changes };
  }
}

const NO_CHANGES: readonly PushChange[] = [];

function changeOf(field: string, product: JsonFields, draft: JsonFields): PushChange {
  return { field, from: ownValue(product, field) ?? null, to: draft[field] };
}

/** A read that begins again shows a product twice. */
function addTo(products: Map<PushRow, ShownProduct[]>, row: PushRow, product: ShownProduct): void {
  const others = products.get(row)?.filter(({ id }) => id !== product.id) ?? [];
  products.set(row, [...others, product]);
}

/** The natural key of a product as it was sent; empty without one. */
export function naturalKey(
  { keyOf }: Pick<ResolvedPushOptions, 'keyOf'>,
  product: RecordRow<AnyProduct>,
): string {
  try {
    const key: unknown = keyOf(product);
    return typeof key === 'string' ? key : '';
  } catch (error) {
    throw new InvalidInputError('key', `threw for product ${product.record.id}`, {}, { cause: error });
  }
}

/** What a product is known by. `key` is its natural key as it was sent. */
export function factsOf({ record, row }: RecordRow<AnyProduct>, key: string): ProductFacts {
  const { createdAt } = row as JsonFields;
  return { id: record.id, createdAt: secondOf(createdAt), key: folded(key) };
}

/** A moment in whole seconds, because the response to a create shows milliseconds that a list does not. */
function secondOf(createdAt: unknown): number | string | undefined {
  const moment = momentOf(createdAt);
  return typeof moment === 'number' ? Math.floor(moment / 1000) : moment;
}
