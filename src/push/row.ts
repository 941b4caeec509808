// What is known of the rows, and what is to be written.

import type { Fields } from './draft.ts';

/** A row, and what is known of its product. */
export interface Row {
  readonly key: string;
  /** Its position in `rows`. */
  readonly index: number;
  /** The normalised draft as JSON, which takes a fraction of the memory of an object. Empty once it is not needed. */
  draft: string;
  /** The products that have its key, as the read showed them. */
  matches: readonly Match[];
  /** The product that a create returned. */
  createdId?: string;
  /** The id that the store remembers for its key. */
  storedId?: string;
  /** The product of that id, if it exists and has another key. */
  stored?: Match;
}

/** A product of a row. */
export interface Match {
  readonly id: string;
  /** The fields in which it differs from the row. */
  readonly fields: readonly string[];
}

/** The rows by key. */
export interface Rows {
  readonly byKey: Map<string, Row>;
  /** The keys of rows that cannot be written: their products are not missing. */
  readonly failedKeys: ReadonlySet<string>;
  /** Whether every row has a key: if not, it is unknown which products are missing. */
  readonly haveKeys: boolean;
}

/** A row whose product is to be changed. */
export interface Update {
  readonly row: Row;
  readonly match: Match;
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
  readonly updates: readonly Update[];
  readonly missing: readonly Missing[];
}
