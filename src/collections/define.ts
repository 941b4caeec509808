import type { FieldKind } from '../schemas/field-kinds.ts';
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

export type AnyDefinition = CollectionDefinition<{ id: string }, WriteShapes | undefined>;

/** The bodies of a collection that can be written. */
export interface WriteShapes {
  draft: object;
  patch: object;
}

/** The names of the documented fields of a record beside `id`. */
type DocumentedName<Rec> = keyof {
  [Name in keyof Rec as string extends Name ? never : Name extends 'id' ? never : Name]: true;
};

/** What is known of a read-only collection. A type of records with documented fields demands their table. */
type ReadOnlyFacts<Rec> = {
  /** The collection that these records refer to. */
  readonly parent?: AnyDefinition;
} & ([DocumentedName<Rec>] extends [never]
  ? { readonly fields?: Readonly<Record<string, never>> }
  : { readonly fields: { readonly [Name in DocumentedName<Rec>]-?: FieldKind } });

/** A collection without write methods. */
export function readOnly<Rec extends { id: string }>(
  segment: string,
  ...[facts]: Record<never, never> extends ReadOnlyFacts<Rec>
    ? [facts?: ReadOnlyFacts<Rec>]
    : [facts: ReadOnlyFacts<Rec>]
): CollectionDefinition<Rec> {
  const { parent, fields = {} }: { parent?: AnyDefinition; fields?: FieldTable } = facts ?? {};
  return { segment, parent, fields, serverFilled: [], writable: false };
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
