// Reads the rows: one compact draft for each key, and later what is known of its product.

import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { type Fields, normalised } from './draft.ts';
import { DraftBuffer } from './draft-buffer.ts';
import type { ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** A row, and what is known of its product. */
export class Row {
  readonly key: string;
  /** Its position in `rows`. */
  readonly index: number;
  readonly #drafts: DraftBuffer;
  readonly #position: number;
  /** Its product: the one that has its key, or else the one of the stored id; then the one that a create returned. */
  id: string | undefined;
  /** The fields in which the existing product differs from the row. */
  fields: readonly string[] = NONE;
  /** More products that have its key. */
  otherIds: readonly string[] = NONE;
  /** The id that the store remembers for its key. */
  storedId: string | undefined;
  /** Whether the product has another key, and was found by the stored id. */
  isFoundByStore = false;

  constructor({ key, index }: { key: string; index: number }, draft: string, drafts: DraftBuffer) {
    this.key = key;
    this.index = index;
    this.#drafts = drafts;
    this.#position = drafts.add(draft);
  }

  /** The normalised draft as JSON. */
  get draft(): string {
    return this.#drafts.at(this.#position);
  }
}

const NONE: readonly string[] = [];

/** The rows by key. */
export interface Rows {
  readonly byKey: Map<string, Row>;
  /** The keys of rows that cannot be written: their products are not missing. */
  readonly failedKeys: ReadonlySet<string>;
  /** Whether every row has a key: if not, it is unknown which products are missing. */
  readonly haveKeys: boolean;
}

/** Reads the rows to their end. Reports those that can never be written: without a key, invalid, duplicate. */
export async function readRows(
  { rows, key, facts, signal }: ResolvedPushOptions,
  results: Results,
): Promise<Rows> {
  const byKey = new Map<string, Row>();
  const drafts = new DraftBuffer();
  const failedKeys = new Set<string>();
  let haveKeys = true;
  for await (const row of rows) {
    signal?.throwIfAborted();
    const index = results.rows++;
    if (results.rows % 1000 === 0) results.advance(1000);
    let name: string | undefined;
    try {
      name = keyOf(row, key, index);
      if (byKey.has(name) || failedKeys.has(name)) {
        results.add({ key: name, row: index, action: 'duplicate' });
        continue;
      }
      const draft = normalised(JSON.parse(facts.body(row)) as Fields, facts.fields);
      byKey.set(name, new Row({ key: name, index }, JSON.stringify(draft), drafts));
    } catch (error) {
      if (!isAccountingError(error)) throw error;
      if (name === undefined) haveKeys = false;
      else failedKeys.add(name);
      results.add({ key: name, row: index, action: 'failed', error });
    }
  }
  return { byKey, failedKeys, haveKeys };
}

function keyOf(row: object, key: ResolvedPushOptions['key'], index: number): string {
  let value: unknown;
  try {
    value = key(row);
  } catch (error) {
    throw new InvalidInputError(`rows[${index}]`, 'has no key: the key function threw', {}, { cause: error });
  }
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidInputError(`rows[${index}]`, 'has no key: it must be a string that is not empty');
}
