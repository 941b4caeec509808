import type { FieldKind } from '../../schemas/field-kinds.ts';

/** What a value can be: a kind of documented fields, a date such as `2026-01-31`, or an object. */
export type Kind = FieldKind | 'date' | 'object';

/** How a kind is printed. */
export interface PrintedKind {
  /** Its word in a comment. */
  readonly word: string;
  /** Its schema, but for a list and an object, whose parts have schemas of their own. */
  readonly schema?: string;
  /** The schema with `strict`, if it is another one. */
  readonly strict?: string;
  /** The comment on the schema, if fields share it under the name of the kind. */
  readonly shared?: string;
}

export const printedKinds: Readonly<Record<Kind, PrintedKind>> = {
  money: {
    word: 'amount',
    schema: 'z.string()',
    strict: 'z.string().regex(/^-?\\d{1,18}(?:\\.\\d{1,8})?$/)',
    shared: 'An amount: a decimal string such as "129.0000", for toDecimal.',
  },
  date: {
    word: 'date',
    schema: 'z.string()',
    strict: 'z.iso.date()',
    shared: 'A date such as "2026-01-31".',
  },
  timestamp: {
    word: 'timestamp',
    schema: 'z.string()',
    strict: 'z.iso.datetime({ offset: true, local: true })',
    shared: 'A timestamp of ISO 8601.',
  },
  string: { word: 'string', schema: 'z.string()' },
  boolean: { word: 'boolean', schema: 'z.boolean()' },
  // A later value may have a fraction.
  integer: { word: 'integer', schema: 'z.number()', strict: 'z.int()' },
  number: { word: 'number', schema: 'z.number()' },
  array: { word: 'list' },
  object: { word: 'object' },
};

/** What the values of a field can be. Without a kind, only null was seen. */
export interface Shape {
  /** Sorted; several are a union. */
  readonly kinds: readonly Kind[];
  readonly nullable: boolean;
  /** Of the elements, if `array` is among the kinds. */
  readonly items?: Shape | undefined;
  /** Of the members, if `object` is among the kinds. */
  readonly fields?: Shapes | undefined;
}

/** The shape of a field of a record, or of a member of an object. */
export interface FieldShape extends Shape {
  /** Whether every record has the field, even if it is null. */
  readonly always: boolean;
}

/** The fields of a collection by name. */
export type Shapes = Readonly<Record<string, FieldShape>>;
