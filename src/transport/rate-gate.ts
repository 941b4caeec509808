import type { Ticket } from './rate-budget.ts';
import { type GateClock, systemClock } from './rate-clock.ts';
import { RateCore } from './rate-core.ts';
import { rateLimitSeen } from './rate-limit-seen.ts';
import { RateQueue } from './rate-queue.ts';
import type { GateAnswer, GateCall, GatePass, RateGate, RateLimit } from './rate-types.ts';
import { Waiter, type WaitingRoom } from './rate-waiter.ts';

export { GateRefusal } from './rate-refusal.ts';
export type { GateAnswer, GateCall, GatePass, RateGate, RateLimit } from './rate-types.ts';

/** A gate that can tell its registry whether it is worth keeping. */
export interface KeptGate extends RateGate {
  /** Nobody waits, nothing is on its way, no pause holds. */
  isIdle(): boolean;
}

/** Makes a gate for one key of one origin. The clock is for simulations; without it, the runtime's. */
export function createRateGate(clock: GateClock = systemClock): KeptGate {
  return new Gate(clock);
}

/** The shortest and the longest time between two looks of a waiter whose turn depends on an answer. */
const LOOK_MS = { shortest: 2, longest: 40 };

class Gate implements KeptGate, WaitingRoom<GatePass> {
  readonly clock: GateClock;
  readonly #core: RateCore;
  readonly #queue = new RateQueue<Waiter<GatePass>>();
  /** Those whose turn has come and who have not left yet. */
  readonly #called = new Set<Waiter<GatePass>>();
  #rateLimit: RateLimit | undefined;
  #arrivals = 0;
  #turns = 0;
  #awakeSince = 0;

  constructor(clock: GateClock) {
    this.clock = clock;
    this.#core = new RateCore(() => clock.random());
  }

  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit;
  }

  isIdle(): boolean {
    return this.#queue.size === 0 && this.#core.isIdle(this.clock.now());
  }

  enter(call: GateCall): Promise<GatePass> {
    if (call.signal?.aborted) return Promise.reject(call.signal.reason);

    const now = this.clock.now();
    // The usual case: nobody waits and there is budget. No timer, no listener.
    if (this.#queue.size === 0 && this.#core.opensAt(now) <= now) {
      return Promise.resolve(this.#pass(this.#core.take(now), now));
    }
    const waiter = new Waiter<GatePass>(this, call, { number: this.#arrivals, now });
    this.#arrivals += 1;
    this.#queue.add(waiter);
    waiter.look();
    return waiter.promise;
  }

  advance(now: number): void {
    this.#recallLost(now);
    while (this.#queue.size > 0 && this.#core.opensAt(now) <= now) {
      const waiter = this.#queue.next() as Waiter<GatePass>;
      waiter.queued = false;
      this.#turns += 1;
      if (waiter.isGone(now, this.#awakeSince)) continue;

      waiter.ticket = this.#core.take(now);
      this.#called.add(waiter);
    }
  }

  opensAt(now: number): number {
    return this.#core.opensAt(now);
  }

  isLimited(now: number): boolean {
    return this.#core.isLimited(now);
  }

  admit(waiter: Waiter<GatePass>, now: number): GatePass {
    this.#queue.remove(waiter);
    this.#turns += 1;
    return this.#pass(this.#core.take(now), now);
  }

  lookAgainIn(waiter: Waiter<GatePass>, now: number, opensAt: number): number {
    const jitter = 0.75 + this.clock.random() / 2;
    const ahead = Math.max(0, waiter.number - this.#turns);
    const apart = Math.min(Math.max(LOOK_MS.shortest, ahead / 4), LOOK_MS.longest) * jitter;
    if (!Number.isFinite(opensAt)) return apart;
    // The head goes when the gate opens; the others look soon after, each a little later than the one before.
    return Math.max(1, opensAt - now + (this.#queue.head === waiter ? 0 : apart));
  }

  wake(now: number): void {
    this.#awakeSince = now;
  }

  rejoin(waiter: Waiter<GatePass>): void {
    waiter.queued = true;
    this.#queue.restore(waiter);
  }

  mayLeave(waiter: Waiter<GatePass>, now: number): boolean {
    for (const earlier of this.#called) return earlier === waiter || earlier.isLate(now, this.#awakeSince);
    return true;
  }

  leave(waiter: Waiter<GatePass>, ticket: Ticket, now: number): GatePass {
    this.#called.delete(waiter);
    return this.#pass(ticket, now);
  }

  quit(waiter: Waiter<GatePass>): void {
    this.#queue.remove(waiter);
    this.#called.delete(waiter);
    if (waiter.ticket !== undefined) this.#core.returned(waiter.ticket);
  }

  /** An answer to a call that this gate let through. */
  answered(ticket: Ticket, answer: GateAnswer): void {
    this.#core.answered(ticket, answer, this.clock.now());
    this.#rateLimit = rateLimitSeen(answer) ?? this.#rateLimit;
  }

  released(ticket: Ticket): void {
    this.#core.released(ticket);
  }

  #pass(ticket: Ticket, now: number): GatePass {
    this.#core.sent(ticket, now);
    return new Pass(this, ticket);
  }

  /** A turn that nobody collects goes back: the request that it was meant for has ended. */
  #recallLost(now: number): void {
    for (const waiter of this.#called) {
      if (!waiter.isGone(now, this.#awakeSince)) return;

      this.#called.delete(waiter);
      if (waiter.ticket !== undefined) this.#core.returned(waiter.ticket);
      waiter.ticket = undefined;
    }
  }
}

class Pass implements GatePass {
  readonly #gate: Gate;
  #ticket: Ticket | undefined;

  constructor(gate: Gate, ticket: Ticket) {
    this.#gate = gate;
    this.#ticket = ticket;
  }

  answered(answer: GateAnswer): void {
    const ticket = this.#ticket;
    this.#ticket = undefined;
    if (ticket !== undefined) this.#gate.answered(ticket, answer);
  }

  released(): void {
    const ticket = this.#ticket;
    this.#ticket = undefined;
    if (ticket !== undefined) this.#gate.released(ticket);
  }
}
