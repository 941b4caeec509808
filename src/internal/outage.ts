/** How the wait for a service that is down may be told of, and ended. */
export interface OutageWaits {
  readonly signal: AbortSignal | undefined;
  /** Called before each wait, with its length in ms. */
  readonly onWait: ((waitMs: number) => void) | undefined;
  /** The longest single wait. */
  readonly maxWaitMs: number;
}

/** Calls again while the service is down. */
export interface OutageGuard {
  run<V>(call: () => Promise<V>, waits: OutageWaits): Promise<V>;
}

/** Marks the options of a list whose requests are to outlast an outage: each page is requested under this guard. */
export const OUTAGE: unique symbol = Symbol.for('accounting-data-sdk.outage');
