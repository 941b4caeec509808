// The calls of one push: the wait for a service that is down, and which writes are not sent because of earlier ones.

import { type AnyAccountingError, isAccountingError, isApiError } from '../errors/guards.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import type { LookUp, RecordRow } from '../reading/source.ts';
import type { RunCallOptions } from '../transport/call-options.ts';
import { isOutageError } from '../transport/outage.ts';
import {
  afterWrite,
  type Kind,
  NOTHING_SHOWN,
  type Rejection,
  reachOf,
  rejectionOf,
  type Shown,
} from './kinds.ts';
import type { AnyProduct, ResolvedPushOptions } from './options.ts';
import type { Results } from './results.ts';

export class Calls {
  readonly #shown = new Map<Kind, Shown>();
  readonly #options: ResolvedPushOptions;
  readonly #results: Results;
  /** Settles when the service responds again, with whether it was down. */
  #outage: Promise<boolean> | undefined;
  /** The errors that may mean an outage, but after which the service was up. */
  readonly #alone = new WeakSet<object>();
  /** The error after which the service was down for `maxOutageMs`. */
  #gaveUpAfter: unknown;
  /** When the last call ended, by a monotonic clock. */
  #endedAt = monotonicMs();

  constructor(options: ResolvedPushOptions, results: Results) {
    this.#options = options;
    this.#results = results;
  }

  /** `isOnce`: sends it a single time, whatever the response. */
  create(draft: object, idempotencyKey: string, isOnce: boolean): Promise<RecordRow<AnyProduct>> {
    const retry = this.#retry(isOnce);
    return this.#write('create', (options) =>
      this.#options.writes.create(draft, { ...options, idempotencyKey, retry }),
    );
  }

  /** The product as the response shows it. */
  update(id: string, patch: object, isOnce = false): Promise<RecordRow<AnyProduct>> {
    const retry = this.#retry(isOnce);
    return this.#write('update', (options) => this.#options.writes.update(id, patch, { ...options, retry }));
  }

  #retry(isOnce: boolean) {
    const { retry } = this.#options.call;
    return isOnce && retry !== false ? { ...retry, maxAttempts: 1 } : retry;
  }

  /** Whether a write of a kind has succeeded. */
  hasSucceeded(kind: Kind): boolean {
    return this.#shownBy(kind).hasSucceeded;
  }

  delete(id: string): Promise<void> {
    return this.#write('delete', (options) => this.#options.writes.delete(id, options));
  }

  /** A read is sent again in an outage. */
  async lookUp(id: string): Promise<LookUp<AnyProduct>> {
    const { list, writes } = this.#options;
    return await this.#run((options) => writes.lookUp(id, { ...options, outage: list.outage }));
  }

  /** The same, but an error of this product alone is returned. */
  async lookUpAlone(id: string): Promise<LookUp<AnyProduct> | AnyAccountingError> {
    try {
      return await this.lookUp(id);
    } catch (error) {
      if (this.stopsPush(error)) throw error;
      return error as AnyAccountingError;
    }
  }

  /** What every write of a kind has met, so that no further one is sent; undefined if one may succeed. */
  rejection(kind: Kind, mostDenied: number): Rejection | undefined {
    return rejectionOf(this.#shownBy(kind), mostDenied);
  }

  /** Throws the error that stopped the writes of a kind. */
  throwIfStopped(): void {
    for (const shown of this.#shown.values()) if (shown.isStopped) throw shown.error;
  }

  /** Whether an error ends the push at once: every other call would meet it too. */
  stopsPush(error: unknown): boolean {
    if (!isAccountingError(error) || this.#options.signal?.aborted) return true;
    return error === this.#gaveUpAfter || reachOf(error) === 'push';
  }

  /** Whether the service was up after a call failed in a way that may mean an outage. */
  wasUpAfter(error: unknown): boolean {
    return isAccountingError(error) && this.#alone.has(error);
  }

  /** Waits until every create that was sent is processed, and shown. */
  async waitUntilVisible(): Promise<void> {
    const waitMs = this.#options.visibleAfterMs - (monotonicMs() - this.#endedAt);
    if (waitMs > 0) await this.#wait(waitMs);
  }

  #shownBy(kind: Kind): Shown {
    return this.#shown.get(kind) ?? NOTHING_SHOWN;
  }

  async #write<V>(kind: Kind, work: (options: RunCallOptions) => Promise<V>): Promise<V> {
    try {
      const value = await this.#run(work);
      this.#shown.set(kind, afterWrite(this.#shownBy(kind)));
      return value;
    } catch (error) {
      if (isAccountingError(error)) this.#shown.set(kind, afterWrite(this.#shownBy(kind), error));
      throw error;
    }
  }

  async #run<V>(work: (options: RunCallOptions) => Promise<V>): Promise<V> {
    await this.#outage;
    const { call, list } = this.#options;
    try {
      return await work({ ...call, outage: list.outage.noting, onWait: this.#results.wait });
    } catch (error) {
      if (isAccountingError(error) && isOutageError(error) && !(await this.#untilUp(error)))
        this.#alone.add(error);
      throw error;
    } finally {
      this.#endedAt = monotonicMs();
    }
  }

  /**
   * After a sign of an outage, all calls wait until the list responds. Resolves to whether the service was down. Rejects
   * with the error after `maxOutageMs`.
   */
  async #untilUp(error: unknown): Promise<boolean> {
    this.#outage ??= this.#waitForService(error).finally(() => {
      this.#outage = undefined;
    });
    return await this.#outage;
  }

  async #waitForService(error: unknown): Promise<boolean> {
    const { list, signal, writes } = this.#options;
    const retryAfterMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
    if (retryAfterMs > Math.min(list.maxWaitMs ?? 0, list.outage.leftMs)) return this.#giveUp(error);
    if (retryAfterMs > 0) await this.#wait(retryAfterMs);
    let hasWaited = retryAfterMs > 0;
    const onWait = (waitMs: number | undefined) => {
      hasWaited = true;
      this.#results.wait(waitMs);
    };
    const once = {
      ...list,
      signal,
      onWait,
      retry: { maxAttempts: 1 },
      pagination: 'page',
      prefetch: 0,
    } as const;
    try {
      for await (const _ of writes.list({}, once)) break;
    } catch {
      signal?.throwIfAborted();
      return this.#giveUp(error);
    }
    return hasWaited;
  }

  #giveUp(error: unknown): never {
    this.#gaveUpAfter = error;
    throw error;
  }

  async #wait(waitMs: number): Promise<void> {
    this.#results.wait(waitMs);
    await sleep(waitMs, this.#options.signal);
  }
}
