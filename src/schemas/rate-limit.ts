/** The budget of a key as an answer reported it (contract: Limits). */
export interface RateLimit {
  /** X-RateLimit-Limit. */
  readonly limit: number;
  /** X-RateLimit-Remaining. */
  readonly remaining: number;
  readonly observedAt: Date;
}
