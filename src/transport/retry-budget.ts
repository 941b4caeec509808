const CAPACITY = 500;
const RETRY_COST = 5;

/**
 * A token bucket for the retries of one client, as in the AWS standard mode: an outage costs about one request per
 * call once it is empty, instead of `retry.maxAttempts` times the load on a service that is already down.
 */
export class RetryBudget {
  #tokens = CAPACITY;

  /** Takes what a retry costs; false when there is not enough left. */
  take(): boolean {
    if (this.#tokens < RETRY_COST) return false;

    this.#tokens -= RETRY_COST;
    return true;
  }

  /** A call succeeded: its last retry is given back, or one token for a first attempt. */
  giveBack(retried: boolean): void {
    this.#tokens = Math.min(CAPACITY, this.#tokens + (retried ? RETRY_COST : 1));
  }
}
