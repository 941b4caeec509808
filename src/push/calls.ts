// The calls of one run: each outlasts an outage of the service, and an error never hides what may have been done.

import { type AnyAccountingError, isAccountingError, isApiError } from '../errors/guards.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { RequestWaits } from '../internal/request-guard.ts';
import { sleep } from '../internal/sleep.ts';
import { isOutage, Outage, outageDelayMs } from '../sync/outage.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import type { AnyProduct, AnyTarget, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** The end of a create that may have been carried out, and must not be sent again before that is known. */
export class LostCreate {
  readonly error: AnyAccountingError;

  constructor(error: AnyAccountingError) {
    this.error = error;
  }
}

/** Creates that were lost one after the other, without one that the service responded to. */
interface Losses {
  readonly count: number;
  /** When the first of them was lost. */
  readonly since: number;
}

export class Calls {
  readonly outage: Outage;
  #losses: Losses | undefined;
  /** Whether no create has succeeded for `maxOutageMs`. */
  #gaveUp = false;
  readonly #products: AnyTarget;
  readonly #options: ResolvedPushOptions;
  readonly #results: Results;

  constructor(products: AnyTarget, options: ResolvedPushOptions, results: Results) {
    this.#products = products;
    this.#options = options;
    this.#results = results;
    this.outage = new Outage(options.maxOutageMs);
  }

  /**
   * With `retry.creates: false` a create with an unknown outcome is not repeated: it resolves to {@link LostCreate}, in
   * an outage after a wait, so that the next create is sent later.
   */
  async create(draft: object, idempotencyKey: string): Promise<AnyProduct | LostCreate> {
    const { creates } = this.#options.settings.retry;
    const created = await this.#run(async (options): Promise<AnyProduct | LostCreate> => {
      try {
        return await this.#products.create(draft, { ...options, idempotencyKey });
      } catch (error) {
        if (isApiError(error) && !isDown(error)) this.#losses = undefined;
        if (!creates && isAccountingError(error) && error.outcome === 'unknown') return new LostCreate(error);
        throw error;
      }
    });
    if (created instanceof LostCreate && isDown(created.error)) await this.#waitAfter(created.error);
    else this.#losses = undefined;
    return created;
  }

  update(id: string, patch: object): Promise<AnyProduct> {
    return this.#run((options) => this.#products.update(id, patch, options));
  }

  delete(id: string): Promise<void> {
    return this.#run((options) => this.#products.delete(id, options));
  }

  /** Undefined only if a problem document says that there is no such product. */
  find(id: string): Promise<AnyProduct | undefined> {
    return this.#run((options) => this.#products.find(id, options));
  }

  /** Whether no other row can fare better: a rejected key, a key without the right to write, an outage, our own errors. */
  stopsRun(error: unknown): boolean {
    if (!isAccountingError(error) || this.#options.signal?.aborted) return true;
    const stops = ['unauthenticated', 'forbidden', 'scope_required', 'checkpoint', 'concurrent_run'];
    return stops.includes(error.code) || this.outage.isOver || this.#gaveUp;
  }

  /** Rejects if the outage has lasted for `maxOutageMs`, and for as many creates as a call has attempts. */
  async #waitAfter(error: AnyAccountingError): Promise<void> {
    const { maxOutageMs, settings, signal } = this.#options;
    const { count, since } = this.#losses ?? { count: 0, since: monotonicMs() };
    this.#losses = { count: count + 1, since };
    const isLong = count + 1 >= settings.retry.maxAttempts && monotonicMs() - since >= maxOutageMs;
    const retryAfterMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
    if (isLong || retryAfterMs > this.#maxWaitMs) {
      this.#gaveUp = true;
      throw error;
    }
    const waitMs = Math.max(retryAfterMs, outageDelayMs(count + 1));
    this.#results.wait(waitMs);
    await sleep(waitMs, signal);
  }

  get #maxWaitMs(): number {
    return this.#options.list.maxWaitMs ?? Number.POSITIVE_INFINITY;
  }

  async #run<V>(work: (options: RequestOptions) => Promise<V>): Promise<V> {
    let unknown: unknown;
    const attempt = async (onWait: RequestWaits['onWait']) => {
      try {
        return await work({ ...this.#options.call, onWait });
      } catch (error) {
        if (isAccountingError(error) && error.outcome === 'unknown') unknown ??= error;
        throw error;
      }
    };
    const waits = { signal: this.#options.signal, onWait: this.#results.wait, maxWaitMs: this.#maxWaitMs };
    try {
      return await this.outage.run(attempt, waits);
    } catch (error) {
      // The last call of an outage was perhaps not even sent; an earlier one may have been carried out.
      if (unknown === undefined || !isAccountingError(error) || isRejectedKey(error.code)) throw error;
      throw error.outcome === 'not_sent' || error.outcome === 'rejected' ? unknown : error;
    }
  }
}

/** Whether an error may be one of an outage. A call that must not be repeated is not `retryable`. */
export function isDown(error: AnyAccountingError): boolean {
  return error.code === 'connection_failed' || error.code === 'timeout' || isOutage(error);
}

function isRejectedKey(code: string): boolean {
  return code === 'unauthenticated' || code === 'forbidden' || code === 'scope_required';
}
