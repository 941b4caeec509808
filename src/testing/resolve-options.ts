import type { ClockOption } from './clock.ts';
import type { IdempotencyOptions, IdOptions, RateLimitOptions, SandboxOptions } from './options.ts';

type Resolved<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

/** Options with every default in place. */
export interface ResolvedSandboxOptions
  extends Omit<
    Resolved<SandboxOptions>,
    'clock' | 'ids' | 'idempotency' | 'rateLimit' | 'allowedStatuses' | 'requiredFields'
  > {
  readonly clock: ClockOption | undefined;
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

function count(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}.`);
}

function resolveRateLimit(options: SandboxOptions['rateLimit']): ResolvedSandboxOptions['rateLimit'] {
  if (options === false) return false;
  const rateLimit = { budget: 10_000, windowMs: 60_000, kind: 'fixed' as const, ...set(options) };
  count('rateLimit.budget', rateLimit.budget, 1);
  count('rateLimit.windowMs', rateLimit.windowMs, 1);
  return rateLimit;
}

function resolveIds(options: IdOptions | undefined): Resolved<IdOptions> {
  const ids = { form: 'numeric' as const, start: 1, gap: 1, ...set(options) };
  count('ids.start', ids.start, 0);
  count('ids.gap', ids.gap, 1);
  return ids;
}

const DEFAULTS = {
  seed: 1,
  records: 0,
  otherRecords: 0,
  clockOffsetMs: 0,
  timestamps: 'seconds',
  timestampsEverywhere: false,
  pageSize: 30,
  order: 'id-asc',
  badFilter: 'ignore',
  betweenSeparator: '..',
  pastEnd: 'empty',
  listBody: 'array',
  problemType: 'bare',
  problemContentType: 'application/problem+json',
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
  otherBody: 'refuse',
  lifetimeMs: 86_400_000,
} as const satisfies IdempotencyOptions;

/** The one place where a default of the sandbox is applied. Throws a RangeError for a number that makes no sense. */
export function resolveSandboxOptions(options: SandboxOptions): ResolvedSandboxOptions {
  const { allowedStatuses, clock, idempotency, ids, rateLimit, origin, ...rest } = options;
  const resolved = {
    ...DEFAULTS,
    ...set(rest),
    allowedStatuses,
    clock,
    origin: origin === undefined ? `https://sandbox-${++sandboxes}.invalid` : new URL(origin).origin,
    ids: resolveIds(ids),
    idempotency: { ...IDEMPOTENCY_DEFAULTS, ...set(idempotency) },
    rateLimit: resolveRateLimit(rateLimit),
  };
  count('pageSize', resolved.pageSize, 1);
  count('maxRequestBytes', resolved.maxRequestBytes, 0);
  count('commitDelayMs', resolved.commitDelayMs, 0);
  count('logLimit', resolved.logLimit, 0);
  return resolved;
}
