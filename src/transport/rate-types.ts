import type { RateLimit } from '../schemas/rate-limit.ts';

export type { RateLimit } from '../schemas/rate-limit.ts';

/** A call that asks the gate to be let through. */
export interface GateCall {
  /** Interactive calls pass background walks, which keep one slot in five. */
  readonly priority: 'interactive' | 'background';
  /** The call was let through before and refused by the service with 429: it goes to the front. */
  readonly refused: boolean;
  /** Stops the wait; `enter` then rejects with the signal's reason. */
  readonly signal: AbortSignal | undefined;
  /** When the caller gives up, in ms of the limiter's clock; Infinity for never. */
  readonly deadlineAt: number;
  /** The longest single wait that the caller accepts, in ms; Infinity for any. */
  readonly maxWaitMs: number;
  /** Told once for each wait, before it begins. `waitMs` is undefined where its end is not known. */
  readonly onWait: (waitMs: number | undefined) => void;
}

/** What an answer of the service says about the budget. Absent headers are undefined. */
export interface GateAnswer {
  readonly status: number;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** Retry-After in ms, where the answer carries a valid one. */
  readonly retryAfterMs: number | undefined;
}

/** The right to send one request. Exactly one of its methods is called, once; later calls are ignored. */
export interface GatePass {
  /** The headers of an answer have arrived: called before the body is read, so that the news is fresh. */
  answered(answer: GateAnswer): void;
  /** The attempt ended without an answer. */
  released(): void;
}

/** Holds calls of one (origin, key) back before the service refuses them. */
export interface RateGate {
  /** Resolves when the call may be sent. Rejects with {@link GateRefusal} or with the signal's reason. */
  enter(call: GateCall): Promise<GatePass>;
  /** The budget as last reported; undefined until an answer carried the headers. */
  readonly rateLimit: RateLimit | undefined;
}
