import type { GateClock } from '../../src/transport/rate-clock.ts';
import type { GateCall, RateGate } from '../../src/transport/rate-gate.ts';
import { createRateGate } from '../../src/transport/rate-gate.ts';
import { ALIGNED, type Allowance, LIMITERS, type Limiter, type LimiterName } from './rate-limiters.ts';
import { chance, VirtualTime } from './rate-virtual-time.ts';

export interface Scenario extends Allowance {
  readonly limiter: LimiterName;
  /** Workers of each process: each sends its next call as soon as the last was answered. */
  readonly workers: number;
  /** Each with a gate of its own on the same key. */
  readonly processes?: number;
  readonly windows?: number;
  readonly seed: number;
  /** The usual time to the service and back, in ms. */
  readonly latencyMs?: number;
  /** Each call may take many times as long as the one before. */
  readonly rough?: boolean;
  /** Each process is busy with something else now and then, for a tenth of a second on average. */
  readonly stalls?: boolean;
  /** How much later each process starts than the one before, in ms. */
  readonly apartMs?: number;
  /** What is tried; without it, the rate gate. */
  readonly makeGate?: (clock: GateClock) => RateGate;
  /** Where in a window of the service the run begins, 0 to 1. */
  readonly phase?: number;
}

export interface Outcome {
  readonly scenario: Scenario;
  readonly allowed: number;
  /** Calls let through for each process. */
  readonly each: readonly number[];
  /** Calls let through, as a share of what a client with perfect knowledge could have had. */
  readonly share: number;
  /** For each process, 429s in each window. */
  readonly refusals: readonly (readonly number[])[];
  /** Waits that ended in a rejection. */
  readonly failed: number;
}

/** A budget can be used in what is left of the first window. */
const LATEST_PHASE = 0.9;

/** What one process does with its gate until the run ends. */
class Client {
  readonly refusedAt: number[] = [];
  allowed = 0;
  failed = 0;
  readonly #time: VirtualTime;
  readonly #gate: RateGate;
  readonly #service: Limiter;
  readonly #random: () => number;
  readonly #latencyMs: number;
  readonly #rough: boolean;
  #freeAt = 0;

  constructor(time: VirtualTime, service: Limiter, random: () => number, scenario: Scenario) {
    const { latencyMs = 6, rough = false } = scenario;
    this.#time = time;
    this.#gate = (scenario.makeGate ?? createRateGate)(time.clock(random, () => this.#freeAt));
    this.#service = service;
    this.#random = random;
    this.#latencyMs = latencyMs;
    this.#rough = rough;
    if (scenario.stalls) this.#stall();
  }

  /** One worker's next call; runs on until the time stops passing. */
  work(refused: boolean): void {
    const call: GateCall = {
      priority: 'interactive',
      refused,
      signal: undefined,
      deadlineAt: Number.POSITIVE_INFINITY,
      maxWaitMs: 60_000,
      onWait: () => {},
    };
    this.#gate.enter(call).then(
      (pass) => this.#send(pass),
      () => {
        this.failed += 1;
      },
    );
  }

  #send(pass: Awaited<ReturnType<RateGate['enter']>>): void {
    this.#time.after(this.#way(), () => {
      const { allowed, limit, remaining, retryAfterS } = this.#service(this.#time.now);
      if (allowed) this.allowed += 1;
      else this.refusedAt.push(this.#time.now);
      this.#time.after(Math.max(this.#way(), this.#freeAt - this.#time.now), () => {
        const retryAfterMs = retryAfterS === undefined ? undefined : retryAfterS * 1000;
        pass.answered({ status: allowed ? 200 : 429, limit, remaining, retryAfterMs });
        this.work(!allowed);
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
    if (this.#rough) return (this.#latencyMs / 2) * (0.2 - Math.log(1 - this.#random()));

    const usual = (this.#latencyMs / 2) * (0.6 + 0.8 * this.#random());
    return this.#random() < 0.01 ? usual + 5 * this.#latencyMs * this.#random() : usual;
  }
}

/** Lets workers spend a key's budget through their gates, and counts what became of it. */
export async function simulate(scenario: Scenario): Promise<Outcome> {
  const { limiter, workers, processes = 1, windows = 15, seed, windowMs } = scenario;
  const time = new VirtualTime();
  const random = chance(seed);
  const service = LIMITERS[limiter](scenario);
  // Far from 0, so that times look like real ones; a whole number of windows of any length up to a minute.
  const start = 1_700_000_040_000 + windowMs * (scenario.phase ?? LATEST_PHASE * random());
  const first = ALIGNED.has(limiter) ? Math.floor(start / windowMs) * windowMs : start;
  time.now = start;
  const clients = Array.from({ length: processes }, () => new Client(time, service, random, scenario));
  for (const [index, client] of clients.entries()) {
    time.after(index * (scenario.apartMs ?? 0), () => {
      for (let worker = 0; worker < workers; worker += 1) client.work(false);
    });
  }
  await time.runUntil(first + windows * windowMs);

  const allowed = clients.reduce((sum, client) => sum + client.allowed, 0);
  return {
    scenario,
    allowed,
    each: clients.map((client) => client.allowed),
    share: allowed / available(scenario, windows),
    refusals: clients.map((client) => perWindow(client.refusedAt, first, scenario, windows)),
    failed: clients.reduce((sum, client) => sum + client.failed, 0),
  };
}

/** A bucket is full at the start and fills while it is used. */
function available({ limiter, limit }: Scenario, windows: number): number {
  return limiter === 'token bucket' ? limit * (windows + 1) : limit * windows;
}

function perWindow(
  times: readonly number[],
  first: number,
  { windowMs }: Scenario,
  windows: number,
): number[] {
  const counts = Array.from({ length: windows }, () => 0);
  for (const at of times) {
    const index = Math.min(windows - 1, Math.floor((at - first) / windowMs));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}
