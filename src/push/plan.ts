// Decides what to do about each row: create, update, nothing, or report a conflict.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import type { InvalidRecord } from '../events.ts';
import { sentOf } from '../schemas/as-sent.ts';
import { changedFields, type Fields } from './draft.ts';
import type { ExistingPage } from './existing.ts';
import { type Missing, MissingProducts } from './missing.ts';
import { folded, spellings, trimmed } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Outcome, Subject } from './results.ts';
import type { PushRow, Rows } from './rows.ts';

/** What is to be done. */
export interface Plan {
  readonly creates: readonly PushRow[];
  /** Rows whose product differs in some {@link PushRow.fields}. */
  readonly updates: readonly PushRow[];
  readonly missing: readonly Missing[];
  /** Rows whose product has their values. */
  readonly unchanged: readonly PushRow[];
  /** Rows of which it is not clear what product they mean, and why. */
  readonly conflicts: ReadonlyMap<PushRow, string>;
  /** Rows without a product that may exist anyway, because the list was incomplete. */
  readonly unseen: readonly PushRow[];
}

/** Takes in the existing products page by page, then plans. */
export class Planner {
  readonly #options: ResolvedPushOptions;
  readonly #rows: Rows;
  /** The rows that the store has an id for, by that id. */
  readonly #byStoredId = new Map<string, PushRow[]>();
  /** The rows by the form of their key in which a service may store it. */
  readonly #byForm = new Map<string, PushRow[]>();
  /** Whether products have keys with letters of this case: then the service keeps them. */
  #keepsUpper = false;
  #keepsLower = false;
  /** Whether two products have keys that differ only in case. */
  #differInCase = false;
  /** How many rows a second read dropped as repeats: as many products it can have missed. */
  #lacking = 0;
  /** One list for all rows that differ in the same fields, by its names. */
  readonly #fieldLists = new Map<string, readonly string[]>();
  readonly #missing: MissingProducts;

  constructor(options: ResolvedPushOptions, rows: Rows) {
    this.#options = options;
    this.#rows = rows;
    this.#missing = new MissingProducts(options, rows);
    for (const row of rows.byKey.values()) {
      const form = folded(row.key);
      const alike = this.#byForm.get(form);
      if (alike === undefined) this.#byForm.set(form, [row]);
      else alike.push(row);
      if (row.storedId === undefined) continue;
      const others = this.#byStoredId.get(row.storedId);
      if (others === undefined) this.#byStoredId.set(row.storedId, [row]);
      else others.push(row);
    }
  }

  add({ records, invalid, restarted, repeatedAgain }: ExistingPage): void {
    if (restarted) this.#missing.clear();
    this.#lacking = repeatedAgain ?? this.#lacking;
    for (const product of records) this.#addProduct(product);
    for (const record of invalid) this.#addInvalid(record);
  }

  /** Takes in products that were written since the others were added. */
  addChanges(page: ExistingPage, rowById: ReadonlyMap<string, PushRow>): void {
    for (const product of page.records) {
      this.#missing.delete(product.id);
      const row = rowById.get(product.id);
      if (row?.foundBy !== 'key' || this.#productKey(product) === row.key) continue;
      const [id, ...otherIds] = row.otherIds;
      row.id = id;
      row.otherIds = otherIds;
      if (id === undefined) row.foundBy = undefined;
    }
    this.add({ ...page, restarted: false });
  }

  /** The rows whose stored product no response showed. */
  unseen(): readonly PushRow[] {
    return [...this.#byStoredId.values()].flat().filter(({ id }) => id === undefined);
  }

  plan(): Plan {
    const creates: PushRow[] = [];
    const updates: PushRow[] = [];
    const unchanged: PushRow[] = [];
    const conflicts = new Map<PushRow, string>();
    const sharing = this.#sharingRows();
    for (const row of this.#rows.byKey.values()) {
      const reason = this.#conflictOf(row, sharing);
      if (reason !== undefined) conflicts.set(row, reason);
      else if (row.id === undefined) creates.push(row);
      else if (row.fields.length > 0) updates.push(row);
      else unchanged.push(row);
    }
    const isIncomplete = this.#lacking > 0 && this.#options.incompleteList === 'fail';
    // A row that is not written may mean a product whose key is spelt in another way.
    const uncertain = [...[...conflicts.keys()].map(({ key }) => key), ...this.#rows.failedKeys];
    return {
      creates: isIncomplete ? [] : creates,
      updates,
      missing: this.#missing.checked(new Set(uncertain.map(folded))),
      unchanged,
      conflicts,
      unseen: isIncomplete ? creates : [],
    };
  }

  /** Why it is not clear which product a row means; undefined if it is. */
  #conflictOf(row: PushRow, sharing: ReadonlySet<PushRow>): string | undefined {
    const { id, otherIds, similar } = row;
    if (otherIds.length > 0) return `products ${[id, ...otherIds].join(', ')} have this key`;
    if (sharing.has(row)) return `product ${id} belongs to two rows`;
    if (row.foundBy === 'key') return undefined;
    if (row.foundBy === 'stored_id_without_key')
      return `product ${id}, which was pushed under this key before, has no key`;
    if (similar !== undefined && !this.#mayDiffer(row, similar.key)) {
      return `product ${similar.id} may be the one: ${spellings(row.key, similar.key)}`;
    }
    if (id !== undefined) return undefined;
    // Of rows that the service may store under one key, only the first is created.
    const earlier = this.#byForm.get(folded(row.key))?.find(({ key }) => !this.#mayDiffer(row, key));
    return earlier === undefined || earlier === row || earlier.id !== undefined
      ? undefined
      : `an earlier row may mean the same product: ${spellings(row.key, earlier.key)}`;
  }

  /** Whether two keys of one form can be those of two products: they differ in case, and the service keeps the case. */
  #mayDiffer({ key }: PushRow, other: string): boolean {
    if (trimmed(key) === trimmed(other)) return false;
    if (this.#differInCase) return true;
    return this.#keepsUpper && this.#keepsLower && this.#rows.byKey.get(other)?.key === other;
  }

  #addProduct(product: AnyProduct): void {
    const key = this.#productKey(product);
    const row = key === undefined ? undefined : this.#rows.byKey.get(key);
    if (row !== undefined) this.#addByKey(row, product);
    if (key !== undefined) this.#compareSpellings(product.id, key);
    const claimants = this.#byStoredId.get(product.id) ?? [];
    for (const claimant of claimants) {
      if (claimant === row || claimant.foundBy === 'key') continue;
      claimant.foundBy = key === undefined ? 'stored_id_without_key' : 'stored_id';
      this.#setProduct(claimant, product);
    }
    if (key !== undefined) this.#missing.add(product, key, row !== undefined || claimants.length > 0);
  }

  /** Remembers for each row a product that may have its key in another spelling. */
  #compareSpellings(id: string, key: string): void {
    this.#keepsUpper ||= key !== key.toLowerCase();
    this.#keepsLower ||= key !== key.toUpperCase();
    for (const row of this.#byForm.get(folded(key)) ?? []) {
      if (row.key === key) continue;
      const isNear = trimmed(row.key) === trimmed(key);
      const other = row.foundBy === 'key' ? row.key : row.similar?.key;
      if (other !== undefined && trimmed(other) !== trimmed(key)) this.#differInCase = true;
      if (row.similar === undefined || isNear) row.similar = { id, key };
    }
  }

  #addByKey(row: PushRow, product: AnyProduct): void {
    const { id } = product;
    const isFirst = row.foundBy !== 'key';
    row.foundBy = 'key';
    if (isFirst || row.id === id) this.#setProduct(row, product);
    else if (!row.otherIds.includes(id)) row.otherIds = [...row.otherIds, id];
  }

  #setProduct(row: PushRow, product: AnyProduct): void {
    const draft = JSON.parse(row.draft) as Fields;
    const fields = changedFields(sentOf(product), draft, this.#options.facts.fields);
    const names = JSON.stringify(fields);
    const known = this.#fieldLists.get(names) ?? fields;
    this.#fieldLists.set(names, known);
    row.id = product.id;
    row.fields = known;
  }

  /** An existing product that cannot be read must not be created again. */
  #addInvalid({ id, issues, record }: InvalidRecord): void {
    let key: string | undefined;
    try {
      key = this.#productKey(record as AnyProduct);
    } catch {
      // Not even its key can be read.
    }
    const row = key === undefined ? undefined : this.#rows.byKey.get(key);
    if (key !== undefined && row === undefined) return;
    throw new UnexpectedResponseError(
      `The service listed product ${id ?? '(no id)'} in an unexpected form (${issues.join('; ')}), so it cannot be compared with the rows. Correct the product, or the schema of the client.`,
      { outcome: 'not_sent' },
      { status: 200, reason: 'wrong_shape', issues, recordId: id },
    );
  }

  #productKey(product: AnyProduct): string | undefined {
    let key: string | null | undefined;
    try {
      key = this.#options.key(product);
    } catch (error) {
      throw new InvalidInputError('key', 'threw for an existing product', {}, { cause: error });
    }
    return typeof key === 'string' && key !== '' ? key : undefined;
  }

  /** The rows that share one product: it has the key of one and was that of another before. */
  #sharingRows(): ReadonlySet<PushRow> {
    const firstOf = new Map<string, PushRow>();
    const sharing = new Set<PushRow>();
    for (const row of this.#rows.byKey.values()) {
      for (const id of [row.id, ...row.otherIds]) {
        if (id === undefined || !this.#byStoredId.has(id)) continue;
        const first = firstOf.get(id);
        if (first === undefined) firstOf.set(id, row);
        else sharing.add(first).add(row);
      }
    }
    return sharing;
  }
}

type PlannedResult = readonly [subject: Subject, outcome: Outcome];

/** The results of the rows for which nothing is to be written. */
export function* settledResults({ unchanged, conflicts, unseen }: Plan): Generator<PlannedResult, void> {
  for (const row of unchanged) yield [row, { action: 'unchanged', id: row.id as string }];
  for (const [row, reason] of conflicts) {
    const id = row.id ?? row.similar?.id;
    yield [row, { action: 'conflict', id, ids: id === undefined ? [] : [id, ...row.otherIds], reason }];
  }
  for (const row of unseen) yield [row, { action: 'failed', error: incompleteList() }];
}

/** All results, as they will be if every write succeeds. */
export function* plannedResults(plan: Plan): Generator<PlannedResult, void> {
  yield* settledResults(plan);
  for (const row of plan.creates) yield [row, { action: 'created' }];
  for (const row of plan.updates) {
    yield [row, { action: 'updated', id: row.id as string, fields: row.fields }];
  }
  for (const { id, key, patch } of plan.missing) {
    const isDeleted = patch === undefined;
    yield [
      { key },
      isDeleted ? { action: 'deleted', id } : { action: 'updated', id, fields: Object.keys(patch) },
    ];
  }
}

function incompleteList(): UnexpectedResponseError {
  return new UnexpectedResponseError(
    'The list is incomplete: it repeated products, so it also missed some, and the product of this row can be one of them. Nothing was created. Order the list by id, or pass incompleteList: "create".',
    { method: 'GET', path: '/products', outcome: 'not_sent' },
    { status: 200, reason: 'wrong_content' },
  );
}
