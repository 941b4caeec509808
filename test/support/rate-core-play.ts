import type { Ticket } from '../../src/transport/rate-budget.ts';
import { RateCore } from '../../src/transport/rate-core.ts';
import type { GateAnswer } from '../../src/transport/rate-gate.ts';
import { type Allowance, LIMITERS, type Limiter, type LimiterName } from './rate-limiters.ts';

export interface Play extends Allowance {
  readonly limiter: LimiterName;
  readonly processes?: number;
  /** Of each process. */
  readonly workers?: number;
  readonly windows?: number;
  /** The time to the service, and as much again back, in ms. */
  readonly wayMs?: number;
  /** By how much later each process starts than the one before, in ms. */
  readonly apartMs?: number;
  /** Of so many calls one is carried out, but its answer never arrives. */
  readonly losesOneIn?: number;
  /** Of so many calls one ends at a proxy, with 502 and without the headers. */
  readonly proxyFailsOneIn?: number;
  /** No answer says how large the budget is, only what remains of it. */
  readonly hidesLimit?: boolean;
  /** Refusals do not say how long to wait. */
  readonly mute?: boolean;
  /** Nobody calls from the one window on, until the other. */
  readonly silent?: readonly [from: number, to: number];
}

interface OnTheWay {
  readonly process: number;
  readonly ticket: Ticket;
  readonly number: number;
}

/** How far into a window of the service it begins. */
const PHASE = 0.3;
/** A gate that waits for an answer is looked at again after so long, in ms. */
const LONGEST_STEP_MS = 40;
const BARE = { limit: undefined, remaining: undefined, retryAfterMs: undefined } as const;

/** Workers that call without a pause, on a service whose every call takes as long: nothing is left to chance. */
class Run {
  allowed = 0;
  refused = 0;
  #sent = 0;
  readonly #own: Play;
  readonly #wayMs: number;
  readonly #service: Limiter;
  readonly #cores: readonly RateCore[];
  readonly #free: number[];
  /** What happens at a time, in ms. */
  readonly #due = new Map<number, (() => void)[]>();

  constructor(own: Play) {
    this.#own = own;
    this.#wayMs = own.wayMs ?? 3;
    this.#service = LIMITERS[own.limiter](own);
    this.#cores = Array.from({ length: own.processes ?? 1 }, () => new RateCore(() => 0.5));
    this.#free = this.#cores.map(() => own.workers ?? 8);
  }

  run(): void {
    const { windowMs, windows = 12, silent = [windows, windows], apartMs = 0 } = this.#own;
    const start = 1_000_000 * windowMs + windowMs * PHASE;
    const [from, to] = silent;
    const starts = [...this.#cores.keys()].map((process) => start + process * apartMs);
    for (let now = start; now < start + windows * windowMs; ) {
      for (const happen of this.#due.get(now) ?? []) happen();
      this.#due.delete(now);
      const ms = now - start;
      const isSilent = ms >= from * windowMs && ms < to * windowMs;
      const next = starts.map((at, process) => {
        if (now < at) return at;
        return isSilent ? Number.POSITIVE_INFINITY : this.#call(process, now);
      });
      now = Math.min(now + LONGEST_STEP_MS, ...this.#due.keys(), ...next);
    }
  }

  /** Every free worker calls for as long as the gate is open; returns when it may be open again. */
  #call(process: number, now: number): number {
    const core = this.#cores[process] as RateCore;
    for (; (this.#free[process] ?? 0) > 0; this.#sent += 1) {
      const opensAt = core.opensAt(now);
      if (opensAt > now) return Math.ceil(opensAt);

      const ticket = core.take(now);
      core.sent(ticket, now);
      this.#free[process] = (this.#free[process] ?? 0) - 1;
      const call = { process, ticket, number: this.#sent + 1 };
      this.#at(now + this.#wayMs, () => this.#serve(call, now + this.#wayMs));
    }
    return Number.POSITIVE_INFINITY;
  }

  #serve({ process, ticket, number }: OnTheWay, now: number): void {
    const { losesOneIn = Number.NaN, proxyFailsOneIn = Number.NaN } = this.#own;
    const answer = number % proxyFailsOneIn === 0 ? { status: 502, ...BARE } : this.#answer(now);
    const back = now + this.#wayMs;
    this.#at(back, () => {
      const core = this.#cores[process] as RateCore;
      if (number % losesOneIn === 0) core.released(ticket);
      else core.answered(ticket, answer, back);
      this.#free[process] = (this.#free[process] ?? 0) + 1;
    });
  }

  #answer(now: number): GateAnswer {
    const { allowed, limit, remaining, retryAfterS } = this.#service(now);
    if (allowed) this.allowed += 1;
    else this.refused += 1;
    const retryAfterMs = retryAfterS === undefined || this.#own.mute ? undefined : retryAfterS * 1_000;
    const said = this.#own.hidesLimit ? undefined : limit;
    return { status: allowed ? 200 : 429, limit: said, remaining, retryAfterMs };
  }

  #at(time: number, happen: () => void): void {
    const others = this.#due.get(time);
    if (others === undefined) this.#due.set(time, [happen]);
    else others.push(happen);
  }
}

/** How many calls the service let through and how many it refused. */
export function play(own: Play): { allowed: number; refused: number } {
  const run = new Run(own);
  run.run();
  return { allowed: run.allowed, refused: run.refused };
}
