/**
 * The schemas of this package as Zod schemas: to extend, to validate stored JSON with, and to generate JSON Schema from.
 *
 * @packageDocumentation
 */
import * as z from 'zod';
import { EXPECTED } from './expected.ts';
import { type FieldKind, type FieldKindFacts, fieldKinds, type JsonType } from './field-kinds.ts';
import { productFields, productServerFields } from './product-fields.ts';
import type { FieldTable } from './record.ts';

/** The schema of each JSON type. */
interface JsonSchemas {
  string: z.ZodString;
  boolean: z.ZodBoolean;
  integer: z.ZodInt;
  number: z.ZodNumber;
  array: z.ZodArray<z.ZodUnknown>;
}

/** The schema of each kind. */
type Kinds = { readonly [Kind in FieldKind]: JsonSchemas[(typeof fieldKinds)[Kind]['json']] };

const ofJson: { readonly [Type in JsonType]: (message: string) => JsonSchemas[Type] } = {
  string: z.string,
  boolean: z.boolean,
  integer: z.int,
  number: z.number,
  array: (message) => z.array(z.unknown(), message),
};

function ofKind(kind: FieldKind): z.ZodType {
  const { json, pattern }: FieldKindFacts = fieldKinds[kind];
  const message = EXPECTED[kind];
  return pattern === undefined ? ofJson[json](message) : z.string(message).regex(pattern, message);
}

const kinds = Object.fromEntries(
  (Object.keys(fieldKinds) as FieldKind[]).map((kind) => [kind, ofKind(kind)]),
) as unknown as Kinds;

/** A money amount: a decimal string such as `"129.0000"`, with at most 18 digits before the point and 8 after it. */
export const moneySchema = kinds.money;

const id = z.string(EXPECTED.string).min(1, EXPECTED.id);

/** The fields of a record as the service sends them: any can be missing or `null`. */
type FieldSchemas<Table extends FieldTable> = {
  -readonly [Name in keyof Table]: z.ZodExactOptional<z.ZodNullable<Kinds[Table[Name]]>>;
};

/** The fields of a body as a caller passes them: `null` clears, `undefined` is left out. */
type InputSchemas<Table extends FieldTable> = {
  -readonly [Name in keyof Table]: z.ZodOptional<z.ZodNullable<Kinds[Table[Name]]>>;
};

/** Fields that a body must not have. */
type NoInputSchemas<Table extends FieldTable> = {
  -readonly [Name in keyof Table]: z.ZodExactOptional<z.ZodNever>;
};

// Named in full: the declarations would otherwise repeat every field.
type ProductSchema = z.ZodObject<
  { id: z.ZodString } & FieldSchemas<typeof productServerFields & typeof productFields>,
  z.core.$loose
>;
type ProductInputSchema = z.ZodObject<
  { id: z.ZodExactOptional<z.ZodNever> } & NoInputSchemas<typeof productServerFields> &
    InputSchemas<typeof productFields>,
  z.core.$loose
>;

function schemasOf<Shape>(table: FieldTable, schemaOf: (kind: FieldKind) => z.ZodType): Shape {
  return Object.fromEntries(Object.entries(table).map(([name, kind]) => [name, schemaOf(kind)])) as Shape;
}

const fields = schemasOf<FieldSchemas<typeof productServerFields & typeof productFields>>(
  { ...productServerFields, ...productFields },
  (kind) => z.exactOptional(z.nullable(kinds[kind])),
);
const inputs = schemasOf<InputSchemas<typeof productFields>>(productFields, (kind) => z.nullish(kinds[kind]));
const noInput = z.exactOptional(z.never(EXPECTED.absent));
const noInputs = schemasOf<NoInputSchemas<typeof productServerFields>>(productServerFields, () => noInput);

/** A record of any collection: its `id`, and every other field as it is. */
export const recordSchema = z.looseObject({ id }, EXPECTED.record);

/** A product as the service returns it. Keeps fields that this version does not know. */
export const productSchema: ProductSchema = z.looseObject({ id, ...fields }, EXPECTED.record);

/** A product to create. Rejects the fields that the service fills, and keeps fields that this version does not know. */
export const productDraftSchema: ProductInputSchema = z.looseObject(
  { id: noInput, ...noInputs, ...inputs },
  EXPECTED.record,
);

/** The fields of a product to change; `null` clears a field. Otherwise as {@link productDraftSchema}. */
export const productPatchSchema: ProductInputSchema = z.looseObject(
  productDraftSchema.shape,
  EXPECTED.record,
);

const text = kinds.string.nullish();

/**
 * A problem document (RFC 9457, which replaced RFC 7807) with the `violations` of a 422. Every member is optional;
 * extension members are kept. The client itself ignores a member of a wrong type, as the RFC requires.
 */
export const problemSchema = z.looseObject(
  {
    type: text,
    title: text,
    status: kinds.integer.nullish(),
    detail: text,
    instance: text,
    violations: z
      .array(
        z.looseObject({ propertyPath: text, message: kinds.string, code: text }, EXPECTED.record),
        EXPECTED.array,
      )
      .nullish(),
  },
  EXPECTED.record,
);
