// The calls of one run, and when they show that no other row can succeed.

import { type AnyAccountingError, isAccountingError, isApiError } from '../errors/guards.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import { runSource } from '../reading/source.ts';
import type { RequestOptions, ResponseMeta } from '../transport/call-options.ts';
import { outageDelayMs, signOfError } from '../transport/outage.ts';
import { parseHttpDate } from '../transport/retry-after.ts';
import type { AnyProduct, AnyTarget, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

/** The end of a create that may have been carried out, and must not be sent again before that is known. */
export class LostCreate {
  readonly error: AnyAccountingError;

  constructor(error: AnyAccountingError) {
    this.error = error;
  }
}

/** A created product, and when the service sent it by its own clock, in ms. */
export interface Created {
  readonly product: AnyProduct;
  readonly sentAt: number | undefined;
}

/** Another row, by another kind of write, may fare better than one that gets a 403. */
type Kind = 'create' | 'update' | 'delete';

/** So many 403s in a row, before any success, and no other row can be expected to succeed. */
const MAX_DENIED = 5;

/** Statuses that every other request of the kind gets too. */
const STOPPING_STATUSES: ReadonlySet<number> = new Set([405, 406, 415]);

/** Creates that were lost one after the other, without one that the service responded to. */
interface Losses {
  readonly count: number;
  /** When the first of them was lost. */
  readonly since: number;
}

export class Calls {
  #losses: Losses | undefined;
  /** 403s in a row by kind; -Infinity after a success. */
  readonly #denied = new Map<Kind, number>();
  /** Calls that the service responded to. */
  #responses = 0;
  /** Whether a call or the creates have failed for `maxOutageMs`, and no other call got a response meanwhile. */
  #gaveUp = false;
  readonly #products: AnyTarget;
  readonly #options: ResolvedPushOptions;
  readonly #results: Results;

  /** The calls of `products` wait for a service that is down. */
  constructor(products: AnyTarget, options: ResolvedPushOptions, results: Results) {
    this.#products = products;
    this.#options = options;
    this.#results = results;
  }

  /**
   * A create whose outcome is unknown resolves to {@link LostCreate}. With `retry.creates: false` it is not repeated
   * before that, and in an outage resolves after a wait, so that the next create is sent later.
   */
  async create(draft: object, idempotencyKey: string): Promise<Created | LostCreate> {
    const { creates } = this.#options.settings.retry;
    let sentAt: number | undefined;
    const onResponse = ({ headers }: ResponseMeta) => {
      sentAt = parseHttpDate(headers.date ?? '');
    };
    const create = async (options: RequestOptions): Promise<Created | LostCreate> => {
      try {
        const product = await this.#products.create(draft, { ...options, idempotencyKey, onResponse });
        return { product, sentAt };
      } catch (error) {
        if (isApiError(error) && signOfError(error) === undefined) this.#losses = undefined;
        if (!creates && isLost(error)) return new LostCreate(error);
        throw error;
      }
    };
    const created = await this.#write('create', create).catch(async (error: unknown) => {
      if (isLost(error) && !(await this.stopsRun(error))) return new LostCreate(error);
      throw error;
    });
    if (!creates && created instanceof LostCreate && (await this.#isOutage(created.error))) {
      await this.#waitAfter(created.error);
    } else this.#losses = undefined;
    return created;
  }

  update(id: string, patch: object): Promise<AnyProduct> {
    return this.#write('update', (options) => this.#products.update(id, patch, options));
  }

  delete(id: string): Promise<void> {
    return this.#write('delete', (options) => this.#products.delete(id, options));
  }

  /** Undefined only if a problem document says that there is no such product. */
  find(id: string): Promise<AnyProduct | undefined> {
    return this.#run((options) => this.#products.find(id, options));
  }

  /** Whether no other row can fare better: a rejected key, a key without the right to write, an outage, our own errors. */
  async stopsRun(error: unknown): Promise<boolean> {
    if (!isAccountingError(error) || this.#options.signal?.aborted) return true;
    const stops = ['unauthenticated', 'scope_required', 'checkpoint', 'concurrent_run'];
    if (stops.includes(error.code) || this.#gaveUp) return true;
    if (error.code === 'forbidden') return [...this.#denied.values()].some((count) => count >= MAX_DENIED);
    if (isApiError(error) && STOPPING_STATUSES.has(error.status)) return true;
    return await this.#isServiceDown(error);
  }

  /** A 403 can concern one record or every one: it is counted, in the order in which writes end. */
  async #write<V>(kind: Kind, work: (options: RequestOptions) => Promise<V>): Promise<V> {
    try {
      const value = await this.#run(work);
      if (!(value instanceof LostCreate)) this.#denied.set(kind, Number.NEGATIVE_INFINITY);
      return value;
    } catch (error) {
      const denied = this.#denied.get(kind) ?? 0;
      this.#denied.set(kind, isAccountingError(error, 'forbidden') ? denied + 1 : Math.min(denied, 0));
      throw error;
    }
  }

  /** Rejects if the outage has lasted for `maxOutageMs`, and for as many creates as a call has attempts. */
  async #waitAfter(error: AnyAccountingError): Promise<void> {
    const { maxOutageMs, settings, signal, list } = this.#options;
    const { count, since } = this.#losses ?? { count: 0, since: monotonicMs() };
    this.#losses = { count: count + 1, since };
    const isLong = count + 1 >= settings.retry.maxAttempts && monotonicMs() - since >= maxOutageMs;
    const retryAfterMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
    if (isLong || retryAfterMs > (list.maxWaitMs ?? Number.POSITIVE_INFINITY)) {
      this.#gaveUp = true;
      throw error;
    }
    const waitMs = Math.max(retryAfterMs, outageDelayMs(count + 1));
    this.#results.wait(waitMs);
    await sleep(waitMs, signal);
  }

  async #run<V>(work: (options: RequestOptions) => Promise<V>): Promise<V> {
    const responsesBefore = this.#responses;
    try {
      const value = await work({ ...this.#options.call, onWait: this.#results.wait });
      if (!(value instanceof LostCreate)) this.#responses += 1;
      return value;
    } catch (error) {
      const sign = signOfError(error);
      if (sign === undefined && isApiError(error)) this.#responses += 1;
      if (sign === 'down' && this.#responses === responsesBefore) this.#gaveUp = true;
      throw error;
    }
  }

  /** Whether the service failed, not this one create. */
  async #isOutage(error: AnyAccountingError): Promise<boolean> {
    return signOfError(error) === 'down' || (await this.#isServiceDown(error));
  }

  #isServiceDown(error: AnyAccountingError): Promise<boolean> {
    return runSource(this.#products).isServiceDown(error, this.#options.call);
  }
}

/** Whether a create may have been carried out. */
function isLost(error: unknown): error is AnyAccountingError {
  return isAccountingError(error) && (error.outcome === 'unknown' || error.outcome === 'applied');
}
