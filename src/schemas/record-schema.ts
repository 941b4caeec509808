// The client takes zod/mini for its own check: it bundles to 6 kB, the methods of zod to 26 kB (gzip).
import * as z from 'zod/mini';
import { EXPECTED } from './expected.ts';
import { MONEY } from './money.ts';
import type { FieldKind, FieldTable } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';

const kinds: Record<FieldKind, z.ZodMiniType> = {
  string: z.string(EXPECTED.string),
  money: z.string(EXPECTED.money).check(z.regex(MONEY, EXPECTED.money)),
  boolean: z.boolean(EXPECTED.boolean),
  integer: z.int(EXPECTED.integer),
  number: z.number(EXPECTED.number),
  array: z.array(z.unknown(), EXPECTED.array),
};
const id = z.string(EXPECTED.string).check(z.minLength(1, EXPECTED.id));

/**
 * The Zod schema of a record: `id`, its documented fields each nullable and optional, unknown fields kept. It explains
 * what is wrong with a record that fails the quick check.
 *
 * Only ever imported with `import()`: Zod is the heaviest dependency, and valid records never need it.
 */
export function schemaOf(fields: FieldTable): StandardSchema<{ id: string }> {
  const shape = Object.entries(fields).map(([name, kind]) => [name, z.nullish(kinds[kind])] as const);
  return z.looseObject({ ...Object.fromEntries(shape), id }, EXPECTED.record);
}
