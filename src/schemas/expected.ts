import { type FieldKind, fieldKinds } from './field-kinds.ts';

const ofKinds = Object.fromEntries(
  Object.entries(fieldKinds).map(([kind, { expected }]) => [kind, `expected ${expected}`]),
) as Record<FieldKind, string>;

/** What a schema says about a value that is not of a kind, and about a record as a whole. */
export const EXPECTED = {
  ...ofKinds,
  id: 'expected a string that is not empty',
  record: 'expected a record, a JSON object',
  finite: 'has a number that JavaScript cannot hold',
  absent: 'is filled by the service: leave it out',
} as const;
