import { collections } from '../collections/index.ts';
import { type OptionNames, suggestion } from '../internal/option-names.ts';
import {
  CHOICES,
  checkChoices,
  checkNames,
  checkTimeZone,
  ID_CHOICES,
  IDEMPOTENCY_CHOICES,
  RATE_LIMIT_CHOICES,
  shown,
} from './check-options.ts';
import type { ClockOption } from './clock.ts';
import type {
  ContentTypeOptions,
  IdempotencyOptions,
  IdOptions,
  RateLimitOptions,
  SandboxOptions,
} from './options.ts';

type Resolved<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** Options with every default in place. */
export interface ResolvedSandboxOptions
  extends Omit<
    Resolved<SandboxOptions>,
    'clock' | 'contentTypes' | 'ids' | 'idempotency' | 'rateLimit' | 'allowedStatuses' | 'requiredFields'
  > {
  readonly clock: ClockOption | undefined;
  readonly contentTypes: Resolved<ContentTypeOptions> | undefined;
  readonly ids: Resolved<IdOptions>;
  readonly idempotency: Resolved<IdempotencyOptions>;
  readonly rateLimit: Resolved<RateLimitOptions> | false;
  readonly requiredFields: readonly string[];
  readonly allowedStatuses: readonly string[] | undefined;
}

// One count for the process: rate gates are kept by origin, and two sandboxes must not meet in one.
let sandboxes = 0;

/** Options that were set; an explicit `undefined` counts as left out. */
function set<T extends object>(options: T | undefined): Partial<Resolved<T>> {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Resolved<T>>;
}

const DEFAULTS = {
  seed: 1,
  records: 0,
  otherRecords: 0,
  clockOffsetMs: 0,
  timestamps: 'seconds',
  timeZone: 'UTC',
  dateFilter: 'instant',
  timestampsEverywhere: false,
  pageSize: 30,
  order: 'id-asc',
  invalidFilter: 'ignore',
  textIdBounds: 'apply',
  betweenSeparator: '..',
  afterLastPage: 'empty',
  hiddenRecords: 0,
  idColumn: 'unbounded',
  listBody: 'array',
  formats: 'json',
  relations: 'id',
  problemType: 'bare',
  problemContentType: 'application/problem+json',
  notFoundBody: 'problem',
  nullFields: 'sent',
  createStatus: 201,
  updateStatus: 200,
  deleteStatus: 204,
  requiredFields: [],
  unknownFields: 'ignore',
  moneyDigits: 4,
  maxRequestBytes: 1_048_576,
  tooLargeStatus: 413,
  commitDelayMs: 0,
  logLimit: 10_000,
} as const satisfies SandboxOptions;

const IDEMPOTENCY_DEFAULTS = {
  replay: 'stored',
  differentBody: 'reject',
  lifetimeMs: 86_400_000,
  storeRejections: false,
} as const satisfies IdempotencyOptions;

const ID_DEFAULTS = { form: 'numeric', start: 1, gap: 1 } as const satisfies IdOptions;

const RATE_LIMIT_DEFAULTS = {
  budget: 10_000,
  windowMs: 60_000,
  kind: 'fixed',
} as const satisfies RateLimitOptions;

const CONTENT_TYPE_DEFAULTS = {
  create: ['application/json'],
  update: ['application/json'],
} as const satisfies ContentTypeOptions;

export const CONTENT_TYPE_OPTIONS: OptionNames<ContentTypeOptions> = namesOf(CONTENT_TYPE_DEFAULTS);
export const ID_OPTIONS: OptionNames<IdOptions> = namesOf(ID_DEFAULTS);
export const IDEMPOTENCY_OPTIONS: OptionNames<IdempotencyOptions> = namesOf(IDEMPOTENCY_DEFAULTS);
export const RATE_LIMIT_OPTIONS: OptionNames<RateLimitOptions> = namesOf(RATE_LIMIT_DEFAULTS);

export const SANDBOX_OPTIONS: OptionNames<SandboxOptions> = {
  ...namesOf(DEFAULTS),
  // Options whose default is not a plain value.
  allowedStatuses: true,
  clock: true,
  contentTypes: CONTENT_TYPE_OPTIONS,
  idempotency: IDEMPOTENCY_OPTIONS,
  ids: ID_OPTIONS,
  origin: true,
  rateLimit: RATE_LIMIT_OPTIONS,
};

function namesOf<Defaults extends object>(defaults: Defaults): { readonly [Name in keyof Defaults]: true } {
  return Object.fromEntries(Object.keys(defaults).map((name) => [name, true])) as {
    [Name in keyof Defaults]: true;
  };
}

function count(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`${name} must be a whole number of at least ${least}, not ${shown(value)}.`);
}

function checkHidden(hidden: number | readonly string[]): void {
  const isShare = typeof hidden === 'number' && hidden >= 0 && hidden <= 1;
  if (isShare || (Array.isArray(hidden) && hidden.every((id) => typeof id === 'string'))) return;
  throw new RangeError(`hiddenRecords must be a number from 0 to 1 or a list of ids, not ${String(hidden)}.`);
}

function resolveRateLimit(options: SandboxOptions['rateLimit']): ResolvedSandboxOptions['rateLimit'] {
  if (options === false) return false;
  const rateLimit = { ...RATE_LIMIT_DEFAULTS, ...set(options) };
  checkNames('rateLimit', rateLimit, Object.keys(RATE_LIMIT_OPTIONS));
  checkChoices('rateLimit.', rateLimit, RATE_LIMIT_CHOICES);
  count('rateLimit.budget', rateLimit.budget, 1);
  count('rateLimit.windowMs', rateLimit.windowMs, 1);
  return rateLimit;
}

function resolveIds(options: IdOptions | undefined): Resolved<IdOptions> {
  const ids = { ...ID_DEFAULTS, ...set(options) };
  checkNames('ids', ids, Object.keys(ID_OPTIONS));
  checkChoices('ids.', ids, ID_CHOICES);
  count('ids.start', ids.start, 0);
  count('ids.gap', ids.gap, 1);
  return ids;
}

function resolveContentTypes(
  options: ContentTypeOptions | undefined,
): ResolvedSandboxOptions['contentTypes'] {
  if (options === undefined) return undefined;
  const contentTypes = { ...CONTENT_TYPE_DEFAULTS, ...set(options) };
  checkNames('contentTypes', contentTypes, Object.keys(CONTENT_TYPE_OPTIONS));
  for (const [name, types] of Object.entries(contentTypes)) {
    if (Array.isArray(types) && types.length > 0 && types.every((type) => typeof type === 'string')) continue;
    throw new TypeError(`contentTypes.${name} must be a list of content types, not ${String(types)}.`);
  }
  return contentTypes;
}

function resolveIdempotency(options: IdempotencyOptions | undefined): Resolved<IdempotencyOptions> {
  const idempotency = { ...IDEMPOTENCY_DEFAULTS, ...set(options) };
  checkNames('idempotency', idempotency, Object.keys(IDEMPOTENCY_OPTIONS));
  checkChoices('idempotency.', idempotency, IDEMPOTENCY_CHOICES);
  count('idempotency.lifetimeMs', idempotency.lifetimeMs, 0);
  const { storeRejections } = idempotency;
  if (typeof storeRejections !== 'boolean') {
    throw new TypeError(`idempotency.storeRejections must be true or false, not ${shown(storeRejections)}.`);
  }
  return idempotency;
}

/** Flags and strings have the type of their default; lists of names are checked against the names that there are. */
function checkTypes(options: SandboxOptions): void {
  for (const [name, normal] of Object.entries(DEFAULTS)) {
    const value = options[name as keyof SandboxOptions];
    const type = typeof normal;
    if (value === undefined || (type !== 'boolean' && type !== 'string') || typeof value === type) continue;
    throw new TypeError(
      `${name} must be ${type === 'boolean' ? 'true or false' : 'a string'}, not ${shown(value)}.`,
    );
  }
  const { requiredFields = [], allowedStatuses = [] } = options;
  const { fields, serverFilled } = collections.products;
  const unknown = requiredFields.find((name) => !Object.hasOwn(fields, name) || serverFilled.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(
      `requiredFields: ${shown(unknown)} is not a field of a product. ${suggestion(unknown, Object.keys(fields))}`,
    );
  }
  if (!Array.isArray(allowedStatuses) || allowedStatuses.some((status) => typeof status !== 'string')) {
    throw new TypeError('allowedStatuses must be an array of strings.');
  }
}

/**
 * The one place where a default of the sandbox is applied. Throws a RangeError for a number that makes no sense, a
 * TypeError for an option or a value that does not exist.
 */
export function resolveSandboxOptions(options: SandboxOptions): ResolvedSandboxOptions {
  checkNames('createSandbox', options, Object.keys(SANDBOX_OPTIONS));
  checkChoices('', options, CHOICES);
  checkTypes(options);
  const { allowedStatuses, clock, contentTypes, idempotency, ids, rateLimit, origin, ...rest } = options;
  const resolved = {
    ...DEFAULTS,
    ...set(rest),
    allowedStatuses,
    clock,
    origin: origin === undefined ? `https://sandbox-${++sandboxes}.invalid` : new URL(origin).origin,
    contentTypes: resolveContentTypes(contentTypes),
    ids: resolveIds(ids),
    idempotency: resolveIdempotency(idempotency),
    rateLimit: resolveRateLimit(rateLimit),
  };
  checkTimeZone(resolved.timeZone);
  if (!Number.isSafeInteger(resolved.seed)) {
    throw new RangeError(`seed must be a whole number, not ${shown(resolved.seed)}.`);
  }
  if (!Number.isFinite(resolved.clockOffsetMs)) {
    throw new RangeError(
      `clockOffsetMs must be a number of milliseconds, not ${shown(resolved.clockOffsetMs)}.`,
    );
  }
  count('pageSize', resolved.pageSize, 1);
  checkHidden(resolved.hiddenRecords);
  count('maxRequestBytes', resolved.maxRequestBytes, 0);
  count('commitDelayMs', resolved.commitDelayMs, 0);
  if (resolved.moneyDigits !== 'as-sent') count('moneyDigits', resolved.moneyDigits, 0);
  count('logLimit', resolved.logLimit, 0);
  return resolved;
}
