import type { Ticket } from './rate-budget.ts';
import type { GateClock, TimerId } from './rate-clock.ts';
import type { Lane } from './rate-queue.ts';
import { GateRefusal } from './rate-refusal.ts';
import type { GateCall } from './rate-types.ts';

/** What a waiter asks of its gate. */
export interface WaitingRoom<Pass> {
  readonly clock: GateClock;
  /** Gives out what has become free, in order: to this waiter or to others. */
  advance(now: number): void;
  /** The time from which a call may go; Infinity where only an answer can tell. */
  opensAt(now: number): number;
  /** Nothing ran for a while: nobody is gone or late because of that. */
  wake(now: number): void;
  /** How long this one waits before it looks again. */
  lookAgainIn(waiter: Waiter<Pass>, now: number, opensAt: number): number;
  /** A late waiter was taken for gone: it stands in line again. */
  rejoin(waiter: Waiter<Pass>): void;
  /** Whether nobody whose turn came earlier is about to leave. */
  mayLeave(waiter: Waiter<Pass>, now: number): boolean;
  /** Whether the quota is known to be used up, or a pause holds. */
  isLimited(now: number): boolean;
  /** Sends a call that waited for as long as its caller allows, although its turn has not come. */
  admit(waiter: Waiter<Pass>, now: number): Pass;
  /** Turns the turn given to this waiter into the right to send. */
  leave(waiter: Waiter<Pass>, ticket: Ticket, now: number): Pass;
  /** Gives up the place in the queue, and the turn if one was given. */
  quit(waiter: Waiter<Pass>): void;
}

/** How a waiter came in: the place in the order of arrival, and the time. */
export interface Arrival {
  readonly number: number;
  readonly now: number;
}

/** A timer can be set for so long; a longer wait looks again in between. */
const LONGEST_TIMER_MS = 2 ** 30;
/**
 * Who has waited for a moment when a pause of just the longest wait begins, or whose turn comes a moment after the
 * gate has opened, is not sent away: windows of a minute and caps of a minute meet often.
 */
const GRACE = { share: 0.05, mostMs: 1_000 };
/** A waiter whose timer is overdue by this long is gone: its runtime has ended the request it belonged to. */
const GONE_AFTER_MS = 1_000;
const LATE_AFTER_MS = 50;
/** One whose own timer is overdue by half of that takes it that the others' are too: nobody overtakes by a millisecond. */
const WOKEN_AFTER_MS = LATE_AFTER_MS / 2;

/**
 * One call that waits. It looks for its turn on a timer of its own and is never woken by another call: some runtimes
 * forbid one request to settle the promise of another.
 */
export class Waiter<Pass> {
  readonly lane: Lane;
  readonly number: number;
  /** The turn, once it was given. */
  ticket: Ticket | undefined;
  queued = true;
  readonly promise: Promise<Pass>;
  #looksAt: number;
  #timer: TimerId | undefined;
  #told = false;
  #giveUpAt: number;
  readonly #deadlineAt: number;
  readonly #room: WaitingRoom<Pass>;
  readonly #call: GateCall;
  #resolve!: (pass: Pass) => void;
  #reject!: (reason: unknown) => void;

  constructor(room: WaitingRoom<Pass>, call: GateCall, { number, now }: Arrival) {
    this.lane = call.refused ? 'front' : call.priority;
    this.number = number;
    this.#room = room;
    this.#call = call;
    this.#deadlineAt = call.deadlineAt;
    this.#giveUpAt = Math.min(call.deadlineAt, now + call.maxWaitMs);
    this.#looksAt = now;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    call.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** Whether its timer should have run long ago, in a process that has been awake since then. */
  isGone(now: number, awakeSince = 0): boolean {
    return now - Math.max(this.#looksAt, awakeSince) > GONE_AFTER_MS;
  }

  /** Whether its timer should have run a while ago: nobody waits for it to leave first. */
  isLate(now: number, awakeSince = 0): boolean {
    return now - Math.max(this.#looksAt, awakeSince) > LATE_AFTER_MS;
  }

  /** Looks for its turn: goes, gives up, or sets the timer for the next look. */
  readonly look = (): void => {
    const room = this.#room;
    const now = room.clock.now();
    // Its own timer came late: everybody's may have. The process was busy, or the machine asleep.
    if (now - this.#looksAt > WOKEN_AFTER_MS) room.wake(now);
    this.#looksAt = now;
    if (this.ticket === undefined && !this.queued) room.rejoin(this);
    room.advance(now);
    if (this.ticket !== undefined) {
      this.#go(this.ticket, now);
      return;
    }
    const opensAt = room.opensAt(now);
    if (this.#isTooLong(now, opensAt)) {
      this.#giveUp(now, opensAt);
      return;
    }
    if (!this.#told && !this.#tell(now, opensAt)) return;

    this.#lookIn(Math.min(room.lookAgainIn(this, now, opensAt), this.#giveUpAt - now, LONGEST_TIMER_MS), now);
  };

  /**
   * The caller waits no longer. While the limits are unknown, or quota is left, nothing speaks against sending: a slow
   * first response must not fail the calls that wait for it.
   */
  #giveUp(now: number, opensAt: number): void {
    const limited = this.#room.isLimited(now);
    if (!limited && now < this.#deadlineAt) {
      this.#end();
      this.#resolve(this.#room.admit(this, now));
      return;
    }
    this.#fail(new GateRefusal(Number.isFinite(opensAt) ? Math.max(0, opensAt - now) : undefined, limited));
  }

  /** Goes, unless one whose turn came before is about to. */
  #go(ticket: Ticket, now: number): void {
    if (!this.#room.mayLeave(this, now)) {
      this.#lookIn(1, now);
      return;
    }
    this.#end();
    this.#resolve(this.#room.leave(this, ticket, now));
  }

  #lookIn(delayMs: number, now: number): void {
    this.#looksAt = now + delayMs;
    this.#timer = this.#room.clock.setTimeout(this.look, delayMs);
  }

  /** Whether the caller's limits end the wait, now or before the gate opens. */
  #isTooLong(now: number, opensAt: number): boolean {
    const graceMs = Math.min(GRACE.mostMs, GRACE.share * this.#call.maxWaitMs);
    if (Number.isFinite(opensAt) && opensAt <= this.#giveUpAt + graceMs) {
      this.#giveUpAt = Math.min(this.#deadlineAt, Math.max(this.#giveUpAt, opensAt + graceMs));
    }
    if (now >= this.#giveUpAt) return true;
    return Number.isFinite(opensAt) && opensAt > this.#giveUpAt && this.#room.isLimited(now);
  }

  /** Tells the caller that a wait begins; false when that failed and ended it. */
  #tell(now: number, opensAt: number): boolean {
    this.#told = true;
    try {
      this.#call.onWait(Number.isFinite(opensAt) && opensAt > now ? opensAt - now : undefined);
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  readonly #abort = (): void => this.#fail(this.#call.signal?.reason);

  #fail(reason: unknown): void {
    this.#room.quit(this);
    this.#end();
    this.#reject(reason);
  }

  /** Nothing stays behind: no timer, no listener. */
  #end(): void {
    if (this.#timer !== undefined) this.#room.clock.clearTimeout(this.#timer);
    this.#call.signal?.removeEventListener('abort', this.#abort);
  }
}
