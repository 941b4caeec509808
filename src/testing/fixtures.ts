import type { CollectionName, collections } from '../collections/index.ts';

/** Fields to store, from a request body, a test or a generator. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * The record type of a collection.
 *
 * ```ts
 * type One = RecordOf<'budgets'>; // Budget
 * ```
 */
export type RecordOf<Name extends CollectionName> = NonNullable<(typeof collections)[Name]['$record']>;

/** The fields of a record to store: the documented ones with their types, and any others. */
export type RecordInput<Rec> = { readonly [Field in keyof Rec]?: Rec[Field] | undefined } & Readonly<
  Record<string, unknown>
>;

/** Records by collection. */
export type Fixtures = {
  readonly [Name in CollectionName]?: readonly RecordInput<RecordOf<Name>>[] | undefined;
};
