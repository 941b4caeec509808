/** How the wait for a service that is down may be reported, and ended. */
export interface OutageWaits {
  readonly signal: AbortSignal | undefined;
  /** Called before each wait, with its length in ms and why it waits. */
  readonly onWait:
    | ((waitMs: number | undefined, reason: 'rate_limit' | 'retry' | 'outage') => void)
    | undefined;
  /** The longest single wait that the service may ask for. */
  readonly maxWaitMs: number;
}

/** Sends a call again while the service is down. The call reports its own waits to the `onWait` that it gets. */
export interface OutageGuard {
  run<V>(call: (onWait: OutageWaits['onWait']) => Promise<V>, waits: OutageWaits): Promise<V>;
}

/** Marks the options of a list whose requests are to outlast an outage: each page is requested under this guard. */
export const OUTAGE: unique symbol = Symbol.for('accounting-data-sdk.outage');
