import { type NameTable, suggestion, unknownName } from '../internal/option-names.ts';
import {
  type Check,
  givenOptions,
  is,
  type OptionContext,
  type OptionInputs,
  type OptionTable,
  type ResolvedOptions,
  withDefaults,
} from '../internal/options.ts';
import { hasControlCharacters, isWellFormed } from '../internal/text.ts';
import { isStandardSchema, type StandardSchema } from '../schemas/standard-schema.ts';
import { isTimestamp } from '../schemas/timestamp.ts';
import { InvalidInputError } from './invalid-input-error.ts';

// What callers pass is checked before anything is sent, because JavaScript callers can pass anything. Each check names the
// argument, never quotes the value, and throws an InvalidInputError.

interface Context extends Omit<OptionContext, 'reject'> {
  /** The argument that holds the options. */
  readonly argument?: string;
}

/**
 * Checks options by their table, and returns those that were given. Only `undefined` means the default: null is invalid.
 *
 * @throws InvalidInputError for an option that does not exist, because one without effect looks like one that works.
 */
export function given<Table extends OptionTable>(
  table: Table,
  options: object,
  context: Context,
  parent?: string,
): OptionInputs<Table> {
  checkObject(options, parent?.slice(0, -1) ?? context.argument ?? 'options');
  const reject: OptionContext['reject'] = ({ path, problem }) => new InvalidInputError(path, problem);
  return givenOptions(table, options, { ...context, reject }, parent);
}

/** Checks options by their table, and applies the defaults. */
export function resolved<Table extends OptionTable>(
  table: Table,
  options: object,
  context: Context,
): ResolvedOptions<Table> {
  return withDefaults(table, given(table, options, context));
}

/** A string that reaches the service unchanged. */
export const text: Check<string> = is.verified<string>(checkText);

/** Any Standard Schema. */
export const schema = <T extends StandardSchema>(): Check<T> => ({
  ...is.check<T>('a Standard Schema, such as one of Zod, Valibot or ArkType', isStandardSchema),
});

/** Another place in which a name is an option, and what to say to the caller who passes it here. */
interface Elsewhere {
  readonly names: NameTable;
  readonly advice: string;
}

/** Rejects an option that does not exist: one without effect looks like one that works. */
export function checkOptionNames(
  options: unknown,
  names: NameTable,
  { of, elsewhere = [] }: { readonly of: string; readonly elsewhere?: readonly Elsewhere[] },
): void {
  if (typeof options !== 'object' || options === null) return;
  const found = unknownName(options, names);
  if (found === undefined) return;
  const place = elsewhere.find(
    (other) => found.path === found.name && Object.hasOwn(other.names, found.name),
  );
  const advice = place?.advice ?? suggestion(found.name, found.known);
  throw new InvalidInputError(found.path, `is not an option of ${of}. ${advice}`);
}

export function checkObject(value: unknown, argument: string, problem = 'must be an object'): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInputError(argument, problem);
  }
}

export function checkFunction<F>(value: F, argument: string): F {
  if (typeof value !== 'function') throw new InvalidInputError(argument, 'must be a function');
  return value;
}

/** Checks the callbacks that the caller gave. */
export function checkCallbacks<O extends object>(options: O, names: readonly (keyof O & string)[]): void {
  for (const name of names) if (options[name] !== undefined) checkFunction(options[name], name);
}

/** An object of the caller's own, such as a store. */
export function checkMethods<V>(value: V, argument: string, methods: readonly string[]): V {
  const found = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (methods.every((name) => typeof found[name] === 'function')) return value;
  const wanted = methods.length === 1 ? 'the method' : 'the methods';
  throw new InvalidInputError(argument, `must have ${wanted} ${methods.join(' and ')}`);
}

/** Any Standard Schema. */
export function checkSchema<V>(value: V, argument: string): V {
  if (isStandardSchema(value)) return value;
  throw new InvalidInputError(argument, 'must be a Standard Schema, such as one of Zod, Valibot or ArkType');
}

export function checkFlag(value: boolean, argument: string): boolean {
  if (typeof value !== 'boolean') throw new InvalidInputError(argument, 'must be true or false');
  return value;
}

/** One of a few strings or `false`. */
export function checkOneOf<V extends string | false>(value: V, argument: string, allowed: readonly V[]): V {
  if (allowed.includes(value)) return value;
  const names = allowed.map((name) => (name === false ? 'false' : `'${name}'`));
  throw new InvalidInputError(argument, `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`);
}

/** Infinity is a number too. */
export function checkNumber(value: number, argument: string, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw new InvalidInputError(argument, `must be a number of at least ${least}`);
}

/** A duration. Infinity stands for no limit. */
export function checkMs(value: number, argument: string, least: number): number {
  if (typeof value === 'number' && value >= least) return value;
  throw new InvalidInputError(argument, `must be a number of milliseconds, at least ${least}`);
}

/** A duration with an end. */
export function checkFiniteMs(value: number, argument: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new InvalidInputError(argument, 'must be a finite number of milliseconds, at least 0');
}

export function checkWhole(value: number, argument: string, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new InvalidInputError(argument, `must be a whole number of at least ${least}`);
}

/** A string that reaches the service unchanged: no control characters, no lone surrogates. */
export function checkText(text: unknown, argument: string): string {
  if (typeof text !== 'string' || text === '') {
    throw new InvalidInputError(argument, 'must be a string that is not empty');
  }
  if (hasControlCharacters(text) || !isWellFormed(text)) {
    throw new InvalidInputError(argument, 'must not contain control characters or lone surrogates');
  }
  return text;
}

/** A moment, as ISO 8601. With another form of the year a service may not read it as a date. */
export function checkTimestamp(value: string | Date, argument: string): string {
  const ms = value instanceof Date ? value.getTime() : Date.parse(value);
  const isText = typeof value === 'string' && isTimestamp(value);
  if (!(ms >= YEAR_0_MS && ms < YEAR_10000_MS) || !(isText || value instanceof Date)) {
    throw new InvalidInputError(
      argument,
      'must be a valid Date of the years 0 to 9999, a date like 2026-01-31, or a timestamp with its offset like 2026-01-31T12:00:00Z',
    );
  }
  return isText ? value : new Date(ms).toISOString();
}

const YEAR_0_MS = Date.parse('0000-01-01T00:00:00Z');
const YEAR_10000_MS = Date.parse('9999-12-31T23:59:59.999Z') + 1;

/** An id that can be one path segment. The API documentation does not say more about its form. */
export function checkId(id: unknown, argument = 'id'): string {
  if (typeof id !== 'string') throw new InvalidInputError(argument, 'must be a string');
  if (id === '' || id === '.' || id === '..') {
    throw new InvalidInputError(argument, 'must not be empty, "." or ".."');
  }
  return checkText(id, argument);
}
