import { Budget, type Ticket } from './rate-budget.ts';
import { Pause } from './rate-pause.ts';
import { Refill } from './rate-refill.ts';
import type { GateAnswer } from './rate-types.ts';
import { WindowLength } from './rate-window.ts';

/** Without any answer from the service yet, one more call goes ahead after this long. */
const PATIENCE_MS = 5_000;
/** Answers without the headers in a row, after which they are not expected any more. */
const BARE = 3;
/** So many responses with nothing remaining, and never a 429 or anything else: the header does not mean what it says. */
const EMPTY = 3;
/** So many calls at once when it is not sure that the service has no limits. */
const CAREFUL = 4;
/** The part of the fastest call's time that every other call is sure to take too. */
const SURE = 0.8;
/** Where the key is shared, half a window's budget is left to others for about this part of the window. */
const LEAVE = { from: 0.35, to: 0.65, shortMs: 10_000, ofLimit: 0.9 };

/** When may the next call be sent? Pure: it is told the time, holds no timer and knows no waiter. */
export class RateCore {
  #state: 'unknown' | 'open' | 'counted' = 'unknown';
  /** Answers without the headers in a row. */
  #bare = 0;
  /** Responses so far that report nothing remaining. */
  #empty = 0;
  /** A 429 came, or something remained: the header is to be believed. */
  #believed = false;
  #sentAt = 0;
  /** When the budget was last known to be spent. */
  #spentAt = 0;
  /** What the last opening brought, how many calls were answered since, and when it was. */
  #gained = 0;
  #answered = 0;
  #openedAt = 0;
  readonly #random: () => number;
  readonly #budget = new Budget();
  readonly #window = new WindowLength();
  readonly #refill = new Refill();
  readonly #pause: Pause;

  constructor(random: () => number) {
    this.#random = random;
    this.#pause = new Pause(random);
  }

  /** The time from which a call may go: `now` or earlier for at once, Infinity where only an answer can tell. */
  opensAt(now: number): number {
    if (now < this.#pause.until) return this.#pause.until;

    const budget = this.#budget;
    budget.dropLost(now);
    if (this.#state === 'counted') return this.#countedOpensAt(now);
    if (this.#state === 'open') return budget.hasRoom ? now : Number.POSITIVE_INFINITY;
    // The first call goes alone: what its answer shows, two hundred others need not be refused for.
    const patient = budget.inFlight > 0 && now < this.#sentAt + PATIENCE_MS;
    return patient ? Number.POSITIVE_INFINITY : now;
  }

  /** Whether the quota is known to be used up, or a pause holds. */
  isLimited(now: number): boolean {
    return now < this.#pause.until || (this.#state === 'counted' && !this.#budget.hasQuota);
  }

  #countedOpensAt(now: number): number {
    const budget = this.#budget;
    if (budget.fits(now)) return now;
    if (budget.inFlight > 0) return Number.POSITIVE_INFINITY;

    const moreAt = budget.moreAt(now);
    if (moreAt !== undefined) return moreAt;
    const { waitMs } = this.#refill;
    return waitMs === undefined ? this.#window.probeAt(budget.canSpare) : this.#spentAt + waitMs;
  }

  /** Nothing is on its way and no pause holds: the state is as good as new. */
  isIdle(now: number): boolean {
    this.#budget.dropLost(now);
    return this.#budget.inFlight === 0 && now >= this.#pause.until;
  }

  /** Gives a call its turn. */
  take(now: number): Ticket {
    this.#sentAt = now;
    if (this.#state === 'counted') this.#budget.doubt(now);
    return this.#budget.take(now);
  }

  /** The call is sent. */
  sent(ticket: Ticket, now: number): void {
    this.#budget.sent(ticket, now);
  }

  /** The call ended without an answer. */
  released(ticket: Ticket): void {
    this.#budget.end(ticket);
    if (this.#state === 'counted') this.#budget.unanswered(ticket);
  }

  /** The call was never sent. */
  returned(ticket: Ticket): void {
    this.#budget.end(ticket);
  }

  answered(ticket: Ticket, answer: GateAnswer, now: number): void {
    const remaining = amount(answer.remaining);
    this.#budget.end(ticket);
    if (answer.status === 429) {
      this.#believed = true;
      this.#refused(ticket, answer.retryAfterMs, now);
      if (remaining !== undefined) this.#state = 'counted';
      return;
    }
    this.#pause.over();
    if (remaining === undefined) {
      this.#withoutHeaders(ticket, answer.status);
      return;
    }
    if (remaining === 0) this.#empty += 1;
    else this.#believed = true;
    if (this.#empty >= EMPTY && !this.#believed) {
      if (this.#state === 'open') this.#budget.widen();
      else this.#open(CAREFUL);
      return;
    }
    this.#state = 'counted';
    this.#bare = 0;
    this.#counted(ticket, remaining, amount(answer.limit) ?? remaining + 1, now);
  }

  #counted(ticket: Ticket, remaining: number, limit: number, now: number): void {
    const grown = this.#budget.answered(ticket, remaining, limit, now);
    this.#answered += 1;
    if (grown === 0) this.#same(ticket);
    else if (ticket.probe || this.#budget.isLeap(grown)) this.#opened(ticket, { gained: grown, limit }, now);
    else this.#window.grew(this.#countedBy(now));
    this.#budget.refills = this.#refill.active;
    if (!this.#budget.isSpent(now)) return;

    this.#spentAt = now;
    // More went through than the window had brought: another began meanwhile, and grew the budget by too little to tell.
    if (!this.#budget.shared && this.#answered > this.#gained) this.#window.rolled();
  }

  #same(ticket: Ticket): void {
    this.#window.same(ticket.sentAt, ticket.probe);
    if (ticket.probe) this.#refill.missed();
  }

  #opened(ticket: Ticket, { gained, limit }: { gained: number; limit: number }, now: number): void {
    const first = this.#spentAt === 0;
    // Where others take their part too, a part is what a window brings as well.
    if (ticket.probe && this.#spentAt > 0 && (!this.#budget.shared || this.#refill.active)) {
      const elapsedMs = Math.max(1, (ticket.sentAt + now) / 2 - this.#spentAt);
      // Calls since the last opening, this one not counted, that it had not brought.
      const surplus = this.#answered - 1 - this.#gained;
      this.#refill.opened({ gained, limit, elapsedMs, surplus, spendingMs: this.#spentAt - this.#openedAt });
    }
    // In the middle of a burst it is not known which calls the window before still paid for.
    this.#gained = ticket.probe ? gained : Number.POSITIVE_INFINITY;
    this.#answered = 1;
    this.#openedAt = now;
    this.#window.opened(ticket.sentAt, this.#countedBy(now));
    const part = LEAVE.from + (LEAVE.to - LEAVE.from) * this.#random();
    const { lengthMs } = this.#window;
    // In a long window, who comes later finds some anyway, and waits would be long.
    const leaves = this.#budget.shared || (lengthMs <= LEAVE.shortMs && gained >= LEAVE.ofLimit * limit);
    this.#budget.opened(leaves ? now + lengthMs * part : 0, first);
  }

  /** An answer is older than it looks and a call takes time to arrive: one sent then was counted no earlier. */
  #countedBy(now: number): number {
    return now - SURE * this.#budget.fastestMs;
  }

  #refused(ticket: Ticket, retryAfterMs: number | undefined, now: number): void {
    this.#spentAt = now;
    const pauseMs = this.#pause.refused(ticket.sentAt, retryAfterMs, now);
    this.#budget.refused(ticket, now);
    // Calls that were on their way together are refused together, for the same reason.
    if (pauseMs === undefined) return;

    this.#window.refused(ticket.sentAt, now, pauseMs);
    this.#refill.refused();
    this.#budget.refills = this.#refill.active;
  }

  /** A proxy's own answer says nothing of the budget; a service that leaves the headers out has none to keep. */
  #withoutHeaders(ticket: Ticket, status: number): void {
    this.#bare += 1;
    if (this.#state === 'counted') this.#budget.unanswered(ticket);
    else this.#budget.widen();
    if (this.#state === 'unknown' && status < 500) this.#open(Number.POSITIVE_INFINITY);
    else if (this.#state !== 'open' && this.#bare >= BARE) this.#open(CAREFUL);
  }

  #open(atOnce: number): void {
    this.#state = 'open';
    this.#budget.ramp = atOnce;
  }
}

/** A figure from a header, if it can be one. */
function amount(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? Math.max(0, value) : undefined;
}
