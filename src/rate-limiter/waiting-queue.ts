export interface LimitedCall {
  /** Interactive calls overtake background calls, which keep one slot in five. */
  readonly priority: 'interactive' | 'background';
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

/** Background calls keep one slot in five: four interactive calls may overtake. */
const MOST_OVERTAKING = 4;
/** A pause of a minute that begins a moment after the call still fits into a `maxWaitMs` of a minute: both are common. */
const GRACE = { share: 0.05, longestMs: 1_000 };

/** A call in the queue. Its code sleeps until it is woken or its own timer fires. */
export class Waiter {
  readonly lane: 'rejected' | 'interactive' | 'background';
  /** The call is sent then, even while the limits are unknown. */
  readonly sendAt: number;
  /** The call ends then if the quota is used up. */
  readonly giveUpAt: number;
  readonly timeoutMs: number;
  /** When its timer fires, or when it was woken. */
  wakesAt: number;
  wake: () => void = () => {};

  constructor({ wasRejected, priority, maxWaitMs, deadlineAt, timeoutMs }: LimitedCall, now: number) {
    const graceMs = Math.min(GRACE.longestMs, GRACE.share * maxWaitMs);
    this.lane = wasRejected ? 'rejected' : priority;
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

/** Which call is next: calls that got a 429, then interactive calls, then background calls. */
export class WaitingQueue {
  readonly #lanes = { rejected: new Lane(), interactive: new Lane(), background: new Lane() };
  /** Interactive calls in a row that have overtaken a background call. */
  #overtaking = 0;

  /** The next call. */
  get first(): Waiter | undefined {
    const { rejected, interactive, background } = this.#lanes;
    const [one, other] =
      this.#overtaking < MOST_OVERTAKING ? [interactive, background] : [background, interactive];
    return rejected.first ?? one.first ?? other.first;
  }

  /** Changes nothing for a waiter that is in the queue. */
  add(waiter: Waiter): void {
    this.#lanes[waiter.lane].members.add(waiter);
  }

  remove(waiter: Waiter): void {
    this.#lanes[waiter.lane].members.delete(waiter);
  }

  /** Removes a call that may be sent. */
  shift(waiter: Waiter): void {
    this.remove(waiter);
    if (waiter.lane === 'background' || this.#lanes.background.first === undefined) this.#overtaking = 0;
    else if (waiter.lane === 'interactive') this.#overtaking += 1;
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    for (const lane of Object.values(this.#lanes)) yield* lane.members;
  }
}
