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
 * Decides when a request of a list is sent, and whether it is sent again: `sync` sends it again while the service is
 * down, and limits the requests in flight.
 */
export interface RequestGuard {
  /** Resolves with what `send` resolves with. The request reports its own waits to the `onWait` that `send` gets. */
  run<V>(send: (onWait: RequestWaits['onWait']) => Promise<V>, waits: RequestWaits): Promise<V>;
}

/** Of the registry, so that a sync and a client of two installed copies find the same one. */
const GUARD: unique symbol = Symbol.for('accounting-data-sdk.request-guard');

/** The options of a list whose requests go through a guard. It is not a public option, so it has no name. */
export function guarded<Options extends object>(options: Options, guard: RequestGuard): Options {
  return { ...options, [GUARD]: guard };
}

export function guardOf(options: object): RequestGuard | undefined {
  return (options as { readonly [GUARD]?: RequestGuard })[GUARD];
}
