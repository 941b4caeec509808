import type { AccountingRecord, FieldTable } from '../schemas/record.ts';

/** A collection as data: where it lives and what the contract says of its fields. */
export interface CollectionDefinition<
  Rec extends { id: string } = AccountingRecord,
  Writes extends WriteShapes | undefined = undefined,
> {
  /** The path segment under `/api/public/v1`. */
  readonly segment: string;
  /** The documented fields beside `id`. Empty for the collections whose fields the contract does not show. */
  readonly fields: FieldTable;
  /** Fields that the service fills and a client must not send. */
  readonly serverFilled: readonly string[];
  /** Whether POST, PATCH and DELETE exist. */
  readonly writable: Writes extends undefined ? false : true;
  /** Types only: never set. */
  readonly $record?: Rec;
  /** Types only: never set. */
  readonly $writes?: Writes;
}

/** The bodies of a collection that can be written. */
export interface WriteShapes {
  draft: object;
  patch: object;
}

/** A collection that can only be read; only `id` is documented (contract: Read-only resource endpoints). */
export function readOnly<Rec extends { id: string }>(segment: string): CollectionDefinition<Rec> {
  return { segment, fields: {}, serverFilled: [], writable: false };
}
