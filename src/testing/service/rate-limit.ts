import type { ResolvedSandboxOptions } from '../resolve-options.ts';

/** What a key has left after a request asked to be counted. */
export interface BudgetAnswer {
  readonly limit: number;
  readonly remaining: number;
  /** Set when the request is refused: ms until one would be let through. */
  readonly refusedForMs?: number | undefined;
}

/** The budget of one key. A refused request is not counted. */
export interface Budget {
  take(now: number): BudgetAnswer;
}

type Limits = Exclude<ResolvedSandboxOptions['rateLimit'], false>;

/** A window at multiples of its length, or one that opens with the first request after the last one closed. */
function fixed({ budget: limit, windowMs, kind }: Limits): Budget {
  let opened = -Infinity;
  let used = 0;
  return {
    take(now) {
      // A clock that was turned back opens a new window too.
      if (now >= opened + windowMs || now < opened) {
        opened = kind === 'fixed' ? Math.floor(now / windowMs) * windowMs : now;
        used = 0;
      }
      if (used >= limit) return { limit, remaining: 0, refusedForMs: opened + windowMs - now };
      used += 1;
      return { limit, remaining: limit - used };
    },
  };
}

/** The requests of the last window, one by one. */
function sliding({ budget: limit, windowMs }: Limits): Budget {
  let times: number[] = [];
  return {
    take(now) {
      times = times.filter((time) => time > now - windowMs && time <= now);
      const oldest = times[0];
      if (times.length >= limit && oldest !== undefined) {
        return { limit, remaining: 0, refusedForMs: oldest + windowMs - now };
      }
      times.push(now);
      return { limit, remaining: limit - times.length };
    },
  };
}

/** Two fixed windows, the older weighed by the part of it that is still in the last `windowMs`. */
function slidingCounter({ budget: limit, windowMs }: Limits): Budget {
  let opened = 0;
  let before = 0;
  let used = 0;
  return {
    take(now) {
      const window = Math.floor(now / windowMs) * windowMs;
      if (window !== opened) {
        before = window === opened + windowMs ? used : 0;
        used = 0;
        opened = window;
      }
      const weighed = () => used + before * (1 - (now - opened) / windowMs);
      if (weighed() + 1 > limit) {
        // When enough of the older window has slid out; in the next window the current one is the older.
        const room = limit - 1 - used;
        const openAt =
          room >= 0 ? opened + windowMs * (1 - room / before) : opened + windowMs * (2 - (limit - 1) / used);
        return { limit, remaining: 0, refusedForMs: Math.max(1, openAt - now) };
      }
      used += 1;
      return { limit, remaining: Math.max(0, Math.floor(limit - weighed())) };
    },
  };
}

function tokenBucket({ budget: limit, windowMs }: Limits): Budget {
  let tokens = limit;
  let filledAt = -Infinity;
  return {
    take(now) {
      const gained = filledAt === -Infinity ? 0 : (Math.max(0, now - filledAt) * limit) / windowMs;
      tokens = Math.min(limit, tokens + gained);
      filledAt = now;
      if (tokens < 1) return { limit, remaining: 0, refusedForMs: ((1 - tokens) * windowMs) / limit };
      tokens -= 1;
      return { limit, remaining: Math.floor(tokens) };
    },
  };
}

const KINDS: Readonly<Record<Limits['kind'], (limits: Limits) => Budget>> = {
  fixed,
  'fixed-from-first': fixed,
  sliding,
  'sliding-counter': slidingCounter,
  'token-bucket': tokenBucket,
};

/** Reported where nothing is limited, and to callers without a key that has a budget. */
const UNLIMITED = 1_000_000;

/** The budgets of all keys. */
export class RateLimits {
  readonly #limits: ResolvedSandboxOptions['rateLimit'];
  readonly #budgets = new Map<string, Budget>();

  constructor(limits: ResolvedSandboxOptions['rateLimit']) {
    this.#limits = limits;
  }

  /** Counts a request of a key. Without a key nothing is counted: there is no budget to report but the whole one. */
  take(key: string | undefined, now: number): BudgetAnswer {
    if (this.#limits === false) return { limit: UNLIMITED, remaining: UNLIMITED };
    if (key === undefined) return { limit: this.#limits.budget, remaining: this.#limits.budget };

    const budget = this.#budgets.get(key) ?? KINDS[this.#limits.kind](this.#limits);
    this.#budgets.set(key, budget);
    return budget.take(now);
  }
}
