import { isBranded } from '../errors/accounting-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import {
  type Check,
  givenOptions,
  is,
  isPlainObject,
  type OptionContext,
  type OptionInputs,
  type OptionTable,
  type ResolvedOptions,
  withDefaults,
} from '../internal/options.ts';
import { isDate, isPromise } from '../internal/realm.ts';
import { causeText, hasControlCharacters, isWellFormed } from '../internal/text.ts';
import { isStandardSchema, type StandardSchema } from '../schemas/standard-schema.ts';
import { isTimestamp } from '../schemas/timestamp.ts';

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
  const argument = parent?.slice(0, -1) ?? context.argument ?? 'options';
  const reject: OptionContext['reject'] = ({ path, problem }) => new InvalidInputError(path, problem);
  return readable(argument, () => {
    if (is.signal.allows(options))
      throw new InvalidInputError(argument, 'must be options; pass the signal as { signal }');
    checkObject(options, argument);
    // Listeners may be an object of the caller's own class.
    if (parent === undefined && !isPlainObject(options))
      throw new InvalidInputError(argument, 'must be a plain object');
    return givenOptions(table, options, { ...context, reject }, parent);
  });
}

/** Reads what the caller passed. A getter or a proxy of the caller's may throw. */
export function readable<V>(argument: string, read: () => V): V {
  try {
    return read();
  } catch (error) {
    if (isBranded(error)) throw error;
    const what = causeText(error) || 'a value that is no error';
    throw new InvalidInputError(argument, `cannot be read: it threw ${what}`, {}, { cause: error });
  }
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

export function checkObject(value: unknown, argument: string, problem = 'must be an object'): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isPromise(value)) {
    throw new InvalidInputError(argument, problem);
  }
}

/** An object of the caller's own, such as a store. */
export function checkMethods<V>(value: V, argument: string, methods: readonly string[]): V {
  const { allows, expected } = is.withMethods<Record<string, unknown>>(...methods);
  if (allows(value)) return value;
  throw new InvalidInputError(argument, `must be ${expected}`);
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
  const isText = typeof value === 'string' && isTimestamp(value);
  const ms = isText ? Date.parse(value) : isDate(value) ? Number(value) : Number.NaN;
  if (!(ms >= YEAR_0_MS && ms < YEAR_10000_MS)) {
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
