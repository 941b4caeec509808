// The products that no row has, and what is to be done about them.

import { DeletionsAbortedError, type DeletionsAbortReason } from '../errors/deletions-aborted-error.ts';
import { mostCandidates } from '../reading/candidates.ts';
import type { RecordRow } from '../reading/source.ts';
import { changedFields, type JsonFields, normalised, picked } from './draft.ts';
import { folded } from './natural-key.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Rows } from './rows.ts';

/** A product that no row has. */
export interface Missing {
  readonly id: string;
  readonly key: string;
  /** The fields to change; undefined if it is to be deleted. */
  readonly patch: JsonFields | undefined;
}

export class MissingProducts {
  readonly #options: ResolvedPushOptions;
  readonly #rows: Rows;
  /** By id, because a read that starts again shows a product twice. */
  readonly #missing = new Map<string, Missing>();
  /** Products with a key, and those of them that have a row. */
  #withKey = 0;
  #withRow = 0;

  constructor(options: ResolvedPushOptions, rows: Rows) {
    this.#options = options;
    this.#rows = rows;
  }

  /** Takes in an existing product that has a key. */
  add({ record: product, row }: RecordRow<AnyProduct>, key: string, hasRow: boolean): void {
    const { missing, source, bodyOf } = this.#options;
    if (missing === 'keep') return;
    this.#withKey++;
    if (hasRow || this.#rows.failed.has(key)) {
      this.#withRow++;
      return;
    }
    const { id } = product;
    if (missing === 'delete') this.#missing.set(id, { id, key, patch: undefined });
    if (typeof missing !== 'function') return;
    const patch = missing(product);
    if (patch === undefined) return;
    // A product that does not differ from its patch was changed by an earlier run.
    const wanted = normalised(JSON.parse(bodyOf(patch, 'missing')) as JsonFields, source.fields);
    const fields = changedFields(row as JsonFields, wanted, source.fields);
    if (fields.length > 0) this.#missing.set(id, { id, key, patch: picked(wanted, fields) });
  }

  /** The read starts again. */
  clear(): void {
    this.#missing.clear();
    this.#withKey = 0;
    this.#withRow = 0;
  }

  /**
   * What is to be done about all but the products with a key of a form to keep. Throws if so many are missing that rows
   * or key are more likely to be wrong.
   */
  checked(formsToKeep: ReadonlySet<string>): readonly Missing[] {
    const missing = [...this.#missing.values()].filter(({ key }) => !formsToKeep.has(folded(key)));
    if (missing.length === 0 || !this.#rows.haveKeys) return [];

    const { tenant, missing: change, maxCandidates } = this.#options;
    const most = mostCandidates(maxCandidates, this.#withKey);
    if (most === Number.POSITIVE_INFINITY) return missing;
    const rows = this.#rows.byKey.size + this.#rows.failed.size;
    const candidates = missing.length;
    const abort = (reason: DeletionsAbortReason, why: string, enough = 'maxCandidates: Infinity') => {
      return new DeletionsAbortedError(
        `The push of ${tenant} was aborted: ${candidates} of ${this.#withKey} products would be ${change === 'delete' ? 'deleted' : 'changed'}, because no row has their key; ${why}; nothing was written.`,
        {
          collection: 'products',
          local: rows,
          seen: this.#withKey,
          missing: this.#withKey - this.#withRow,
          candidates,
        },
        {
          reason,
          maxCandidates: most,
          hint: `Check rows, key and the API key. If so many are really missing, pass ${enough}.`,
        },
      );
    };
    if (rows === 0) throw abort('empty_read', 'there are no rows');
    if (this.#withRow === 0) throw abort('few_local_ids_seen', 'no product has a row');
    if (candidates > most)
      throw abort('too_many_candidates', `maxCandidates is ${most}`, 'a higher maxCandidates');
    return missing;
  }
}
