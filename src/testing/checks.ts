import { collectionNames } from '../collections/index.ts';
import {
  is as common,
  givenOptions,
  type OptionContext,
  type OptionTable,
  type ResolvedOptions,
  withDefaults,
} from '../internal/options.ts';
import { isError } from '../internal/realm.ts';
import { suggestion } from '../internal/suggestion.ts';

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** The checks that several options, faults and conditions need. */
export const is = {
  ...common,
  fraction: common.check<number>(
    'a number from 0 to 1',
    (value) => isNumber(value) && value >= 0 && value <= 1,
  ),
  milliseconds: common.check<number>('a number of milliseconds', isNumber),
  status: common.check<number>(
    'a status from 100 to 999',
    (value) => Number.isInteger(value) && Number(value) >= 100 && Number(value) <= 999,
  ),
};

/**
 * Throws a TypeError for a value that its check does not allow, and for a name without a check. Tests in JavaScript have
 * no compiler that finds it, and a test with a misspelt option, fault or condition passes and proves nothing.
 * `parent` stands before each name in a message.
 */
export function checkValues(given: object, checks: OptionTable, of: string, parent = ''): void {
  givenOptions(checks, given, { of, reject: (found) => reject(found, parent) });
}

/** Applies the defaults of a table. Throws as {@link checkValues}. `ofNumber` is what a number alone may mean. */
export function resolved<Table extends OptionTable>(
  table: Table,
  options: object,
  of: string,
  ofNumber?: string,
): ResolvedOptions<Table> {
  const example = ofNumber && typeof options === 'number' ? `{ ${ofNumber}: ${options} }` : exampleOf(table);
  checkObject(options, of, example);
  return withDefaults(table, givenOptions(table, options, { of, reject }));
}

/** What to pass instead of what is no object. */
export const exampleOf = (table: object) => `an object such as { ${Object.keys(table)[0]}: … }`;

/** Throws a TypeError for what is no plain object: it has no name that is an option, so it would be ignored. */
export function checkObject(given: unknown, of: string, example: string): void {
  const prototype: unknown = typeof given === 'object' && given !== null && Object.getPrototypeOf(given);
  // Objects of another realm, as in Jest, are plain too.
  if (prototype === null || (prototype !== false && Object.getPrototypeOf(prototype) === null)) return;
  throw new TypeError(`${of} got ${shown(given)} instead of options. Pass ${example}.`);
}

type Rejected = Parameters<OptionContext['reject']>[0];

function reject({ path, problem, ...found }: Rejected, parent = ''): OptionError {
  const value = 'value' in found ? `, not ${shown(found.value)}.` : '';
  return at(path, new TypeError(`${parent}${path} ${problem}${value}`));
}

interface OptionError extends Error {
  readonly path: string;
}

/** Notes in an error which option is wrong: a problem document names it. */
export function at<E extends Error>(path: string, error: E): E & OptionError {
  return Object.assign(error, { path });
}

/** Notes in what it throws that the option is part of another one. */
export function within<T>(parent: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw isOptionError(error) ? at(`${parent}.${error.path}`, error) : error;
  }
}

export function isOptionError(error: unknown): error is OptionError {
  return isError(error) && typeof (error as Partial<OptionError>).path === 'string';
}

/** Throws a TypeError for a collection that does not exist. */
export function checkCollections(where: string, names: readonly string[]): void {
  const known: readonly string[] = collectionNames;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw at(
    where,
    new TypeError(`${where}: there is no collection ${unknown}. ${suggestion(unknown, known)}`),
  );
}

/** A value as a message shows it. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value).slice(0, 60);
}
