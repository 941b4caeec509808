// Decides what to do about each row: create, update, nothing, or report a conflict.

import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { PushReport } from '../errors/push-report.ts';
import { ReconcileAbortedError, type ReconcileAbortReason } from '../errors/reconcile-aborted-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import type { InvalidRecord } from '../events.ts';
import { changedFields, type Fields, normalised, picked } from './draft.ts';
import type { ExistingPage } from './existing.ts';
import type { PushMemory } from './memory.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';
import type { Row, Rows } from './rows.ts';

/** A product that no row has. */
export interface Missing {
  readonly id: string;
  readonly key: string;
  /** The fields to change; undefined if it is to be deleted. */
  readonly patch: Fields | undefined;
}

/** What is to be written. */
export interface Plan {
  readonly creates: readonly Row[];
  /** Rows whose product differs in some {@link Row.fields}. */
  readonly updates: readonly Row[];
  readonly missing: readonly Missing[];
}

/** Takes in the existing products page by page, then plans. */
export class Planner {
  readonly #options: ResolvedPushOptions;
  readonly #rows: Rows;
  /** The rows that the store has an id for, by that id. */
  readonly #byStoredId = new Map<string, Row[]>();
  /** The row that has the key of a product which another row claims through the store. */
  readonly #rivals = new Map<string, Row>();
  /** One list for all rows that differ in the same fields, by its names. */
  readonly #fieldLists = new Map<string, readonly string[]>();
  /** By id, because a read that starts again shows a product twice. */
  #missing = new Map<string, Missing>();
  /** Products with a key, and those of them that have a row. */
  #withKey = 0;
  #withRow = 0;

  constructor(options: ResolvedPushOptions, rows: Rows) {
    this.#options = options;
    this.#rows = rows;
    for (const row of rows.byKey.values()) {
      if (row.storedId === undefined) continue;
      const others = this.#byStoredId.get(row.storedId);
      if (others === undefined) this.#byStoredId.set(row.storedId, [row]);
      else others.push(row);
    }
  }

  add({ records, invalid, restarted }: ExistingPage): void {
    if (restarted) {
      this.#missing = new Map();
      this.#withKey = 0;
      this.#withRow = 0;
    }
    for (const product of records) this.#addProduct(product);
    for (const record of invalid) this.#addInvalid(record);
  }

  /** Reports every row that needs no write, and lets the store remember the ids that are known. */
  plan(results: Results, memory: PushMemory | undefined): Plan {
    const creates: Row[] = [];
    const updates: Row[] = [];
    const conflicts = this.#storeConflicts();
    for (const row of this.#rows.byKey.values()) {
      const { key, index, id, fields, otherIds, storedId } = row;
      if (id === undefined) {
        creates.push(row);
        continue;
      }
      memory?.settled(key);
      if (otherIds.length > 0 || conflicts.has(row)) {
        results.add({ key, row: index, action: 'conflict', id, ids: [id, ...otherIds] });
      } else if (fields.length > 0) {
        updates.push(row);
      } else {
        memory?.found(key, id, storedId);
        results.add({ key, row: index, action: 'unchanged', id });
      }
    }
    return { creates, updates, missing: this.#checkedMissing() };
  }

  #addProduct(product: AnyProduct): void {
    const key = this.#keyOf(product);
    const row = key === undefined ? undefined : this.#rows.byKey.get(key);
    if (row !== undefined) this.#addByKey(row, product);
    const claimants = this.#byStoredId.get(product.id) ?? [];
    for (const claimant of claimants) {
      if (claimant === row || (claimant.id !== undefined && !claimant.isFoundByStore)) continue;
      claimant.isFoundByStore = true;
      this.#setProduct(claimant, product);
    }
    if (row !== undefined && claimants.length > 0) this.#rivals.set(product.id, row);

    if (key === undefined || this.#options.missing === 'keep') return;
    this.#withKey++;
    if (row !== undefined || claimants.length > 0 || this.#rows.failedKeys.has(key)) this.#withRow++;
    else this.#addMissing(product, key);
  }

  #addByKey(row: Row, product: AnyProduct): void {
    const { id } = product;
    const isFirst = row.id === undefined || row.isFoundByStore;
    row.isFoundByStore = false;
    if (isFirst || row.id === id) this.#setProduct(row, product);
    else if (!row.otherIds.includes(id)) row.otherIds = [...row.otherIds, id];
  }

  #setProduct(row: Row, product: AnyProduct): void {
    const draft = JSON.parse(row.draft) as Fields;
    const fields = changedFields(product, draft, this.#options.facts.fields);
    const names = fields.join();
    const known = this.#fieldLists.get(names) ?? fields;
    this.#fieldLists.set(names, known);
    row.id = product.id;
    row.fields = known;
  }

  /** Only a product that differs from its patch is a candidate: the others were changed by an earlier run. */
  #addMissing(product: AnyProduct, key: string): void {
    const { missing, facts } = this.#options;
    const { id } = product;
    if (missing === 'delete') this.#missing.set(id, { id, key, patch: undefined });
    if (typeof missing !== 'function') return;
    const patch = missing(product);
    if (patch === undefined) return;
    const wanted = normalised(JSON.parse(facts.body(patch)) as Fields, facts.fields);
    const fields = changedFields(product, wanted, facts.fields);
    if (fields.length > 0) this.#missing.set(id, { id, key, patch: picked(wanted, fields) });
  }

  /** An existing product that cannot be read must not be created again. */
  #addInvalid({ id, issues, record }: InvalidRecord): void {
    let key: string | undefined;
    try {
      key = this.#keyOf(record as AnyProduct);
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

  #keyOf(product: AnyProduct): string | undefined {
    let key: string | null | undefined;
    try {
      key = this.#options.key(product);
    } catch (error) {
      throw new InvalidInputError('key', 'threw for an existing product', {}, { cause: error });
    }
    return typeof key === 'string' && key !== '' ? key : undefined;
  }

  /** The rows that share one product: it has the key of one and was that of another before. */
  #storeConflicts(): ReadonlySet<Row> {
    const conflicts = new Set<Row>();
    for (const [id, rows] of this.#byStoredId) {
      const claimants = rows.filter(({ isFoundByStore }) => isFoundByStore);
      const rival = this.#rivals.get(id);
      const sharing = rival === undefined ? claimants : [...claimants, rival];
      if (claimants.length > 0 && sharing.length > 1) for (const row of sharing) conflicts.add(row);
    }
    return conflicts;
  }

  #checkedMissing(): readonly Missing[] {
    const missing = [...this.#missing.values()];
    if (missing.length === 0 || !this.#rows.haveKeys) return [];

    const maxCandidates = this.#options.maxCandidates ?? Math.max(50, Math.floor(this.#withKey / 10));
    const reason = this.#abortReason(missing.length, maxCandidates);
    if (reason !== undefined) throw this.#aborted(reason, missing.length, maxCandidates);
    return missing;
  }

  #abortReason(candidates: number, maxCandidates: number): ReconcileAbortReason | undefined {
    if (maxCandidates === Number.POSITIVE_INFINITY) return undefined;
    if (this.#rows.byKey.size + this.#rows.failedKeys.size === 0) return 'empty_read';
    if (this.#withRow === 0) return 'few_local_ids_seen';
    return candidates > maxCandidates ? 'too_many_candidates' : undefined;
  }

  #aborted(reason: ReconcileAbortReason, candidates: number, maxCandidates: number): ReconcileAbortedError {
    const { tenant } = this.#options;
    const rows = this.#rows.byKey.size + this.#rows.failedKeys.size;
    const found = `${candidates} products have no row, of ${this.#withKey} that have a key; `;
    const why = {
      empty_read: 'there are no rows',
      few_local_ids_seen: `none of the ${rows} rows has the key of a product`,
      too_many_candidates: `maxCandidates is ${maxCandidates}`,
      first_record_not_found: '',
    };
    const now = new Date();
    return new ReconcileAbortedError(
      `The push of ${tenant} was aborted: ${found}${why[reason]}; nothing was written. Check rows, key and the API key. If so many are really missing, pass a higher maxCandidates.`,
      {
        collection: 'products',
        pagination: undefined,
        local: this.#withKey,
        seen: rows,
        missing: rows - this.#withRow,
        candidates,
        deleted: 0,
        repaired: 0,
        startedAt: now,
        endedAt: now,
      },
      { reason, maxCandidates },
    );
  }
}

/** The counts as they will be once everything that was planned is written. */
export function plannedCounts({ creates, updates, missing }: Plan, results: Results): PushReport['counts'] {
  const deleted = missing.filter(({ patch }) => patch === undefined).length;
  const { counts } = results.report();
  return {
    ...counts,
    created: counts.created + creates.length,
    updated: counts.updated + updates.length + missing.length - deleted,
    deleted: counts.deleted + deleted,
  };
}

/** Reports what was planned and is not to be written. */
export function reportPlan({ creates, updates, missing }: Plan, results: Results): void {
  results.isDryRun = true;
  for (const { key, index } of creates) results.add({ key, row: index, action: 'created' });
  for (const { key, index, id, fields } of updates) {
    results.add({ key, row: index, action: 'updated', id, fields });
  }
  for (const { id, key, patch } of missing) {
    const action = patch === undefined ? 'deleted' : 'updated';
    results.add({ key, row: undefined, action, id, fields: Object.keys(patch ?? {}) });
  }
}
