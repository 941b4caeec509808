import { printable, suggestion } from './suggestion.ts';

// One table for each function that takes options: names, checks, defaults, messages, types and the guides follow from it.
// The doc comment of an entry is the documentation of the option, in the editor too.

/** Which values something may have. `T` is their type. */
export interface Check<T> {
  /** Such as `a string`: the end of a sentence that begins with "must be". */
  readonly expected: string;
  readonly allows: (value: unknown) => value is T;
  /** All values, if there are few. */
  readonly values?: readonly T[];
  /** Looks at an allowed value again, such as at each name of an object; throws an error of its own. */
  verify?(value: T, name: string): void;
}

/** One option. `T` is the type of its values, `Default` of what stands for a missing one. */
export interface Option<T, Default = T> extends Check<T> {
  readonly default: Default;
}

/** An option that must be given. */
export interface RequiredOption<T> extends Option<T, undefined> {
  readonly required: true;
}

/** An option that is read from a variable of the environment if its property is left out. */
export interface EnvironmentOption<T> extends Option<T, undefined> {
  readonly variable: string;
}

/**
 * An option that consists of options. With `Other` it may also be that value, such as `false`. `Inputs` is their type by
 * the name that users know.
 */
export interface OptionGroup<
  Table extends OptionTable,
  Other = never,
  Inputs = OptionInputs<Table>,
  Default = object,
> extends Option<Inputs | Other, Default> {
  readonly options: Table;
  readonly other: readonly Other[];
}

export interface OptionTable {
  readonly [name: string]: AnyOption;
}

/** A table for a type that is written out. It does not compile if it lacks a name or has one too many. */
export type TableOf<Options> = { readonly [Name in keyof Options & string]-?: AnyOption };

interface AnyOption extends Check<unknown> {
  readonly default?: unknown;
  readonly required?: boolean;
  readonly variable?: string;
  readonly options?: OptionTable;
  readonly other?: readonly unknown[];
}

// Mapped types over the keys of a table keep the doc comment of each entry. The declarations of a table that spreads
// another one lose them: a type of options extends the type of the other options, and OptionInputs of its own table.

/** Options as a caller passes them. Two mapped types only if one is required: TypeScript rejects other objects, such as a signal, only then. */
export type OptionInputs<Table> = [RequiredName<Table>] extends [never]
  ? OptionalInputs<Table>
  : OptionalInputs<Table> & {
      -readonly [Name in keyof Table as Name extends RequiredName<Table> ? Name : never]: ValueOf<
        Table[Name]
      >;
    };

/**
 * A second base of an interface that extends `OptionInputs` and has no members. With one base, messages of the compiler
 * show the base, a table, in place of the interface's name.
 */
export type Named = object;

type OptionalInputs<Table> = {
  -readonly [Name in keyof Table as Name extends RequiredName<Table> ? never : Name]?:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { variable: string } ? never : undefined);
};

type RequiredName<Table> = {
  [Name in keyof Table]: Table[Name] extends { required: true } ? Name : never;
}[keyof Table];

type ValueOf<Entry> = Entry extends Check<infer T> ? T : never;

/** Options with every default applied. */
export type ResolvedOptions<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends RequiredOption<infer T>
    ? T
    : Table[Name] extends OptionGroup<infer Inner, infer Other, unknown, infer Default>
      ? Default extends undefined
        ? ValueOf<Table[Name]> | undefined
        : ResolvedOptions<Inner> | Other
      : Table[Name] extends Option<infer T, infer Default>
        ? T | Default
        : never;
};

export const option = <T>(check: Check<T>, value: NoInfer<T>): Option<T> => ({ ...check, default: value });

/** An option without a default. */
export function optional<Table extends OptionTable, Other, Inputs>(
  check: OptionGroup<Table, Other, Inputs>,
): OptionGroup<Table, Other, Inputs, undefined>;
export function optional<T>(check: Check<T>): Option<T, undefined>;
export function optional(check: Check<unknown>): Option<unknown, undefined> {
  return { ...check, default: undefined };
}

/**
 * An option without a default that `variable` of the environment stands in for. A property that is present and undefined is
 * rejected: it was meant to have a value, and the variable may name another company.
 */
export const orEnvironment = <T>(check: Check<T>, variable: string): EnvironmentOption<T> => ({
  ...check,
  default: undefined,
  variable,
});

/** An option that must be given. */
export const required = <T>(check: Check<T>): RequiredOption<T> => ({
  ...check,
  default: undefined,
  required: true,
});

/** Options of their own below one name, each with its default. */
export const group = <Table extends OptionTable, const Other = never, Inputs = OptionInputs<Table>>(
  options: Table,
  ...other: readonly Other[]
): OptionGroup<Table, Other, Inputs> => ({
  ...check(
    ['a plain object', ...other].join(' or '),
    (value) => isPlainObject(value) || other.includes(value as Other),
  ),
  default: {},
  options,
  other,
});

const listed = (names: readonly string[]) => names.join(', ').replace(/, (?=[^,]*$)/, ' and ');

function check<T>(expected: string, allows: (value: unknown) => boolean): Check<T> {
  return { expected, allows: allows as Check<T>['allows'] };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isString = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isIntegerFrom = (value: unknown, least: number) =>
  Number.isSafeInteger(value) && (value as number) >= least;

/** The checks that several tables need. */
export const is = {
  flag: check<boolean>('true or false', (value) => typeof value === 'boolean'),
  string: check<string>('a string', isString),
  strings: check<readonly string[]>(
    'an array of strings',
    (value) => Array.isArray(value) && value.every(isString),
  ),
  /** Not an instance of a class, such as a Map, whose entries would count as none. */
  object: check<Readonly<Record<string, unknown>>>('a plain object', isPlainObject),
  integer: check<number>('a whole number', Number.isSafeInteger),
  integerFrom: (least: number) =>
    check<number>(`a whole number of at least ${least}`, (value) => isIntegerFrom(value, least)),
  numberFrom: (least: number) =>
    check<number>(`a number of at least ${least}`, (value) => typeof value === 'number' && value >= least),
  /** Infinity stands for no limit. */
  durationFrom: (least: number): Check<number> => ({
    ...is.numberFrom(least),
    expected: `a number of milliseconds, at least ${least}`,
  }),
  finiteDuration: check<number>(
    'a finite number of milliseconds, at least 0',
    (value) => isNumber(value) && value >= 0,
  ),
  oneOf: <const T extends readonly (string | number | false)[]>(...values: T): Check<T[number]> => {
    const names = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)));
    const expected = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    return { ...check(expected, (value) => values.includes(value as T[number])), values };
  },
  /** What only `verify` checks: it throws an error of its own. */
  verified: <T>(verify: (value: T, name: string) => void): Check<T> => ({ ...check('', () => true), verify }),
  /** A function. Its type is the caller's to state. */
  callback: <F extends (...args: never[]) => unknown>() =>
    check<F>('a function', (value) => typeof value === 'function'),
  /** Not `instanceof`: the signal may come from another implementation. */
  signal: check<AbortSignal>(
    'an AbortSignal',
    (value) => typeof (value as Partial<AbortSignal> | null)?.throwIfAborted === 'function',
  ),
  /** An object of the caller's own, such as a store. */
  withMethods: <T>(...methods: readonly (keyof T & string)[]) =>
    check<T>(
      `an object with the ${methods.length === 1 ? 'method' : 'methods'} ${listed(methods)}`,
      (value) => methods.every((name) => typeof (value as T | null | undefined)?.[name] === 'function'),
    ),
  check,
};

export interface Rejected {
  /** With the names that lead to it, such as `retry.maxAttempts`. */
  readonly path: string;
  /** What follows its name in a sentence. */
  readonly problem: string;
  /** Only if the value is what is wrong. */
  readonly value?: unknown;
}

/** For whom options are read. */
export interface OptionContext {
  /** The function, such as `createClient`. */
  readonly of: string;
  /** Other places in which a name is an option, and what to say to the caller who passes it here. */
  readonly elsewhere?: readonly { readonly names: object; readonly advice: string }[] | undefined;
  readonly reject: (rejected: Rejected) => Error;
}

/** The options that were given, read once. Throws for a name that the table does not have, and for a value that is not allowed. */
export function givenOptions<Table extends OptionTable>(
  table: Table,
  options: object,
  context: OptionContext,
  parent = '',
): OptionInputs<Table> {
  if (isPlainObject(options)) checkNames(table, options, context, parent);
  const given: [string, unknown][] = [];
  for (const [name, entry] of Object.entries(table)) {
    // Also of the class of a listener.
    const value: unknown = Reflect.get(options, name);
    const path = `${parent}${name}`;
    if (value === undefined && entry.variable !== undefined && name in options) {
      const problem = `is undefined: leave the property out to read ${entry.variable}`;
      throw context.reject({ path, problem });
    }
    if (value === undefined && entry.required !== true) continue;
    if (value === undefined) throw context.reject({ path, problem: missing(entry) });
    if (!entry.allows(value)) throw context.reject({ path, problem: `must be ${entry.expected}`, value });
    const isGroup = entry.options !== undefined && !entry.other?.includes(value);
    const checked = isGroup ? givenOptions(entry.options, value as object, context, `${path}.`) : value;
    entry.verify?.(checked, path);
    given.push([name, checked]);
  }
  return Object.fromEntries(given) as OptionInputs<Table>;
}

const missing = ({ expected }: Check<unknown>) =>
  expected === '' ? 'is missing' : `is missing; it must be ${expected}`;

/** Throws for a name that the table does not have. One without a value is ignored. */
export function checkNames(table: object, options: object, context: OptionContext, parent = ''): void {
  const known = Object.keys(table);
  const unknown = Object.keys(options).find(
    (name) => !known.includes(name) && Reflect.get(options, name) !== undefined,
  );
  if (unknown === undefined) return;
  const place = context.elsewhere?.find(({ names }) => parent === '' && Object.hasOwn(names, unknown));
  const advice = place?.advice ?? suggestion(printable(unknown), known);
  const problem = `is not an option of ${context.of}. ${advice}`;
  throw context.reject({ path: `${parent}${printable(unknown)}`, problem });
}

/** Options with every default applied, or those of `base` for what was not given. */
export function withDefaults<Table extends OptionTable>(
  table: Table,
  given: OptionInputs<Table>,
  base?: Partial<ResolvedOptions<Table>>,
): ResolvedOptions<Table> {
  const resolved = Object.entries(table).map(([name, entry]) => {
    const own: unknown = Reflect.get(given, name);
    const before: unknown = base && Reflect.get(base, name);
    // Null is a value, such as of a body.
    const value = [own, before, entry.default].find((one) => one !== undefined);
    // A group that may be left out stays as it was given.
    if (entry.options === undefined || entry.default === undefined || !isObject(value)) return [name, value];
    return [name, withDefaults(entry.options, (own ?? {}) as object, (before ?? {}) as object)];
  });
  return Object.fromEntries(resolved) as ResolvedOptions<Table>;
}

/** Not an instance of a class: its own properties may be anything. Objects of another realm, as in Jest, are plain too. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
