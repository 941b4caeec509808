import type { ResolvedSandboxOptions } from '../options.ts';

/** The quota of a key after a request was counted. */
export interface QuotaState {
  readonly limit: number;
  readonly remaining: number;
  /** Set if the request is rejected: ms until the quota allows one. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Counts the requests of one key, at a time in ms since the epoch: one, or with 0 none, which only says what is left. A
 * rejected request is not counted.
 */
type Quota = (now: number, count: 0 | 1) => QuotaState;

type Limits = Exclude<ResolvedSandboxOptions['rateLimit'], false>;

/** A window at multiples of its length, or one that opens with the first request after the last one closed. */
function fixed({ limit, windowMs, kind }: Limits): Quota {
  let openedAt = -Infinity;
  let used = 0;
  return (now, count) => {
    // A clock that was turned back opens a new window too.
    if (now >= openedAt + windowMs || now < openedAt) {
      if (count === 0) return { limit, remaining: limit };
      openedAt = kind === 'fixed' ? Math.floor(now / windowMs) * windowMs : now;
      used = 0;
    }
    if (used >= limit) return { limit, remaining: 0, retryAfterMs: openedAt + windowMs - now };
    used += count;
    return { limit, remaining: limit - used };
  };
}

/** Two fixed windows; the older counts by the part of it that is still within the last `windowMs`. */
function slidingCounter({ limit, windowMs }: Limits): Quota {
  let openedAt = 0;
  let usedBefore = 0;
  let used = 0;
  return (now, count) => {
    const window = Math.floor(now / windowMs) * windowMs;
    if (window !== openedAt) {
      usedBefore = window === openedAt + windowMs ? used : 0;
      used = 0;
      openedAt = window;
    }
    const estimate = () => used + usedBefore * (1 - (now - openedAt) / windowMs);
    if (estimate() + 1 > limit) {
      // Once enough of the older window has passed; in the next window the current one is the older.
      const room = limit - 1 - used;
      const allowedAt =
        room >= 0
          ? openedAt + windowMs * (1 - room / usedBefore)
          : openedAt + windowMs * (2 - (limit - 1) / used);
      return { limit, remaining: 0, retryAfterMs: Math.max(1, allowedAt - now) };
    }
    used += count;
    return { limit, remaining: Math.max(0, Math.floor(limit - estimate())) };
  };
}

function tokenBucket({ limit, windowMs }: Limits): Quota {
  let tokens = limit;
  let filledAt = Infinity;
  return (now, count) => {
    tokens = Math.min(limit, tokens + (Math.max(0, now - filledAt) * limit) / windowMs);
    filledAt = now;
    if (tokens < 1) return { limit, remaining: 0, retryAfterMs: ((1 - tokens) * windowMs) / limit };
    tokens -= count;
    return { limit, remaining: Math.floor(tokens) };
  };
}

const KINDS: Readonly<Record<Limits['kind'], (limits: Limits) => Quota>> = {
  fixed,
  'fixed-from-first': fixed,
  'sliding-counter': slidingCounter,
  'token-bucket': tokenBucket,
};

/** What the headers report without a rate limit. */
const UNLIMITED = 1_000_000;

/** The quotas of all keys. */
export class RateLimits {
  readonly #limits: ResolvedSandboxOptions['rateLimit'];
  readonly #quotas = new Map<string, Quota>();

  constructor(limits: ResolvedSandboxOptions['rateLimit']) {
    this.#limits = limits;
  }

  /** What is left to a key; undefined without a rate limit. */
  look(key: string, now: number): QuotaState | undefined {
    if (this.#limits === false) return undefined;
    const { limit } = this.#limits;
    return this.#quotas.get(key)?.(now, 0) ?? { limit, remaining: limit };
  }

  /** Counts a request of a key. A request without a valid key is not counted, and reports a full quota. */
  count(key: string | undefined, now: number): QuotaState {
    if (this.#limits === false) return { limit: UNLIMITED, remaining: UNLIMITED };
    if (key === undefined) return { limit: this.#limits.limit, remaining: this.#limits.limit };

    const quota = this.#quotas.get(key) ?? KINDS[this.#limits.kind](this.#limits);
    this.#quotas.set(key, quota);
    return quota(now, 1);
  }
}
