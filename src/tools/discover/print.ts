import { noteOf } from './field-note.ts';
import { forComment, key } from './literal.ts';
import type { Observations } from './observation.ts';
import type { Reference } from './references.ts';
import type { FieldShape, Kind, Shape, Shapes } from './shape.ts';

/** How schemas are printed. */
export interface PrintOptions {
  /** Only what was seen: fields that were always there are required, amounts and dates checked by their form. */
  readonly strict: boolean;
}

/** What is known beside the shapes, by the path of a field. */
export interface Notes {
  readonly fields: Observations | undefined;
  readonly references: ReadonlyMap<string, Reference>;
}

const EXPRESSIONS: Readonly<Record<Exclude<Kind, 'array' | 'object' | 'integer'>, string>> = {
  boolean: 'z.boolean()',
  number: 'z.number()',
  money: 'money',
  date: 'date',
  instant: 'instant',
  text: 'z.string()',
};

/** The named schemas that fields refer to, those of them that some shape needs. */
export function namedSchemas(shapes: readonly Shapes[], { strict }: PrintOptions): string[] {
  const used = new Set(shapes.flatMap(kindsIn));
  const named = [
    [
      'money',
      'An amount: a decimal string such as "129.0000", for toDecimal.',
      'z.string().regex(/^-?\\d{1,18}(?:\\.\\d{1,8})?$/)',
    ],
    ['date', 'A date such as "2026-01-31".', 'z.iso.date()'],
    ['instant', 'An instant of ISO 8601.', 'z.iso.datetime({ offset: true, local: true })'],
  ] as const;
  return named
    .filter(([name]) => used.has(name))
    .map(([name, what, exact]) => `/** ${what} */\nconst ${name} = ${strict ? exact : 'z.string()'};`);
}

function kindsIn(fields: Shapes): Kind[] {
  const within = (shape: Shape): Kind[] => [
    ...shape.kinds,
    ...(shape.items === undefined ? [] : within(shape.items)),
    ...(shape.fields === undefined ? [] : kindsIn(shape.fields)),
  ];
  return Object.values(fields).flatMap(within);
}

/** Where a schema stands in a record. */
interface Place {
  /** The names that lead to it, the collection first. */
  readonly path: readonly string[];
  readonly seen: Observations | undefined;
}

/** Prints the schema of one collection: a loose object, with a comment above each field. */
export class Printer {
  readonly #strict: boolean;
  readonly #references: ReadonlyMap<string, Reference>;
  readonly #declarations: string[] = [];
  readonly #names = new Set<string>();

  constructor({ strict }: PrintOptions, references: ReadonlyMap<string, Reference>) {
    this.#strict = strict;
    this.#references = references;
  }

  /** Schemas of objects inside records, each with a name of its own, those that others need first. */
  get declarations(): readonly string[] {
    return this.#declarations;
  }

  /** `z.looseObject({ … })`. */
  object(shapes: Shapes, { path, seen }: Place): string {
    const names = Object.keys(shapes).filter((name) => name !== '__proto__');
    if (names.length === 0) return 'z.looseObject({})';

    const lines = names.map((name) => {
      const shape = shapes[name] as FieldShape;
      const place = { path: [...path, name], seen: seen?.fields.get(name)?.members };
      const isId = name === 'id' && path.length === 1;
      const reference = this.#references.get(place.path.slice(1).join('.'));
      const note = isId
        ? 'The identifier.'
        : noteOf(name, shape, { field: seen?.fields.get(name), records: seen?.records ?? 0, reference });
      return `  /** ${note} */\n  ${key(name)}: ${isId ? 'z.string()' : this.#field(shape, place)},\n`;
    });
    return `z.looseObject({\n${lines.join('')}})`;
  }

  #field(shape: FieldShape, place: Place): string {
    const value = this.#value(shape, place);
    if (!this.#strict) return shape.kinds.length === 0 ? `${value}.optional()` : `${value}.nullish()`;
    if (shape.kinds.length === 0) return shape.always ? 'z.null()' : 'z.null().optional()';
    if (shape.nullable) return shape.always ? `${value}.nullable()` : `${value}.nullish()`;
    return shape.always ? value : `${value}.optional()`;
  }

  /** A value without a word on null and absence. */
  #value(shape: Shape, place: Place): string {
    const parts = shape.kinds.map((kind) => {
      if (kind === 'array') return `z.array(${this.#element(shape.items, place)})`;
      if (kind === 'object') return this.#declare(shape.fields ?? {}, place);
      // A whole number today may have a fraction tomorrow.
      if (kind === 'integer') return this.#strict ? 'z.int()' : 'z.number()';
      return EXPRESSIONS[kind];
    });
    if (parts.length === 0) return 'z.unknown()';
    return parts.length === 1 ? (parts[0] as string) : `z.union([${parts.join(', ')}])`;
  }

  #element(items: Shape | undefined, place: Place): string {
    if (items === undefined || items.kinds.length === 0) return 'z.unknown()';
    const value = this.#value(items, place);
    return items.nullable || !this.#strict ? `${value}.nullable()` : value;
  }

  /** An object inside a record becomes a schema beside it; its name is the way to it. */
  #declare(shapes: Shapes, place: Place): string {
    const object = this.object(shapes, place);
    const name = this.#freeName(identifierOf(place.path));
    const [collection, ...way] = place.path;
    this.#declarations.push(
      `/** ${forComment(`${way.join('.')} of the ${collection}`)}. */\nconst ${name} = ${object};`,
    );
    return name;
  }

  #freeName(name: string): string {
    let free = name;
    for (let number = 2; this.#names.has(free); number += 1) free = `${name}${number}`;
    this.#names.add(free);
    return free;
  }
}

/** `accountsAddressGeo` of accounts, address, geo; what cannot be part of a name is left out. */
function identifierOf([collection = '', ...way]: readonly string[]): string {
  const words = way.flatMap((name) => name.split(/[^A-Za-z\d]+/)).filter(Boolean);
  // A word more than the name of any collection has, which the name must not meet.
  return `${collection}In${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`;
}
