import type { FieldKind, FieldValues } from './field-kinds.ts';

/** A record of which only the identifier is documented. Every field that the service sends is kept. */
export interface AccountingRecord {
  /** The identifier. Its format is unspecified. */
  id: string;
  [field: string]: unknown;
}

/** The documented fields of a record beside `id`, by name. */
export type FieldTable = Readonly<Record<string, FieldKind>>;

/** A record with documented fields. Every other field that the service sends is kept too. */
export type RecordWith<Table extends FieldTable> = AccountingRecord & FieldsOf<Table>;

// Mapped types over the keys of a table keep the doc comment of each field in the editor, unless they rename keys.

/** The fields of a record as the service sends them: any can be missing or `null`. */
export type FieldsOf<Table extends FieldTable> = {
  -readonly [Name in keyof Table]?: FieldValues[Table[Name]] | null;
};

/** The fields of a body as a caller gives them: `null` clears, `undefined` is left out. */
export type FieldInputs<Table extends FieldTable> = {
  -readonly [Name in keyof Table]?: FieldValues[Table[Name]] | null | undefined;
};

declare const filled: unique symbol;

/** No value has this type. Its name says why a body must leave the field out; that of `never` would not. */
export type FilledByService = string & { readonly [filled]: true };

/** Fields that a body must not have. */
export type NoInputs<Table extends FieldTable> = { -readonly [Name in keyof Table]?: FilledByService };

/** The names of the fields that a body must not have. A custom field is not one of them, whatever its type. */
type FilledIn<Draft> = {
  [Name in keyof Draft]-?: 0 extends 1 & Draft[Name]
    ? never
    : [NonNullable<Draft[Name]>] extends [FilledByService]
      ? Name
      : never;
}[keyof Draft];

/**
 * A draft or patch as the parameter of a method, which infers `Names` from the argument. An editor does not offer the
 * fields that the service fills, and the compiler rejects one that is given, with a type that says why.
 *
 * ```ts
 * type Body = BodyOf<ProductDraft, never>; // a ProductDraft without `id`, `createdAt` and `updatedAt`
 * ```
 */
export type BodyOf<Draft, Names extends PropertyKey> = Pick<Draft, Exclude<keyof Draft, FilledIn<Draft>>> & {
  [Name in Names & FilledIn<Draft> & PropertyKey]?: FilledByService;
};
