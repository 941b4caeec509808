// Which product each row means, by what a list and look-ups showed.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { momentOf } from '../reading/company.ts';
import type { RecordRow } from '../reading/source.ts';
import type { PushChange } from '../reports/push-report.ts';
import type { CreateState, MadeSight, ProductFacts, SeenProduct, Sight } from './create.ts';
import { changedFields, type JsonFields } from './draft.ts';
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

/** What was seen of the products of a row. */
interface Seen {
  /** Those with exactly its key. */
  readonly exact: readonly ShownProduct[];
  /** Those whose folded key is the same, if no row has exactly their key. */
  readonly similar: readonly ShownProduct[];
  /** The ids of those whose key only looks alike, and one of these keys. */
  readonly alike: readonly string[];
  readonly alikeKey: string;
  /** The one that has the id of its product, but another key. */
  readonly known: ShownProduct | undefined;
  readonly lookUp: LookUpResult | undefined;
}

const NOTHING_SEEN: Seen = {
  exact: [],
  similar: [],
  alike: [],
  alikeKey: '',
  known: undefined,
  lookUp: undefined,
};

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
  readonly #seen = new Map<PushRow, Seen>();
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

  /** Takes the next product that has this id as one that the row may have. Forgets what was seen of the row. */
  expect(row: PushRow, state: CreateState): void {
    this.#seen.delete(row);
    if (state.is === 'made' && !this.#byId.get(state.id)?.includes(row))
      this.#byId.set(state.id, [...(this.#byId.get(state.id) ?? []), row]);
  }

  /** Takes in a product. `isListed`: a list showed it. */
  add(product: RecordRow<AnyProduct>, isListed: boolean): void {
    const given = naturalKey(this.#options, product);
    const facts = { ...factsOf(product, given), isListed };
    const claimants = this.#byId.get(facts.id) ?? [];
    const group = this.#rows.get(facts.key);
    const owner = group?.find(({ key }) => key === given);
    if (owner !== undefined) this.#addTo(owner, 'exact', product, facts);
    else if (group !== undefined) this.#addTo(group[0], 'similar', product, facts);
    if (facts.key !== '') this.#addAlike(given, facts);
    for (const row of claimants)
      if (row.folded !== facts.key) this.#note(row, { known: this.#shown(row, product, facts) });
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
    this.#note(row, { lookUp });
  }

  /** Whether no product that a row can mean was shown. */
  isUnseen(row: PushRow): boolean {
    return this.#lacksKey(row) && this.#of(row).known === undefined;
  }

  /** Whether a product has the key of a row. */
  hasKey(row: PushRow): boolean {
    return !this.#lacksKey(row);
  }

  /** Whether a product has exactly the key of a row. */
  hasExact(row: PushRow): boolean {
    return this.#of(row).exact.length > 0;
  }

  /** The product of a row that has another key now, or none. */
  renumbered(row: PushRow): ShownProduct | undefined {
    return this.#lacksKey(row) ? this.#of(row).known : undefined;
  }

  sightOf(row: PushRow): RowSight {
    const { exact, similar, alike, alikeKey, known } = this.#of(row);
    const candidates = exact.length > 0 ? exact : similar;
    const [product] = candidates;
    const ids = candidates.map(({ id }) => id);
    if (candidates.length > 1) {
      const reason = `products ${ids.join(', ')} have this key`;
      return { sight: { products: 'several' }, product, ids, reason };
    }
    if (product !== undefined) return { sight: { products: 'one', product }, product, ids, reason: '' };
    if (alike.length > 0) {
      const reason = `product ${alike[0]} may be the one: ${alikeKey} looks like ${JSON.stringify(row.key)}`;
      return { sight: { products: 'several' }, product, ids: alike, reason };
    }
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
    const { known, lookUp } = this.#of(row);
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
    const { exact, similar } = this.#of(row);
    return exact.length + similar.length === 0;
  }

  #of(row: PushRow): Seen {
    return this.#seen.get(row) ?? NOTHING_SEEN;
  }

  #note(row: PushRow, more: Partial<Seen>): void {
    this.#seen.set(row, { ...this.#of(row), ...more });
  }

  /** A read that begins again shows a product twice. */
  #addTo(row: PushRow, where: 'exact' | 'similar', product: RecordRow<AnyProduct>, facts: SeenProduct): void {
    const others = this.#of(row)[where].filter(({ id }) => id !== facts.id);
    this.#note(row, { [where]: [...others, this.#shown(row, product, facts)] });
  }

  #addAlike(given: string, { id, key }: SeenProduct): void {
    const look = lookOf(given);
    const group = look === key ? undefined : this.#rows.get(look);
    const groups = [...(this.#byLook.get(look) ?? []), ...(group === undefined ? [] : [group])];
    for (const row of groups.flat()) {
      const { alike } = this.#of(row);
      if (row.folded !== key && !alike.includes(id))
        this.#note(row, { alike: [...alike, id], alikeKey: JSON.stringify(given) });
    }
  }

  #shown(row: PushRow, { row: sent }: RecordRow<AnyProduct>, facts: SeenProduct): ShownProduct {
    const { source, keyField, dryRun } = this.#options;
    const draft = JSON.parse(row.draft) as JsonFields;
    const product = sent as JsonFields;
    const fields = changedFields(product, draft, { kinds: source.fields, rowKey: row.folded, keyField });
    const names = JSON.stringify(fields);
    const same = this.#fieldLists.get(names) ?? fields;
    this.#fieldLists.set(names, same);
    const changes = dryRun
      ? fields.map((field) => ({ field, from: product[field] ?? null, to: draft[field] }))
      : [];
    return { ...facts, fields: same, changes };
  }
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
    throw new InvalidInputError('key', 'threw for an existing product', {}, { cause: error });
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
