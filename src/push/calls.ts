// The calls of one run: each outlasts an outage of the service, and an error never hides what may have been done.

import { type AnyAccountingError, isAccountingError } from '../errors/guards.ts';
import type { RequestWaits } from '../internal/request-guard.ts';
import { Outage } from '../sync/outage.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import type { PushTarget, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** The end of a create that may have been carried out, and must not be sent again before that is known. */
export interface LostCreate {
  readonly lost: AnyAccountingError;
}

export class Calls<T extends { id: string }, Draft extends object, Patch extends object> {
  readonly outage: Outage;
  readonly #products: PushTarget<T, Draft, Patch>;
  readonly #options: ResolvedPushOptions<T, Draft, Patch>;
  readonly #results: Results;

  constructor(
    products: PushTarget<T, Draft, Patch>,
    options: ResolvedPushOptions<T, Draft, Patch>,
    results: Results,
  ) {
    this.#products = products;
    this.#options = options;
    this.#results = results;
    this.outage = new Outage(options.maxOutageMs);
  }

  /** With `retry.creates: false` a create with an unknown outcome is not repeated: it resolves to {@link LostCreate}. */
  create(draft: object, idempotencyKey: string): Promise<T | LostCreate> {
    const mayRepeat = this.#options.settings.retry.creates;
    return this.#run(async (options) => {
      try {
        return await this.#products.create(draft as Draft, { ...options, idempotencyKey });
      } catch (error) {
        if (!mayRepeat && isAccountingError(error) && error.outcome === 'unknown') return { lost: error };
        throw error;
      }
    });
  }

  update(id: string, patch: object): Promise<T> {
    return this.#run((options) => this.#products.update(id, patch as Patch, options));
  }

  delete(id: string): Promise<void> {
    return this.#run((options) => this.#products.delete(id, options));
  }

  /** Undefined only if a problem document says that there is no such product. */
  find(id: string): Promise<T | undefined> {
    return this.#run((options) => this.#products.find(id, options));
  }

  /** Whether no other row can fare better: a rejected key, a key without the right to write, an outage, our own errors. */
  stopsRun(error: unknown): boolean {
    if (!isAccountingError(error) || this.#options.signal?.aborted) return true;
    const stops = ['unauthenticated', 'forbidden', 'scope_required', 'checkpoint', 'concurrent_run'];
    return stops.includes(error.code) || this.outage.isOver;
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
    const { signal, list } = this.#options;
    const maxWaitMs = list.maxWaitMs ?? Number.POSITIVE_INFINITY;
    try {
      return await this.outage.run(attempt, { signal, onWait: this.#results.wait, maxWaitMs });
    } catch (error) {
      // The last call of an outage was perhaps not even sent; an earlier one may have been carried out.
      if (unknown === undefined || !isAccountingError(error) || isRejectedKey(error.code)) throw error;
      throw error.outcome === 'not_sent' || error.outcome === 'rejected' ? unknown : error;
    }
  }
}

function isRejectedKey(code: string): boolean {
  return code === 'unauthenticated' || code === 'forbidden' || code === 'scope_required';
}
