/** What a value can be. Of strings, `money`, `date` and `timestamp` are special cases; of numbers, `integer`. */
export type Kind =
  | 'boolean'
  | 'integer'
  | 'number'
  | 'money'
  | 'date'
  | 'timestamp'
  | 'string'
  | 'array'
  | 'object';

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
