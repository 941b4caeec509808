// The client takes zod/mini for its own check: it bundles to 6 kB, the methods of zod to 26 kB (gzip).
import * as z from 'zod/mini';
import { EXPECTED } from './expected.ts';
import { type FieldKind, type FieldKindFacts, fieldKinds, type JsonType } from './field-kinds.ts';
import { isInfinite } from './quick-check.ts';
import type { FieldTable } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';

const ofJson: Record<JsonType, (message: string) => z.ZodMiniType> = {
  string: z.string,
  boolean: z.boolean,
  integer: z.int,
  number: z.number,
  array: (message) => z.array(z.unknown(), message),
};

function ofKind(kind: FieldKind): z.ZodMiniType {
  const { json, pattern }: FieldKindFacts = fieldKinds[kind];
  const message = EXPECTED[kind];
  return pattern === undefined ? ofJson[json](message) : z.string(message).check(z.regex(pattern, message));
}

const id = z.string(EXPECTED.string).check(z.minLength(1, EXPECTED.id));

/**
 * The Zod schema of a record: `id`, its documented fields each nullable and optional, unknown fields kept. It explains
 * what is wrong with a record that fails the quick check.
 *
 * A number that JavaScript cannot hold is invalid in every field. Without a table, any fields with any values are valid.
 *
 * Only ever imported with `import()`: Zod is the heaviest dependency, and valid records never need it.
 */
export function schemaOf(fields: FieldTable | undefined): StandardSchema<{ id: string }> {
  if (fields === undefined) return z.looseObject({ id }, EXPECTED.record);
  const shape = Object.entries(fields).map(([name, kind]) => [name, z.nullish(ofKind(kind))] as const);
  return z.looseObject({ ...Object.fromEntries(shape), id }, EXPECTED.record).check(({ value, issues }) => {
    for (const [name, input] of Object.entries(value)) {
      if (isInfinite(input)) issues.push({ code: 'custom', path: [name], message: EXPECTED.finite, input });
    }
  });
}
