import { monotonicMs } from '../internal/monotonic-clock.ts';
import { type Permit, RateLimiter } from './rate-limiter.ts';

/** Finds the rate limiter of a key. Called for each call, because an idle limiter may have been replaced. */
export type Limiters = (origin: string, apiKey: string) => Limiter;

type Limiter = Pick<RateLimiter, 'run'>;

/** Finds the limiters of a client, by its option `rateLimiter`. */
export function limitersFor(option: 'shared' | 'client' | false): Limiters {
  if (option === false) return () => UNLIMITED;
  return option === 'client' ? createLimiters() : sharedLimiters();
}

const NO_PERMIT: Permit = { settle: () => {} };
const UNLIMITED: Limiter = { run: (_call, send) => send(NO_PERMIT) };

/** Where every copy of the package in the process looks. */
const SLOT = Symbol.for('accounting-data-sdk.rate-limiters');
/** Changed when limiters of one version can no longer replace those of another. */
const PROTOCOL = 'v1';
const DROPPED_AFTER_MS = 10 * 60_000;
/** The order of use is kept to the minute: exact enough for ten, and cheap. */
const TOUCH_MS = 60_000;
/** So many idle limiters are dropped at once: 100,000 in one call would block the event loop for a second. */
const MOST_DROPPED = 100;

/** One limiter for each origin and key in the whole process, whichever client or copy of the package asks. */
function sharedLimiters(): Limiters {
  const holder = globalThis as { [SLOT]?: { [PROTOCOL]?: Limiters } };
  if (holder[SLOT] === undefined) {
    Object.defineProperty(globalThis, SLOT, { value: {}, configurable: true });
  }
  const slot = holder[SLOT] ?? {};
  slot[PROTOCOL] ??= createLimiters();
  return slot[PROTOCOL];
}

/** Keys and limiters are kept in a closure: an inspection of the result shows neither. */
function createLimiters(): Limiters {
  /** In the order of their last use, to the minute. */
  const entries = new Map<string, { readonly limiter: RateLimiter; usedAt: number }>();

  return (origin, apiKey) => {
    const id = `${origin} ${apiKey}`;
    const now = monotonicMs();
    const known = entries.get(id);
    if (known !== undefined && now - known.usedAt < TOUCH_MS) return known.limiter;

    const entry = known ?? { limiter: new RateLimiter(), usedAt: now };
    entry.usedAt = now;
    entries.delete(id);
    entries.set(id, entry);
    // Here and not on a timer, which would keep the process alive.
    let left = MOST_DROPPED;
    for (const [oldId, old] of entries) {
      if (now - old.usedAt < DROPPED_AFTER_MS || left === 0) break;

      left -= 1;
      entries.delete(oldId);
      if (old.limiter.isIdle) continue;
      old.usedAt = now;
      entries.set(oldId, old);
    }
    return entry.limiter;
  };
}
