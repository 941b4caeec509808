/** A call that is about to be sent. */
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
}

/** Background calls keep one slot in five: four interactive calls may overtake. */
const MOST_OVERTAKING = 4;
/** A pause of a minute that begins a moment after the call still fits into a `maxWaitMs` of a minute: both are common. */
const GRACE = { share: 0.05, longestMs: 1_000 };

/** A call in the queue. Its code sleeps until it is woken or its own timer fires. */
export class Waiter {
  readonly lane: Lane;
  /** The call is sent then, even while the limits are unknown. */
  readonly sendAt: number;
  /** The call ends then if the quota is used up. */
  readonly giveUpAt: number;
  /** When its timer fires, or when it was woken. */
  wakesAt: number;
  isWoken = false;
  wake: () => void = () => {};
  /** Linked, so that a call can leave from the middle of a long queue at no cost. */
  previous: Waiter | undefined;
  next: Waiter | undefined;
  isQueued = false;

  constructor({ wasRejected, priority, maxWaitMs, deadlineAt }: LimitedCall, now: number) {
    const graceMs = Math.min(GRACE.longestMs, GRACE.share * maxWaitMs);
    this.lane = wasRejected ? 'rejected' : priority;
    this.sendAt = Math.min(deadlineAt, now + maxWaitMs);
    this.giveUpAt = Math.min(deadlineAt, now + maxWaitMs + graceMs);
    this.wakesAt = now;
  }
}

/** Calls that got a 429 go first, then interactive calls, then background calls. */
type Lane = 'rejected' | 'interactive' | 'background';

/** Who is next. First come, first served within a lane; each operation takes the same time for any length. */
export class WaitingQueue {
  size = 0;
  readonly #lanes: Record<Lane, { first: Waiter | undefined; last: Waiter | undefined }> = {
    rejected: { first: undefined, last: undefined },
    interactive: { first: undefined, last: undefined },
    background: { first: undefined, last: undefined },
  };
  /** Interactive calls in a row that have overtaken a background call. */
  #overtaking = 0;

  /** The next call and the one after it in the same lane, or else of the next lane. */
  get firstTwo(): readonly Waiter[] {
    const { rejected, interactive, background } = this.#lanes;
    const mayOvertake = this.#overtaking < MOST_OVERTAKING;
    const order = mayOvertake ? [rejected, interactive, background] : [rejected, background, interactive];
    const [head, other] = order.flatMap(({ first }) => first ?? []);
    return [head, head?.next ?? other].filter((waiter) => waiter !== undefined);
  }

  add(waiter: Waiter): void {
    const lane = this.#lanes[waiter.lane];
    waiter.previous = lane.last;
    if (lane.last === undefined) lane.first = waiter;
    else lane.last.next = waiter;
    lane.last = waiter;
    waiter.isQueued = true;
    this.size += 1;
  }

  remove(waiter: Waiter): void {
    if (!waiter.isQueued) return;

    const lane = this.#lanes[waiter.lane];
    if (waiter.previous === undefined) lane.first = waiter.next;
    else waiter.previous.next = waiter.next;
    if (waiter.next === undefined) lane.last = waiter.previous;
    else waiter.next.previous = waiter.previous;
    waiter.previous = undefined;
    waiter.next = undefined;
    waiter.isQueued = false;
    this.size -= 1;
  }

  /** Takes out a call that is sent. */
  shift(waiter: Waiter): void {
    this.remove(waiter);
    const { background } = this.#lanes;
    if (waiter.lane === 'background' || background.first === undefined) this.#overtaking = 0;
    else if (waiter.lane === 'interactive') this.#overtaking += 1;
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    for (const { first } of Object.values(this.#lanes)) {
      for (let waiter = first; waiter !== undefined; ) {
        const { next } = waiter;
        yield waiter;
        waiter = next;
      }
    }
  }
}
