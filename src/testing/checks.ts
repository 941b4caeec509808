import { collectionNames } from '../collections/index.ts';
import { suggestion } from '../internal/option-names.ts';

/** Which values something may have. `T` is their type. */
export interface Check<T> {
  /** Such as `a string`: the end of a sentence that begins with "must be". */
  readonly expected: string;
  /** Whether a value is allowed. */
  readonly allows: (value: unknown) => value is T;
  /** All values, if there are few. */
  readonly values?: readonly T[];
}

/** Checks by the name of the value. */
export type Checks = Readonly<Record<string, Check<unknown>>>;

function check<T>(expected: string, allows: (value: unknown) => boolean): Check<T> {
  return { expected, allows: allows as Check<T>['allows'] };
}

const isString = (value: unknown) => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isIntegerFrom = (value: unknown, least: number) =>
  Number.isSafeInteger(value) && (value as number) >= least;

/** The checks that several options, faults and conditions need. */
export const is = {
  flag: check<boolean>('true or false', (value) => typeof value === 'boolean'),
  string: check<string>('a string', isString),
  strings: check<readonly string[]>(
    'an array of strings',
    (value) => Array.isArray(value) && value.every(isString),
  ),
  integer: check<number>('a whole number', Number.isSafeInteger),
  integerFrom: (least: number) =>
    check<number>(`a whole number of at least ${least}`, (value) => isIntegerFrom(value, least)),
  fraction: check<number>('a number from 0 to 1', (value) => isNumber(value) && value >= 0 && value <= 1),
  milliseconds: check<number>('a number of milliseconds', isNumber),
  duration: check<number>(
    'a number of milliseconds, at least 0',
    (value) => value === Infinity || (isNumber(value) && value >= 0),
  ),
  status: check<number>(
    'a status from 100 to 999',
    (value) => isIntegerFrom(value, 100) && (value as number) <= 999,
  ),
  oneOf: <const T extends string | number>(...values: readonly T[]): Check<T> => ({
    ...check(`one of ${values.join(', ')}`, (value) => values.includes(value as T)),
    values,
  }),
  check,
};

/**
 * Throws a TypeError for a value that its check does not allow, and for a name without a check. Tests in JavaScript have
 * no compiler that finds it, and a test with a misspelt option, fault or condition passes and proves nothing.
 */
export function checkValues(
  given: object,
  checks: Checks,
  { of, path = '' }: { of: string; path?: string },
): void {
  checkNames(of, given, Object.keys(checks));
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) checkValue(`${path}${name}`, value, checks[name]);
  }
}

/** Throws a TypeError for a value that its check does not allow. */
export function checkValue(name: string, value: unknown, check: Check<unknown> | undefined): void {
  if (check === undefined || check.allows(value)) return;
  throw new TypeError(`${name} must be ${check.expected}, not ${shown(value)}.`);
}

/** Throws a TypeError for a name that is not known. One without a value is ignored. */
export function checkNames(of: string, given: object, known: readonly string[]): void {
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !known.includes(name));
  if (unknown === undefined) return;
  const [name] = unknown;
  throw new TypeError(`${name} is not an option of ${of}. ${suggestion(name, known)}`);
}

/** Throws a TypeError for a collection that does not exist. */
export function checkCollections(where: string, names: readonly string[]): void {
  const known: readonly string[] = collectionNames;
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`${where}: there is no collection ${unknown}. ${suggestion(unknown, known)}`);
}

/** A value as a message shows it. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value).slice(0, 60);
}
