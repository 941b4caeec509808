/** The rate limit of a key as a response reported it (specification: Limits). */
export interface RateLimit {
  /** X-RateLimit-Limit. */
  readonly limit: number;
  /** X-RateLimit-Remaining. */
  readonly remaining: number;
  readonly observedAt: Date;
}
