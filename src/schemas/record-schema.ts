// The client takes zod/mini for its own check, and of it only what calls the checks of the table: that bundles to 5 kB, the
// methods of zod to 26 kB (gzip).
import * as z from 'zod/mini';
import { EXPECTED } from './expected.ts';
import { checks } from './field-kinds.ts';
import { isInfinite } from './quick-check.ts';
import type { FieldTable } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';

const id = z.custom<string>((value) => typeof value === 'string' && value !== '', {
  error: ({ input }) => (input === '' ? EXPECTED.id : EXPECTED.string),
});

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
  const shape = Object.entries(fields).map(([name, kind]) => {
    const field = z.custom((value) => value === null || checks[kind](value), EXPECTED[kind]);
    return [name, z.optional(field)] as const;
  });
  return z.looseObject({ ...Object.fromEntries(shape), id }, EXPECTED.record).check(({ value, issues }) => {
    for (const [name, input] of Object.entries(value)) {
      if (isInfinite(input)) issues.push({ code: 'custom', path: [name], message: EXPECTED.finite, input });
    }
  });
}
