// The functions of zod/mini bundle to a quarter of zod's methods, and need no locale: the messages are our own.
import * as z from 'zod/mini';
import { MONEY } from './money.ts';
import type { FieldKind, FieldTable } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';

const kinds: Record<FieldKind, z.ZodMiniType> = {
  string: z.string('expected a string'),
  money: z
    .string('expected money, a decimal string')
    .check(z.regex(MONEY, 'expected money, a decimal string')),
  boolean: z.boolean('expected true or false'),
  integer: z.int('expected an integer'),
  number: z.number('expected a number'),
  array: z.array(z.unknown(), 'expected an array'),
};
const id = z.string('expected a string').check(z.minLength(1, 'expected a string that is not empty'));

/**
 * The Zod schema of a record: `id`, its documented fields each nullable and optional, unknown fields kept.
 *
 * Only ever imported with `import()`: Zod is the heaviest part, and a service that keeps its contract never needs it.
 */
export function recordSchema(fields: FieldTable): StandardSchema<{ id: string }> {
  const shape = Object.entries(fields).map(([name, kind]) => [name, z.nullish(kinds[kind])] as const);
  return z.looseObject({ ...Object.fromEntries(shape), id }, 'expected a record, a JSON object');
}
