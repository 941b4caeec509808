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
  /** The products that have its key, as the read showed them. */
  matches: readonly Match[] = NONE;
  /** The product that a create returned. */
  createdId: string | undefined;
  /** The id that the store remembers for its key. */
  storedId: string | undefined;
  /** The product of that id, if it exists and has another key. */
  stored: Match | undefined;

  constructor({ key, index }: { key: string; index: number }, draft: string, drafts: Drafts) {
    this.key = key;
    this.index = index;
    this.#drafts = drafts;
    this.#position = drafts.add(draft);
  }

  /** Its one product, if it exists. */
  get match(): Match | undefined {
    return this.matches[0] ?? this.stored;
  }

  /** The normalised draft as JSON. */
  get draft(): string {
    return this.#drafts.at(this.#position);
  }
}

/** A product of a row. */
export interface Match {
  readonly id: string;
  /** The fields in which it differs from the row. */
  readonly fields: readonly string[];
}

const NONE: readonly Match[] = [];

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
  /** Rows whose {@link Row.match} is to be changed. */
  readonly updates: readonly Row[];
  readonly missing: readonly Missing[];
}
