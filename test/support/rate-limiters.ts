/** What a limiter says to one call. */
export interface Verdict {
  readonly allowed: boolean;
  /** X-RateLimit-Limit and -Remaining. */
  readonly limit: number;
  readonly remaining: number;
  /** Retry-After in whole seconds, rounded up, with a 429. */
  readonly retryAfterS: number | undefined;
}

/** Counts the calls of one key as some services do. */
export type Limiter = (nowMs: number) => Verdict;

/** The quota: a number of calls in a time. */
export interface Allowance {
  readonly limit: number;
  readonly windowMs: number;
}

const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));

function verdict({ limit }: Allowance, free: number, opensInMs: number): Verdict {
  const allowed = free >= 1;
  const remaining = Math.max(0, Math.floor(allowed ? free - 1 : 0));
  return { allowed, limit, remaining, retryAfterS: allowed ? undefined : seconds(opensInMs) };
}

/** Windows that begin at multiples of their length. */
function fixedWindow(allowance: Allowance): Limiter {
  let current = Number.NEGATIVE_INFINITY;
  let used = 0;
  return (now) => {
    const index = Math.floor(now / allowance.windowMs);
    if (index !== current) used = 0;
    current = index;
    const result = verdict(allowance, allowance.limit - used, (index + 1) * allowance.windowMs - now);
    if (result.allowed) used += 1;
    return result;
  };
}

/** A window that begins with the first call after the last one has ended. */
function firstCallWindow(allowance: Allowance): Limiter {
  let beganAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  return (now) => {
    if (now >= beganAt + allowance.windowMs) {
      beganAt = now;
      used = 0;
    }
    const result = verdict(allowance, allowance.limit - used, beganAt + allowance.windowMs - now);
    if (result.allowed) used += 1;
    return result;
  };
}

/** A bucket that holds `limit` calls and fills evenly within a window. */
function tokenBucket(allowance: Allowance): Limiter {
  const perMs = allowance.limit / allowance.windowMs;
  let tokens = allowance.limit;
  let filledAt: number | undefined;
  return (now) => {
    tokens = Math.min(allowance.limit, tokens + (now - (filledAt ?? now)) * perMs);
    filledAt = now;
    const result = verdict(allowance, tokens, (1 - tokens) / perMs);
    if (result.allowed) tokens -= 1;
    return result;
  };
}

/** The last window counts in proportion to how much of it a window that ends now would still cover. */
function slidingCounter(allowance: Allowance): Limiter {
  const { limit, windowMs } = allowance;
  let index = 0;
  let last = 0;
  let used = 0;
  return (now) => {
    const present = Math.floor(now / windowMs);
    if (present > index) last = present === index + 1 ? used : 0;
    if (present > index) used = 0;
    index = Math.max(index, present);
    const covered = 1 - (now / windowMs - index);
    const free = limit - used - last * covered;
    // When the last window has faded enough for one more call; the next window at the latest.
    const opensInMs = last === 0 ? covered * windowMs : Math.min(covered, (1 - free) / last) * windowMs;
    const result = verdict(allowance, free, opensInMs);
    if (result.allowed) used += 1;
    return result;
  };
}

/** Every kind, by the name that reports print. */
export const LIMITERS = {
  'fixed window': fixedWindow,
  'window from first call': firstCallWindow,
  'token bucket': tokenBucket,
  'sliding counter': slidingCounter,
} as const satisfies Record<string, (allowance: Allowance) => Limiter>;

export type LimiterName = keyof typeof LIMITERS;

/** These have windows of their own: the first of a run may have begun before it. */
export const ALIGNED: ReadonlySet<LimiterName> = new Set(['fixed window', 'sliding counter']);
