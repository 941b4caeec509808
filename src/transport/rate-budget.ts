import { OwnUse } from './rate-own-use.ts';

/** One call on its way, as the budget saw it when it left. */
export interface Ticket {
  /** When the call was sent, in ms since the epoch. */
  sentAt: number;
  /** What remained of the budget, as last reported, when the call was sent. */
  noted: number;
  /** The epoch of the budget in which the call was sent: it ends when the budget is seen to grow. */
  epoch: number;
  /** How many answers had come when the call was sent. */
  answers: number;
  /** Sent although nothing remained: to see whether the window has opened. */
  probe: boolean;
}

/** A call that ended without a word for this long is no longer counted. */
const LOST_AFTER_MS = 30_000;
/** After such a silence somebody else may have started to use the key: begin with few calls at once. */
const STALE_AFTER_MS = 10_000;
const STALE_SHARED_AFTER_MS = 100;
/** So many calls at once after the first answer, after a refusal, and after a silence. */
const AT_FIRST = 4;
const AFTER_REFUSAL = 2;
const AFTER_SILENCE = 16;
/** For so many windows the budget is used with care, once another user of the key was noticed. */
const SHARED_WINDOWS = 10;
/** So many calls are not for use: what is seen to remain may be gone. They allow a look at whether a window opened. */
const SPARE = 2;
/** Each of several users takes at most so much of what it sees at once: what it sees is old already. */
const SHARED_PART = 1 / 4;
/** As long as no whole window has passed, there may be others who have not been noticed. */
const UNPROVEN_PART = 1 / 4;
/** The part of a window's budget that is left for a while, so that who comes later finds some and is noticed. */
const LEFT = { toOthers: 0.5, toUnknown: 0.1 };
/** By so much of the limit, and by so many calls, a budget grows at once only where a window opens. */
const LEAP = { share: 0.1, calls: 3 };

/** What remains of a key's budget, less what is in flight. Pure state: it is told the time. */
export class Budget {
  /** The budget is known to fill little by little. */
  refills = false;
  #limit: number | undefined;
  #remaining = 0;
  #epoch = 0;
  /** The epoch began with a leap: its answers are exact, those to earlier calls belong to the window before. */
  #exact = true;
  #heardAt = 0;
  #answers = 0;
  #sharedWindows = 0;
  #isProven = false;
  /** What is left to others until then, so that one who comes later finds some. */
  #left = 0;
  #leftUntil = 0;
  /** At most so many calls at once. Doubles with each round of answers, so that a first burst is no wave. */
  ramp = AT_FIRST;
  readonly #own = new OwnUse();
  readonly #inFlight = new Set<Ticket>();

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** The shortest time that a call and its answer have taken, in ms; 0 while unknown. */
  get fastestMs(): number {
    return this.#own.fastestMs;
  }

  /** Another process, or another copy of the gate, spends from the same key. */
  get shared(): boolean {
    return this.#sharedWindows > 0;
  }

  /** Whether one more call at once is no wave. */
  get hasRoom(): boolean {
    return this.#inFlight.size < this.ramp;
  }

  /** Whether the service has quota left beyond the calls on their way. */
  get hasQuota(): boolean {
    return this.#remaining > this.#inFlight.size;
  }

  /** Whether one more call fits into what is known to remain. */
  fits(now: number): boolean {
    return this.hasRoom && this.#share(now) > this.#inFlight.size;
  }

  /** After a good answer: one more call at once. */
  widen(): void {
    this.ramp += 1;
  }

  /** Whether nothing more fits even when all calls on their way have ended. */
  isSpent(now: number): boolean {
    return this.#share(now) <= 0;
  }

  /** Something remains that is not for use, but would keep a call that comes too early from being refused. */
  get canSpare(): boolean {
    return this.shared && this.#remaining >= SPARE;
  }

  /** When what is left to others for now may be taken; undefined when there is nothing of the kind. */
  moreAt(now: number): number | undefined {
    return now < this.#leftUntil && this.#share(this.#leftUntil) > 0 ? this.#leftUntil : undefined;
  }

  #share(now: number): number {
    const limit = this.#limit ?? this.#remaining;
    if (this.refills) {
      // What is left in a bucket is not lost: it keeps a probe from being refused that comes a little early.
      const mine = this.#remaining - Math.min(SPARE, Math.floor(limit / 25));
      return this.shared ? mine * SHARED_PART : mine;
    }
    const left = now < this.#leftUntil ? this.#left : 0;
    if (!this.shared) return (this.#remaining - left) * (this.#isProven ? 1 : UNPROVEN_PART);

    const reserve = Math.min(SPARE, Math.floor(limit / 50));
    return (this.#remaining - Math.max(reserve, left)) * SHARED_PART;
  }

  /** Counts a call whose turn has come. */
  take(now: number): Ticket {
    const probe = this.isSpent(now);
    const ticket = { sentAt: now, noted: this.#remaining, epoch: this.#epoch, answers: this.#answers, probe };
    this.#inFlight.add(ticket);
    return ticket;
  }

  /** Before a call: where nothing was on its way, what is known may be old, and a burst a wave. */
  doubt(now: number): void {
    if (this.#inFlight.size > 0) return;

    const silentMs = now - this.#heardAt;
    // Others may have found what was left to them.
    const isOver = now >= this.#leftUntil && this.#heardAt < this.#leftUntil;
    if (isOver || (this.shared && silentMs > STALE_SHARED_AFTER_MS)) this.ramp = 1;
    else if (silentMs > STALE_AFTER_MS) this.ramp = Math.min(this.ramp, AFTER_SILENCE);
  }

  /** The call leaves: what it noted when its turn came may be old. */
  sent(ticket: Ticket, now: number): void {
    ticket.sentAt = now;
    ticket.noted = this.#remaining;
    ticket.epoch = this.#epoch;
    ticket.answers = this.#answers;
    this.#own.sent(now);
  }

  /** Takes a call off the count. Its effect on the budget is for the others to tell. */
  end(ticket: Ticket): void {
    this.#inFlight.delete(ticket);
  }

  /** No answer: it may have been counted, and the next answer corrects an error in this direction. */
  unanswered(ticket: Ticket): void {
    if (ticket.epoch === this.#epoch) this.#remaining = Math.max(0, this.#remaining - 1);
  }

  /** Notes what an answer says remains; returns by how much the budget had grown since the call was sent. */
  answered(ticket: Ticket, remaining: number, limit: number, now: number): number {
    const sameLimit = limit === this.#limit;
    this.#limit = limit;
    this.#heardAt = now;
    this.widen();
    this.#answers += 1;
    const explained = this.#own.explains(remaining, ticket.sentAt, now);
    if (ticket.epoch !== this.#epoch) {
      this.#late(remaining);
      return 0;
    }
    if (remaining >= ticket.noted) return this.#grown(ticket, remaining);
    if (!explained) {
      if (sameLimit) this.#sharedWindows = SHARED_WINDOWS;
      this.#own.restart(remaining, this.#inFlight.size);
    }
    this.#remaining = Math.min(this.#remaining, remaining);
    return 0;
  }

  /** Whether growth by so much at once can only be the opening of a window. */
  isLeap(grown: number): boolean {
    return grown >= Math.max(LEAP.calls, LEAP.share * (this.#limit ?? 0));
  }

  /** A 429: nothing remains. A call for which there was budget shows that somebody else spent it. */
  refused(ticket: Ticket, now: number): void {
    this.#heardAt = now;
    this.#remaining = 0;
    this.ramp = Math.min(this.ramp, AFTER_REFUSAL);
    if (!ticket.probe && ticket.epoch === this.#epoch) this.#sharedWindows = SHARED_WINDOWS;
  }

  /** A window has opened. Until then, half of what remains is left to others, if there are any. */
  opened(leaveUntil: number, first: boolean): void {
    if (!first) this.#isProven = true;
    if (this.#sharedWindows > 0) this.#sharedWindows -= 1;
    this.#left = this.#remaining * (this.shared ? LEFT.toOthers : LEFT.toUnknown);
    this.#leftUntil = leaveUntil;
  }

  /** Forgets calls whose end was never reported. */
  dropLost(now: number): void {
    for (const ticket of this.#inFlight) {
      if (now - ticket.sentAt < LOST_AFTER_MS) return;

      this.#inFlight.delete(ticket);
    }
  }

  #grown(ticket: Ticket, remaining: number): number {
    const grown = remaining + 1 - ticket.noted;
    this.#exact = this.isLeap(grown);
    // A small growth may have been used up by calls that were counted after this one and answered before.
    const sure = this.#exact ? remaining : remaining - (this.#answers - 1 - ticket.answers);
    if (sure >= this.#remaining) {
      this.#epoch += 1;
      this.#remaining = sure;
      this.#own.restart(sure, this.#inFlight.size);
    }
    return grown;
  }

  /** An answer to a call from before the last growth. */
  #late(remaining: number): void {
    const lessThisCall = Math.max(0, this.#remaining - 1);
    // Where the budget grew a little, no window ended: what is lower still holds.
    if (!this.#exact) this.#remaining = Math.min(lessThisCall, remaining);
    else if (remaining >= this.#own.least) this.#remaining = Math.min(this.#remaining, remaining);
    else if (this.shared) this.#remaining = lessThisCall;
  }
}
