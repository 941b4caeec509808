/** What a value can be. Of texts, `money`, `date` and `instant` are narrower than `text`; of numbers, `integer` than `number`. */
export type Kind =
  | 'boolean'
  | 'integer'
  | 'number'
  | 'money'
  | 'date'
  | 'instant'
  | 'text'
  | 'array'
  | 'object';

/** What values of a field can be. Without a kind, nothing but null was seen. */
export interface Shape {
  /** Sorted; several are a union. */
  readonly kinds: readonly Kind[];
  readonly nullable: boolean;
  /** Of the elements, where `array` is among the kinds. */
  readonly items?: Shape | undefined;
  /** Of the members, where `object` is among the kinds. */
  readonly fields?: Shapes | undefined;
}

/** The shape of a field of a record, or of a member of an object. */
export interface FieldShape extends Shape {
  /** Whether every record has it, be it with null. */
  readonly always: boolean;
}

/** The fields of a collection by their names, each with what was seen of it. */
export type Shapes = Readonly<Record<string, FieldShape>>;

const TEXTS: readonly Kind[] = ['money', 'date', 'instant', 'text'];

/** The kinds of which each is a case of none of the others: two kinds of text are a text, two of number a number. */
export function unionOf(kinds: Iterable<Kind>): Kind[] {
  const set = new Set(kinds);
  if (TEXTS.filter((kind) => set.has(kind)).length > 1) {
    for (const kind of TEXTS) set.delete(kind);
    set.add('text');
  }
  if (set.has('number')) set.delete('integer');
  return [...set].sort();
}

/** What fits either shape. */
export function joinShapes(a: Shape, b: Shape): Shape {
  return {
    kinds: unionOf([...a.kinds, ...b.kinds]),
    nullable: a.nullable || b.nullable,
    items: a.items && b.items ? joinShapes(a.items, b.items) : (a.items ?? b.items),
    fields: a.fields && b.fields ? joinFields(a.fields, b.fields) : (a.fields ?? b.fields),
  };
}

/** The fields of either, each with what fits both; one that only one side has is not always there. */
export function joinFields(a: Shapes, b: Shapes): Shapes {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries([...names].map((name) => [name, joinField(fieldOf(a, name), fieldOf(b, name))]));
}

/** A field by its name; one called `constructor` is not what every object has. */
export function fieldOf(fields: Shapes, name: string): FieldShape | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

function joinField(a: FieldShape | undefined, b: FieldShape | undefined): FieldShape {
  if (a === undefined || b === undefined) return { ...((a ?? b) as FieldShape), always: false };
  return { ...joinShapes(a, b), always: a.always && b.always };
}
