import type { FieldKind } from './record.ts';

/** What a schema says about a value that is not of a kind, and about a record as a whole. */
export const EXPECTED = {
  string: 'expected a string',
  money: 'expected money, a decimal string',
  boolean: 'expected true or false',
  integer: 'expected an integer',
  number: 'expected a number',
  array: 'expected an array',
  id: 'expected a string that is not empty',
  record: 'expected a record, a JSON object',
  absent: 'is filled by the service: leave it out',
} as const satisfies Record<FieldKind | 'id' | 'record' | 'absent', string>;
