// Reads the rows: one compact draft for each key, and later what is known of its product.

import { type AnyAccountingError, isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { each } from '../reading/each.ts';
import { type CreateState, NONE } from './create.ts';
import { type Fields, normalised } from './draft.ts';
import { DraftBuffer } from './draft-buffer.ts';
import { folded } from './natural-key.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

interface KeyedRow {
  readonly key: string;
  readonly index: number;
  readonly row: object | undefined;
}

/** A row, and what is known of its product. */
export class PushRow {
  readonly key: string;
  /** Its position in `rows`. */
  readonly index: number;
  /** The row itself, kept only if `onResult` gets it. */
  readonly row: object | undefined;
  readonly #drafts: DraftBuffer;
  readonly #position: number;
  /** The next row whose key a service may store as the same. */
  nextSimilar: PushRow | undefined;
  /** What is known of its create. Changed through the memory alone, which the store follows. */
  state: CreateState = NONE;
  /** Its product by the last read: the one that has its key, or else the one that it is known to have. */
  id: string | undefined;
  /** The fields in which the product differs from the row. */
  fields: readonly string[] = NOTHING;
  /** The fields that this run has sent in updates, unless the service rejected them. */
  fieldsSent: readonly string[] = NOTHING;
  /** More products that have its key. */
  otherIds: readonly string[] = NOTHING;
  /** How its product was found. One that was found by its id has another key, or none. */
  foundBy: 'key' | 'id' | 'id_without_key' | undefined;
  /** The key that the product has, if it was found by its id. */
  otherKey: string | undefined;
  /** What a get of its known product, which the list did not show, found out. */
  lookUp: 'missing' | 'failed' | undefined;
  /** Why it cannot be known whether the row still has its known product. */
  conflict: string | undefined;
  /** A product that may have its key in another spelling. */
  similar: { readonly id: string; readonly key: string } | undefined;
  /** The last error of its calls. */
  error: AnyAccountingError | undefined;

  constructor({ key, index, row }: KeyedRow, draft: string, drafts: DraftBuffer) {
    this.key = key;
    this.index = index;
    this.row = row;
    this.#drafts = drafts;
    this.#position = drafts.add(draft);
  }

  /** Before the products are read again. */
  forget(): void {
    this.id = undefined;
    this.fields = NOTHING;
    this.otherIds = NOTHING;
    this.foundBy = undefined;
    this.otherKey = undefined;
    this.lookUp = undefined;
    this.conflict = undefined;
    this.similar = undefined;
  }

  /** The normalised draft as JSON. */
  get draft(): string {
    return this.#drafts.at(this.#position);
  }
}

const NOTHING: readonly string[] = [];

/** The rows by key. */
export interface Rows {
  readonly byKey: ReadonlyMap<string, PushRow>;
  /** The rows with a key that a service may store as this one, in their order. */
  similarTo(key: string): Iterable<PushRow>;
  /** The keys of rows that cannot be written: their products are not missing. */
  readonly failedKeys: Set<string>;
  /** Whether every row has a key: if not, it is unknown which products are missing. */
  readonly haveKeys: boolean;
}

/** Reads the rows to their end. Reports those that can never be written: without a key, invalid, duplicate. */
export async function readRows(
  { rows, key, facts, onResult, signal }: ResolvedPushOptions,
  results: Results,
): Promise<Rows> {
  const byKey = new Map<string, PushRow>();
  const byForm = new Map<string, PushRow>();
  function* similarTo(key: string): Generator<PushRow> {
    for (let row = byForm.get(folded(key)); row !== undefined; row = row.nextSimilar) yield row;
  }
  const drafts = new DraftBuffer();
  const failedKeys = new Set<string>();
  let haveKeys = true;
  for await (const row of each(rows, 'rows', signal)) {
    const index = results.rows++;
    if (results.rows % 1000 === 0) results.advance(1000);
    let name: string | undefined;
    try {
      name = rowKey(row, key, index);
      if (byKey.has(name) || failedKeys.has(name)) {
        results.add({ key: name, index, row }, { action: 'duplicate' });
        continue;
      }
      const draft = normalised(JSON.parse(facts.body(row, 'draft')) as Fields, facts.fields);
      const kept = onResult && row;
      const added = new PushRow({ key: name, index, row: kept }, JSON.stringify(draft), drafts);
      const last = [...similarTo(name)].at(-1);
      if (last === undefined) byForm.set(folded(name), added);
      else last.nextSimilar = added;
      byKey.set(name, added);
    } catch (thrown) {
      // Such as what a getter of the row throws.
      const error = isAccountingError(thrown) ? thrown : unreadable(index, thrown);
      if (name === undefined) haveKeys = false;
      else failedKeys.add(name);
      results.add({ key: name, index, row }, { action: 'failed', error });
    }
  }
  return { byKey, similarTo, failedKeys, haveKeys };
}

function unreadable(index: number, cause: unknown): InvalidInputError {
  return new InvalidInputError(`rows[${index}]`, 'cannot be read: it threw', {}, { cause });
}

function rowKey(row: object, key: ResolvedPushOptions['key'], index: number): string {
  let value: unknown;
  try {
    value = key(row);
  } catch (error) {
    throw new InvalidInputError(`rows[${index}]`, 'has no key: the key function threw', {}, { cause: error });
  }
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidInputError(`rows[${index}]`, 'has no key: it must be a string that is not empty');
}
