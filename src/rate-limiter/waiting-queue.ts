export interface LimitedCall {
  /** The call got a 429 before: it goes to the front of the queue. */
  readonly wasRejected: boolean;
  readonly signal: AbortSignal | undefined;
  /** The deadline of the call, in ms of the monotonic clock; Infinity for none. */
  readonly deadlineAt: number;
  /** The longest wait that the caller accepts; Infinity for any. */
  readonly maxWaitMs: number;
  /** The time within which an attempt ends: after that it no longer counts as in flight. */
  readonly timeoutMs: number;
  /** Called once, before a wait. `waitMs` is undefined if it depends on a response. */
  readonly onWait: (waitMs: number | undefined) => void;
  /**
   * The error for a call that gets no permit in time. `limit` is set if its deadline ran out while the limits were unknown.
   * Otherwise the quota is used up for longer than the call may wait: for `retryAfterMs`, if that is known.
   */
  readonly giveUp: (limit: 'deadline' | undefined, retryAfterMs: number | undefined) => Error;
}

/** A pause of a minute that begins a moment after the call still fits into a `maxWaitMs` of a minute: both are common. */
const GRACE = { share: 0.05, longestMs: 1_000 };

/** A call in the queue. Its code sleeps until it is woken or its own timer fires. */
export class Waiter {
  readonly wasRejected: boolean;
  /** The call is sent then, even while the limits are unknown. */
  readonly sendAt: number;
  /** The call ends then if the quota is used up. */
  readonly giveUpAt: number;
  readonly timeoutMs: number;
  /** When its timer fires, or when it was woken. */
  wakesAt: number;
  wake: () => void = () => {};

  constructor({ wasRejected, maxWaitMs, deadlineAt, timeoutMs }: LimitedCall, now: number) {
    const graceMs = Math.min(GRACE.longestMs, GRACE.share * maxWaitMs);
    this.wasRejected = wasRejected;
    this.sendAt = Math.min(deadlineAt, now + maxWaitMs);
    this.giveUpAt = Math.min(deadlineAt, now + maxWaitMs + graceMs);
    this.timeoutMs = timeoutMs;
    this.wakesAt = now;
  }
}

/** First come, first served. A waiter can leave from the middle. */
class Lane {
  readonly members = new Set<Waiter>();
  /** Kept, because a new iterator of a Set passes over all that were removed from its front: seconds for 100,000 calls. */
  #iterator = this.members.values();
  #first: Waiter | undefined;

  get first(): Waiter | undefined {
    if (this.#first !== undefined && this.members.has(this.#first)) return this.#first;

    let next = this.#iterator.next();
    if (next.done) {
      this.#iterator = this.members.values();
      next = this.#iterator.next();
    }
    this.#first = next.value;
    return this.#first;
  }
}

/** Which call is next: calls that got a 429, then the others. */
export class WaitingQueue {
  readonly #rejected = new Lane();
  readonly #others = new Lane();

  /** The next call. */
  get first(): Waiter | undefined {
    return this.#rejected.first ?? this.#others.first;
  }

  /** Changes nothing for a waiter that is in the queue. */
  add(waiter: Waiter): void {
    this.#laneOf(waiter).members.add(waiter);
  }

  remove(waiter: Waiter): void {
    this.#laneOf(waiter).members.delete(waiter);
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    yield* this.#rejected.members;
    yield* this.#others.members;
  }

  #laneOf({ wasRejected }: Waiter): Lane {
    return wasRejected ? this.#rejected : this.#others;
  }
}
