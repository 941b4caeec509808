/** How the waits of a guarded request may be reported, and ended. */
export interface RequestWaits {
  readonly signal: AbortSignal | undefined;
  /** Called before each wait, with its length in ms and why it waits. */
  readonly onWait:
    | ((waitMs: number | undefined, reason: 'rate_limit' | 'retry' | 'outage') => void)
    | undefined;
  /** The longest single wait that the service may ask for. */
  readonly maxWaitMs: number;
}

/**
 * Decides when a request is sent, and whether it is sent again: `sync` sends it again while the service is down, and
 * limits the requests in flight.
 */
export interface RequestGuard {
  /** Resolves with what `send` resolves with. The request reports its own waits to the `onWait` that `send` gets. */
  run<V>(send: (onWait: RequestWaits['onWait']) => Promise<V>, waits: RequestWaits): Promise<V>;
}
