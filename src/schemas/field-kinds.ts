import { MONEY, moneyForm, moneyProblem } from './money.ts';

/** The value of each JSON type, in the names of JSON Schema. */
interface JsonValues {
  string: string;
  boolean: boolean;
  integer: number;
  number: number;
  array: unknown[];
}

/** The JSON type of a value, in the names of JSON Schema. */
export type JsonType = keyof JsonValues;

/** What is known of a kind. */
export interface FieldKindFacts {
  readonly json: JsonType;
  /** What a string must match. */
  readonly pattern?: RegExp;
  /** The one form of equal strings. Without it, only equal values are equal. */
  readonly form?: (value: string) => string;
  /** Whether its strings are decimals with a point, which files may write with a comma. */
  readonly decimal?: true;
  /** What a message calls a value: `expected …`, `must be …`. */
  readonly expected: string;
  /** What is wrong with a value, if more can be said than what is expected. */
  readonly problem?: (value: unknown) => string;
  readonly example: unknown;
}

/**
 * The kinds of documented fields. Types, schemas, checks, the comparison of a push, columns, and the values of the
 * sandbox are derived from this table.
 */
export const fieldKinds = {
  string: { json: 'string', expected: 'a string', example: 'oak' },
  /** A decimal string, so that no digit is lost. */
  money: {
    json: 'string',
    pattern: MONEY,
    /** The one form in which two amounts are compared. */
    form: moneyForm,
    decimal: true,
    expected: 'money, a decimal string',
    /** What is wrong with a value that is no amount. */
    problem: moneyProblem,
    example: '129.0000',
  },
  boolean: { json: 'boolean', expected: 'true or false', example: true },
  integer: { json: 'integer', expected: 'an integer', example: 2 },
  number: { json: 'number', expected: 'a number', example: 2.5 },
  /** The type of its elements is unspecified. */
  array: { json: 'array', expected: 'an array', example: ['new'] },
  /** An ISO 8601 timestamp, of which the specification shows no example: any string is valid in a response. */
  timestamp: { json: 'string', expected: 'a string', example: '2026-01-31T12:00:00Z' },
} as const satisfies Readonly<Record<string, FieldKindFacts>>;

/** The kind of a documented field. `money` is a decimal string; the type of the elements of an `array` is unspecified. */
export type FieldKind = keyof typeof fieldKinds;

/** The value of a field of each kind. */
export type FieldValues = { [Kind in FieldKind]: JsonValues[(typeof fieldKinds)[Kind]['json']] };

const facts: Readonly<Record<FieldKind, FieldKindFacts>> = fieldKinds;

const IS_JSON: Readonly<Record<JsonType, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  array: Array.isArray,
};

/** The check of each kind: whether a value that is neither `null` nor `undefined` is of it. */
export const checks = Object.fromEntries(
  Object.entries(facts).map(([kind, { json, pattern }]) => [
    kind,
    pattern === undefined
      ? IS_JSON[json]
      : (value: unknown) => typeof value === 'string' && pattern.test(value),
  ]),
) as Readonly<Record<FieldKind, (value: unknown) => boolean>>;

/** What is wrong with a value that is not of a kind. */
export function problemOf(kind: FieldKind, value: unknown): string {
  return facts[kind].problem?.(value) ?? `must be ${facts[kind].expected}`;
}

/**
 * The one form of all values that are equal for a field: amounts without regard to zeros, and objects to the order of
 * their members. `kind` is undefined for a field that is not documented.
 */
export function canonicalValue(kind: FieldKind | undefined, value: unknown): unknown {
  const form = kind === undefined || !checks[kind](value) ? undefined : facts[kind].form;
  return form === undefined ? sorted(value) : form(value as string);
}

/** Whether two values of a field are equal. `null` and a missing value are. */
export function sameValue(kind: FieldKind | undefined, a: unknown, b: unknown): boolean {
  return JSON.stringify(canonicalValue(kind, a ?? null)) === JSON.stringify(canonicalValue(kind, b ?? null));
}

/** With the members of every object in order, so that equal values have equal JSON. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, inner]) => [name, sorted(inner)]));
}
