import type { AccountingRecord } from '../../schemas/record.ts';

/** A record with what the service knows of it beside its fields. Never changed: a write makes a new one. */
export interface Row {
  readonly id: string;
  readonly record: Readonly<AccountingRecord>;
  /** ms since the epoch. */
  readonly createdAt: number;
  /** What `updatedSince` looks at, whether or not the record shows it; ms since the epoch. */
  readonly modifiedAt: number;
}

/**
 * Rows that are made when somebody looks at them, so that a million of them take no memory. A row depends on its
 * index alone, and ids rise with the index.
 */
export interface RowSource {
  /** How many there are. */
  readonly count: number;
  /** The id of a row; defined beyond `count` too, where the ids of new records come from. */
  idAt(index: number): string;
  /** The index of an id, or -1. */
  indexOf(id: string): number;
  rowAt(index: number): Row;
  /** As `rowAt(index).modifiedAt`, without making the row. */
  modifiedAt(index: number): number;
  /** As `rowAt(index).createdAt`, without making the row. */
  createdAt(index: number): number;
}
