// What is known of the rows, and what is to be written.

import type { Fields } from './draft.ts';
import type { Drafts } from './drafts.ts';

/** A row, and what is known of its product. */
export class Row {
  readonly key: string;
  /** Its position in `rows`. */
  readonly index: number;
  readonly #drafts: Drafts;
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

  constructor({ key, index }: { key: string; index: number }, draft: string, drafts: Drafts) {
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
