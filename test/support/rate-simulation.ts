import {
  type Clock,
  type LimitedCall,
  type Permit,
  RateLimiter,
} from '../../src/rate-limiter/rate-limiter.ts';
import { ALIGNED, type Allowance, LIMITERS, type Limiter, type LimiterName } from './rate-limiters.ts';
import { chance, VirtualTime } from './rate-virtual-time.ts';

/** What sends a call: the rate limiter, or nothing. */
export type Runner = Pick<RateLimiter, 'run'>;

export interface Scenario extends Allowance {
  readonly limiter: LimiterName;
  /** Callers in each process: each sends its next call as soon as the last one has its response. */
  readonly callers: number;
  /** Each with a rate limiter of its own for the same key. */
  readonly processes?: number;
  readonly windows?: number;
  readonly seed: number;
  /** The usual time to the service and back, in ms. */
  readonly latencyMs?: number;
  /** Each process is busy with something else now and then, for a tenth of a second on average. */
  readonly stalls?: boolean;
  /** How much later each process starts than the one before, in ms. */
  readonly apartMs?: number;
  readonly createRunner?: (clock: Clock) => Runner;
}

export interface Result {
  readonly granted: number;
  /** Granted calls of each process. */
  readonly each: readonly number[];
  /** Granted calls, as a share of what a client with perfect knowledge could have had. */
  readonly share: number;
  /** For each process, the number of 429s in each window. */
  readonly rejections: readonly (readonly number[])[];
  readonly failed: number;
}

/** A run begins early enough in its first window that the quota of that window can be used. */
const LATEST_PHASE = 0.9;

class Process {
  readonly rejectedAt: number[] = [];
  granted = 0;
  failed = 0;
  readonly #time: VirtualTime;
  readonly #runner: Runner;
  readonly #service: Limiter;
  readonly #random: () => number;
  readonly #latencyMs: number;
  #freeAt = 0;

  constructor(time: VirtualTime, service: Limiter, random: () => number, scenario: Scenario) {
    this.#time = time;
    const clock = time.clock(random, () => this.#freeAt);
    this.#runner = scenario.createRunner?.(clock) ?? new RateLimiter(clock);
    this.#service = service;
    this.#random = random;
    this.#latencyMs = scenario.latencyMs ?? 6;
    if (scenario.stalls) this.#stall();
  }

  /** The next call of one caller; goes on until the time stops. */
  callOn(wasRejected: boolean): void {
    const call: LimitedCall = {
      priority: 'interactive',
      wasRejected,
      signal: undefined,
      deadlineAt: Number.POSITIVE_INFINITY,
      maxWaitMs: 60_000,
      timeoutMs: 30_000,
      onWait: () => {},
    };
    this.#runner
      .run(call, (permit) => new Promise<boolean>((resolve) => this.#send(permit, resolve)))
      .then(
        (granted) => this.callOn(!granted),
        () => {
          this.failed += 1;
        },
      );
  }

  #send(permit: Permit, end: (granted: boolean) => void): void {
    this.#time.after(this.#way(), () => {
      const { allowed, limit, remaining, retryAfterS } = this.#service(this.#time.now);
      if (allowed) this.granted += 1;
      else this.rejectedAt.push(this.#time.now);
      this.#time.after(Math.max(this.#way(), this.#freeAt - this.#time.now), () => {
        const retryAfterMs = retryAfterS === undefined ? undefined : retryAfterS * 1_000;
        permit.settle({ status: allowed ? 200 : 429, limit, remaining, retryAfterMs });
        end(allowed);
      });
    });
  }

  #stall(): void {
    this.#time.after(-500 * Math.log(1 - this.#random()), () => {
      this.#freeAt = this.#time.now - 100 * Math.log(1 - this.#random());
      this.#stall();
    });
  }

  /** One way over the network, with now and then a slow one. */
  #way(): number {
    const usual = (this.#latencyMs / 2) * (0.6 + 0.8 * this.#random());
    return this.#random() < 0.01 ? usual + 5 * this.#latencyMs * this.#random() : usual;
  }
}

/** Lets callers use the quota of one key up, and counts what became of it. */
export async function simulate(scenario: Scenario): Promise<Result> {
  const { limiter, callers, processes = 1, windows = 16, seed, windowMs, limit } = scenario;
  const time = new VirtualTime();
  const random = chance(seed);
  const service = LIMITERS[limiter](scenario);
  // Far from 0, so that times look like real ones; a whole number of windows of any length up to a minute.
  const start = 1_700_000_040_000 + windowMs * LATEST_PHASE * random();
  const first = ALIGNED.has(limiter) ? Math.floor(start / windowMs) * windowMs : start;
  time.now = start;
  const all = Array.from({ length: processes }, () => new Process(time, service, random, scenario));
  for (const [index, each] of all.entries()) {
    time.after(index * (scenario.apartMs ?? 0), () => {
      for (let caller = 0; caller < callers; caller += 1) each.callOn(false);
    });
  }
  await time.runUntil(first + windows * windowMs);

  const granted = all.reduce((sum, each) => sum + each.granted, 0);
  // A bucket is full at the start and fills while it is used.
  const available = limit * (limiter === 'token bucket' ? windows + 1 : windows);
  return {
    granted,
    each: all.map((each) => each.granted),
    share: granted / available,
    rejections: all.map((each) => perWindow(each.rejectedAt, first, windowMs, windows)),
    failed: all.reduce((sum, each) => sum + each.failed, 0),
  };
}

function perWindow(times: readonly number[], first: number, windowMs: number, windows: number): number[] {
  const counts = Array.from({ length: windows }, () => 0);
  for (const at of times) {
    const index = Math.min(windows - 1, Math.floor((at - first) / windowMs));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}
