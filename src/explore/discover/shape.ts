import type { FieldKind } from '../../schemas/field-kinds.ts';

/** What a value can be: a kind of documented fields, a date such as `2026-01-31`, or an object. */
export type Kind = FieldKind | 'date' | 'object';

/** How a kind is printed. */
export interface PrintedKind {
  /** Its word in a comment. */
  readonly word: string;
  /** Its schema; of a list and an object without that of their parts. */
  readonly schema: string;
  /** The comment on the schema, if fields share it under the name of the kind. */
  readonly shared?: string;
}

export const printedKinds: Readonly<Record<Kind, PrintedKind>> = {
  money: {
    word: 'amount',
    schema: `z.string().meta({ format: 'money' })`,
    shared: 'An amount: a decimal string such as "129.0000", for toDecimal.',
  },
  date: {
    word: 'date',
    schema: `z.string().meta({ format: 'date' })`,
    shared: 'A date such as "2026-01-31".',
  },
  timestamp: {
    word: 'timestamp',
    schema: `z.string().meta({ format: 'date-time' })`,
    shared: 'A timestamp of ISO 8601.',
  },
  string: { word: 'string', schema: 'z.string()' },
  boolean: { word: 'boolean', schema: 'z.boolean()' },
  integer: { word: 'integer', schema: 'z.number()' },
  number: { word: 'number', schema: 'z.number()' },
  array: { word: 'list', schema: 'z.array(z.unknown())' },
  object: { word: 'object', schema: 'z.looseObject({})' },
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
