import {
  CHOICES,
  checkChoices,
  checkNames,
  checkTimeZone,
  ID_CHOICES,
  IDEMPOTENCY_CHOICES,
  RATE_LIMIT_CHOICES,
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

/** Options whose default is no plain value. */
const OTHERS = [
  'allowedStatuses',
  'clock',
  'contentTypes',
  'idempotency',
  'ids',
  'origin',
  'rateLimit',
] as const satisfies readonly (keyof SandboxOptions)[];

function count(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}.`);
}

function checkHidden(hidden: number | readonly string[]): void {
  const isShare = typeof hidden === 'number' && hidden >= 0 && hidden <= 1;
  if (isShare || (Array.isArray(hidden) && hidden.every((id) => typeof id === 'string'))) return;
  throw new RangeError(`hiddenRecords must be a number from 0 to 1 or a list of ids, not ${String(hidden)}.`);
}

function resolveRateLimit(options: SandboxOptions['rateLimit']): ResolvedSandboxOptions['rateLimit'] {
  if (options === false) return false;
  const rateLimit = { ...RATE_LIMIT_DEFAULTS, ...set(options) };
  checkNames('rateLimit', rateLimit, Object.keys(RATE_LIMIT_DEFAULTS));
  checkChoices('rateLimit.', rateLimit, RATE_LIMIT_CHOICES);
  count('rateLimit.budget', rateLimit.budget, 1);
  count('rateLimit.windowMs', rateLimit.windowMs, 1);
  return rateLimit;
}

function resolveIds(options: IdOptions | undefined): Resolved<IdOptions> {
  const ids = { ...ID_DEFAULTS, ...set(options) };
  checkNames('ids', ids, Object.keys(ID_DEFAULTS));
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
  checkNames('contentTypes', contentTypes, Object.keys(CONTENT_TYPE_DEFAULTS));
  for (const [name, types] of Object.entries(contentTypes)) {
    if (Array.isArray(types) && types.length > 0 && types.every((type) => typeof type === 'string')) continue;
    throw new TypeError(`contentTypes.${name} must be a list of content types, not ${String(types)}.`);
  }
  return contentTypes;
}

function resolveIdempotency(options: IdempotencyOptions | undefined): Resolved<IdempotencyOptions> {
  const idempotency = { ...IDEMPOTENCY_DEFAULTS, ...set(options) };
  checkNames('idempotency', idempotency, Object.keys(IDEMPOTENCY_DEFAULTS));
  checkChoices('idempotency.', idempotency, IDEMPOTENCY_CHOICES);
  count('idempotency.lifetimeMs', idempotency.lifetimeMs, 0);
  return idempotency;
}

/**
 * The one place where a default of the sandbox is applied. Throws a RangeError for a number that makes no sense, a
 * TypeError for an option or a value that does not exist.
 */
export function resolveSandboxOptions(options: SandboxOptions): ResolvedSandboxOptions {
  checkNames('createSandbox', options, [...Object.keys(DEFAULTS), ...OTHERS]);
  checkChoices('', options, CHOICES);
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
  count('pageSize', resolved.pageSize, 1);
  checkHidden(resolved.hiddenRecords);
  count('maxRequestBytes', resolved.maxRequestBytes, 0);
  count('commitDelayMs', resolved.commitDelayMs, 0);
  if (resolved.moneyDigits !== 'as-sent') count('moneyDigits', resolved.moneyDigits, 0);
  count('logLimit', resolved.logLimit, 0);
  return resolved;
}
