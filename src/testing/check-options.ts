import { type CollectionName, collectionNames } from '../collections/index.ts';
import { suggestion, unknownName } from '../internal/option-names.ts';
import { zoneOffsetMs } from '../internal/utc-offset.ts';
import {
  ID_FORMS,
  LIST_BODIES,
  LIST_ORDERS,
  PROBLEM_TYPE_FORMS,
  TIMESTAMP_FORMS,
} from '../schemas/service-forms.ts';
import type { IdempotencyOptions, IdOptions, RateLimitOptions, SandboxOptions } from './options.ts';

const PROBLEM_TYPES = [...PROBLEM_TYPE_FORMS, 'api-platform', 'api-platform-3.1'] as const;

/** The values of options that are one of a few. */
type Choices<Options> = { readonly [Name in keyof Options]?: readonly Options[Name][] };

export const CHOICES = {
  timestamps: TIMESTAMP_FORMS,
  dateFilter: ['instant', 'local'],
  order: LIST_ORDERS,
  invalidFilter: ['ignore', 'reject'],
  textIdBounds: ['apply', 'ignore'],
  afterLastPage: ['empty', 'not-found'],
  idColumn: ['unbounded', 'int4', 'int8'],
  listBody: LIST_BODIES,
  formats: ['json', 'jsonld', 'both'],
  relations: ['id', 'iri'],
  notFoundBody: ['problem', 'html', 'json', 'empty'],
  problemType: PROBLEM_TYPES,
  problemContentType: ['application/problem+json', 'application/json', 'application/ld+json'],
  nullFields: ['sent', 'omitted'],
  createStatus: [200, 201],
  updateStatus: [200, 201, 204],
  deleteStatus: [200, 204],
  unknownFields: ['ignore', 'reject'],
  tooLargeStatus: [400, 413, 422],
} as const satisfies Choices<SandboxOptions>;

export const ID_CHOICES = { form: ID_FORMS } as const satisfies Choices<IdOptions>;

export const IDEMPOTENCY_CHOICES = {
  replay: ['stored', 'conflict', 'ignored'],
  differentBody: ['reject', 'stored'],
} as const satisfies Choices<IdempotencyOptions>;

export const RATE_LIMIT_CHOICES = {
  kind: ['fixed', 'fixed-from-first', 'sliding', 'sliding-counter', 'token-bucket'],
} as const satisfies Choices<RateLimitOptions>;

/**
 * Throws a TypeError for a name that does not exist. Tests in JavaScript have no compiler that finds it, and a
 * misspelt option, fault or condition makes a test pass that tests nothing.
 */
export function checkNames(of: string, given: object, known: readonly string[]): void {
  const table = Object.fromEntries(known.map((name) => [name, true as const]));
  const unknown = unknownName(given, table);
  if (unknown === undefined) return;
  throw new TypeError(
    `${unknown.name} is not an option of ${of}. ${suggestion(unknown.name, unknown.known)}`,
  );
}

/** Throws a TypeError for a value that is none of those that an option may have. */
export function checkChoices(
  where: string,
  given: object,
  choices: Readonly<Record<string, readonly unknown[]>>,
): void {
  const values = new Map<string, unknown>(Object.entries(given));
  for (const [name, allowed] of Object.entries(choices)) {
    const value = values.get(name);
    if (value === undefined || allowed.includes(value)) continue;
    throw new TypeError(`${where}${name} must be one of ${allowed.join(', ')}, not ${shown(value)}.`);
  }
}

/** Throws a TypeError for a time zone that does not exist. */
export function checkTimeZone(timeZone: string): void {
  try {
    zoneOffsetMs(timeZone, 0);
  } catch {
    throw new TypeError(`timeZone must be an IANA name such as Europe/Amsterdam, not ${String(timeZone)}.`);
  }
}

/** Throws a TypeError for a name of a collection that does not exist. */
export function checkCollections(where: string, names: readonly (CollectionName | undefined)[]): void {
  const stranger = names.find((name) => name !== undefined && !collectionNames.includes(name));
  if (stranger === undefined) return;
  throw new TypeError(`${where}: there is no collection ${stranger}, but ${collectionNames.join(', ')}.`);
}

/** A value as it may stand in a message. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value).slice(0, 60);
}
