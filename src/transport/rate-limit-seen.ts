import type { GateAnswer, RateLimit } from './rate-types.ts';

/** The budget as an answer reports it; undefined where it does not. */
export function rateLimitSeen({ limit, remaining }: GateAnswer): RateLimit | undefined {
  if (limit === undefined || remaining === undefined) return undefined;
  return { limit, remaining, observedAt: new Date() };
}
