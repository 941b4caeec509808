const BRAND = Symbol.for('accounting-data-sdk.gate-refusal');

/**
 * The wait in the gate would pass the caller's deadline or wait cap.
 * Internal: the transport turns it into a typed error.
 */
export class GateRefusal extends Error {
  /** How long until the gate is expected to open, in ms, where known. */
  readonly retryAfterMs: number | undefined;
  /** Whether the quota is known to be used up, or a Retry-After holds; false if the deadline ended before it was known. */
  readonly limited: boolean;

  constructor(retryAfterMs: number | undefined, limited: boolean) {
    super('The rate gate opens too late for this call.');
    this.retryAfterMs = retryAfterMs;
    this.limited = limited;
    Object.defineProperty(this, BRAND, { value: true });
  }

  // The gate of a key may have been made by another installed copy of the package.
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
