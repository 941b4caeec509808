/** An opening below this share of the limit may be a budget that fills little by little. */
const PARTIAL = 0.9;
/** A probe waits until so much of the limit has come back, in share and in calls. */
const PROBE_SHARE = 0.05;
const PROBE_CALLS = 2;
/** A refusal counts two, an opening takes one off: at so many, the budget does not fill as was thought. */
const MISSES = 5;
/** What the largest figure counts for after each measurement. */
const MOST_FADES = 0.97;
/** A try that fails costs a refusal: so many times rarer is the next. */
const RARER = 4;

/** What a probe found: so much of the budget, so long after it was known to be spent. */
export interface Opening {
  readonly gained: number;
  readonly limit: number;
  readonly elapsedMs: number;
  /** So many more calls were answered since the opening before than it had brought, before the budget was spent. */
  readonly surplus: number;
  /** From the opening before until the budget was spent. */
  readonly spendingMs: number;
}

/**
 * Tells budgets that fill little by little (token bucket, sliding window) from those that open all at once, and when
 * a probe is worth it. Pure state.
 */
export class Refill {
  #state: 'no' | 'trying' | 'yes' = 'no';
  /** Calls that come back in a ms. */
  #perMs = 0;
  /** The most that was measured lately. */
  #most = 0;
  #waitMs = 0;
  #misses = 0;
  /** Since the last opening. */
  #wasRefused = false;
  /** Openings to let pass before the next try, and how many follow upon another failure. */
  #skip = 0;
  #penalty = 2;

  /** Whether the budget is known to fill little by little. */
  get active(): boolean {
    return this.#state === 'yes';
  }

  /** How long after the budget was spent a probe is worth it; undefined where the window decides. */
  get waitMs(): number | undefined {
    return this.#state === 'no' ? undefined : this.#waitMs;
  }

  opened(opening: Opening): void {
    this.#misses = Math.max(0, this.#misses - 1);
    if (this.#state === 'no') this.#consider(opening);
    else if (this.#isWindow(opening)) this.#giveUp();
    else this.#measure(opening);
    this.#wasRefused = false;
  }

  /** A probe was let through and found no more than before: others were faster. */
  missed(): void {
    if (this.#state === 'trying') this.#giveUp();
    this.#waitMs *= 1.5;
  }

  refused(): void {
    this.#wasRefused = true;
    if (this.#state === 'no') return;

    this.#misses += 2;
    this.#perMs /= 2;
    this.#waitMs *= 2;
    if (this.#state === 'trying' || this.#misses >= MISSES) this.#giveUp();
  }

  /** One try, after a part of the time: an even refill has brought a part of the budget by then. */
  #consider(opening: Opening): void {
    const { gained, limit, elapsedMs } = opening;
    if (gained >= PARTIAL * limit && !filledMeanwhile(opening)) return;
    if (this.#skip > 0) {
      this.#skip -= 1;
      return;
    }
    this.#state = 'trying';
    this.#perMs = gained / elapsedMs;
    this.#waitMs = elapsedMs * Math.min(1 / 2, Math.max(1 / 4, PROBE_CALLS / gained));
  }

  /** More than a refill explains has come back at once, or less than it should have brought. */
  #isWindow({ gained, limit, elapsedMs }: Opening): boolean {
    const expected = this.#perMs * elapsedMs;
    if (gained >= PARTIAL * limit && (gained > 4 * expected || this.#wasRefused)) return true;
    return this.#state === 'trying' && gained < expected / 2;
  }

  #measure({ gained, limit, elapsedMs }: Opening): void {
    const measured = gained / elapsedMs;
    this.#most = Math.max(measured, MOST_FADES * this.#most);
    const mean = this.#state === 'trying' ? measured : (this.#perMs + measured) / 2;
    // Who finds little because others were faster must not wait ever longer and find ever less.
    this.#perMs = Math.max(mean, this.#most / 2);
    this.#state = 'yes';
    // Never much longer than the wait that has just shown what it brings, whatever the limit claims to be.
    this.#waitMs = Math.min(Math.max(PROBE_CALLS, PROBE_SHARE * limit) / this.#perMs, 2 * elapsedMs);
  }

  #giveUp(): void {
    this.#state = 'no';
    this.#misses = 0;
    this.#skip = this.#penalty;
    this.#most = 0;
    this.#penalty = Math.min(RARER * this.#penalty, 1_000);
  }
}

/** Whether as many calls more than a window explains went through as an even refill would have paid for. */
function filledMeanwhile({ gained, elapsedMs, surplus, spendingMs }: Opening): boolean {
  const expected = (gained / elapsedMs) * spendingMs;
  return surplus >= Math.max(1, expected / 2) && surplus <= 2 * expected + PROBE_CALLS;
}
