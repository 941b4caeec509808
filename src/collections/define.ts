import type { AccountingRecord, FieldTable } from '../schemas/record.ts';

/** A collection as data: where it is, and what the specification says about its fields. */
export interface CollectionDefinition<
  Rec extends { id: string } = AccountingRecord,
  Writes extends WriteShapes | undefined = undefined,
> {
  /** The path segment under `/api/public/v1`. */
  readonly segment: string;
  /** The collection that these records refer to: a sync reads it first. */
  readonly parent: AnyDefinition | undefined;
  /** The documented fields beside `id`. Empty if the specification lists none. */
  readonly fields: FieldTable;
  /** Fields that the service fills and a client must not send. */
  readonly serverFilled: readonly string[];
  /** Whether POST, PATCH and DELETE exist. */
  readonly writable: boolean;
  /** Types only: never set. */
  readonly $record?: Rec;
  /** Types only: never set. */
  readonly $writes?: Writes;
}

/** The definition of any collection. */
export type AnyDefinition = CollectionDefinition<{ id: string }, WriteShapes | undefined>;

/** The bodies of a collection that can be written. */
export interface WriteShapes {
  draft: object;
  patch: object;
}

/** A collection without write methods, of which the specification documents only `id`. */
export function readOnly<Rec extends { id: string }>(
  segment: string,
  parent?: AnyDefinition,
): CollectionDefinition<Rec> {
  return { segment, parent, fields: {}, serverFilled: [], writable: false };
}

/** A collection that can be written: the fields that a client can set, and those that the service fills beside `id`. */
export function writable<Rec extends { id: string }, Writes extends WriteShapes>(
  segment: string,
  { fields, serverFields }: { readonly fields: FieldTable; readonly serverFields: FieldTable },
): CollectionDefinition<Rec, Writes> {
  return {
    segment,
    parent: undefined,
    fields: { ...fields, ...serverFields },
    serverFilled: ['id', ...Object.keys(serverFields)],
    writable: true,
  };
}
