import { type Permit, RateLimiter } from './rate-limiter.ts';

/** Finds the rate limiter of a key. Called for each call, because an idle limiter may have been dropped. */
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
/** Keys rotate: beyond so many limiters, those that were not used for longest are dropped, unless they are in use or paused. */
const MOST_IDLE = 1_000;

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
  /** Those used since `before` was renewed. Two maps, because keeping all in the order of their use costs time in each call. */
  let recent = new Map<string, RateLimiter>();
  let before = new Map<string, RateLimiter>();

  return (origin, apiKey) => {
    const id = `${origin} ${apiKey}`;
    const known = recent.get(id);
    if (known !== undefined) return known;

    const limiter = before.get(id) ?? new RateLimiter();
    before.delete(id);
    recent.set(id, limiter);
    if (recent.size < MOST_IDLE) return limiter;
    before = new Map([...[...before].filter(([, { isIdle }]) => !isIdle), ...recent]);
    recent = new Map();
    return limiter;
  };
}
