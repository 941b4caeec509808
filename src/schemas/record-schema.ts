// The client takes the core of Zod, which is made for libraries: it bundles to 3 kB, zod/mini to 6 and zod to 26 (gzip).
import { $ZodCustom, $ZodObject, $ZodOptional, $ZodUnknown } from 'zod/v4/core';
import { EXPECTED } from './expected.ts';
import { checks } from './field-kinds.ts';
import { isInfinite } from './quick-check.ts';
import type { FieldTable } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';
import { numberId } from './unreadable-id.ts';

const custom = (fn: (value: unknown) => boolean, message: (value: unknown) => string) =>
  new $ZodCustom({ type: 'custom', check: 'custom', fn, error: ({ input }) => message(input) });

const isId = (value: unknown) => typeof value === 'string' && value !== '';
const id = custom(isId, (value) => {
  if (value === '') return EXPECTED.id;
  if (typeof value !== 'number') return EXPECTED.string;
  return `${EXPECTED.string}, not ${numberId(value)}`;
});
const finite = custom(
  (value) => !isInfinite(value),
  () => EXPECTED.finite,
);

/**
 * The Zod schema of a record: `id`, its documented fields each nullable and optional, unknown fields kept. It explains
 * what is wrong with a record that fails the quick check.
 *
 * A number that JavaScript cannot hold is invalid in every field. Without a table, any fields with any values are valid.
 *
 * Only ever imported with `import()`: valid records never need Zod.
 */
export function schemaOf(fields: FieldTable | undefined): StandardSchema<{ id: string }> {
  const documented = Object.entries(fields ?? {}).map(([name, kind]) => {
    const fits = checks[kind];
    const innerType = custom(
      (value) => value === null || (fits(value) && !isInfinite(value)),
      (value) => (fits(value) ? EXPECTED.finite : EXPECTED[kind]),
    );
    return [name, new $ZodOptional({ type: 'optional', innerType })] as const;
  });
  return new $ZodObject({
    type: 'object',
    shape: { ...Object.fromEntries(documented), id },
    catchall: fields === undefined ? new $ZodUnknown({ type: 'unknown' }) : finite,
    error: () => EXPECTED.record,
  }) as unknown as StandardSchema<{ id: string }>;
}
