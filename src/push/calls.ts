// The calls of one push: what it lists, looks up and writes, the wait for a service that is down, and which writes are
// not sent because of earlier ones.

import type { CallOutcome } from '../errors/accounting-error.ts';
import { type AnyAccountingError, isAccountingError, isApiError } from '../errors/guards.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import type { Page } from '../pagination/page.ts';
import type { LookUp, RecordRow } from '../reading/source.ts';
import { joinedEvidence } from '../reports/evidence.ts';
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
import type { Hold } from './runs.ts';

export class Calls {
  readonly #shown = new Map<Kind, Shown>();
  readonly #options: ResolvedPushOptions;
  readonly #results: Results;
  /** What lets this run write; undefined in a dry run. */
  readonly #hold: Hold | undefined;
  /** Settles when the service responds again, with whether it was down. */
  #outage: Promise<boolean> | undefined;
  /** The errors that may mean an outage, but after which the service was up. */
  readonly #alone = new WeakSet<object>();
  /** The error after which the service was down for `maxOutageMs`. */
  #gaveUpAfter: unknown;
  /** When the last call ended, by a monotonic clock. */
  #endedAt = monotonicMs();

  constructor(options: ResolvedPushOptions, results: Results, hold: Hold | undefined) {
    this.#options = options;
    this.#results = results;
    this.#hold = hold;
  }

  /** `isOnce`: sends it a single time, whatever the response. */
  create(draft: object, idempotencyKey: string, isOnce: boolean): Promise<RecordRow<AnyProduct>> {
    const retry = this.#retry(isOnce);
    return this.#write('create', (options) =>
      this.#options.writes.create(draft, { ...options, idempotencyKey, retry }),
    );
  }

  /** The product as the response shows it. */
  update(id: string, patch: object, isOnce: boolean): Promise<RecordRow<AnyProduct>> {
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

  /** Requests one product. A read is sent again in an outage. An error of this product alone is returned. */
  async lookUp(id: string): Promise<LookUp<AnyProduct> | AnyAccountingError> {
    const { list, writes } = this.#options;
    try {
      return await this.#run((options) => writes.lookUp(id, { ...options, outage: list.outage }));
    } catch (error) {
      if (this.stopsPush(error)) throw error;
      return error as AnyAccountingError;
    }
  }

  /**
   * Every existing product; those that do not match a schema are in `invalid`. If the list may have missed one, it is read
   * once more by page: what one read shows is there. `isIncomplete`: that read repeated products too.
   */
  async *pages(): AsyncGenerator<Page<AnyProduct> & { isIncomplete: boolean }, void, undefined> {
    let isDoubtful = false;
    for await (const page of this.#list({})) {
      // By page each read is only likely to be complete, and a second one shows no more.
      isDoubtful =
        page.repeated > 0 ||
        page.evidence.facts.includes('lost_rows') ||
        (page.pagination === 'keyset' && page.complete === 'likely');
      yield { ...page, isIncomplete: false };
    }
    if (!isDoubtful) return;
    for await (const page of this.#list({ pagination: 'page' }))
      yield { ...page, isIncomplete: page.repeated > 0 };
  }

  async *#list(other: { pagination?: 'page' }): AsyncGenerator<Page<AnyProduct>, void, undefined> {
    const { list, writes } = this.#options;
    const options = { ...list, ...other, onWait: this.#results.wait, beforeSend: this.#results.sent };
    const before = this.#results.evidence;
    for await (const page of writes.list({}, options)) {
      this.#results.evidence = joinedEvidence(before, page.evidence);
      yield page;
      this.#endedAt = monotonicMs();
    }
  }

  /** What every write of a kind has met, so that no further one is sent; undefined if one may succeed. */
  rejection(kind: Kind): Rejection | undefined {
    return rejectionOf(this.#shownBy(kind));
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

  /** Waits until the service has processed every write that was sent, and shows it. */
  async waitUntilVisible(): Promise<void> {
    await this.wait(this.#options.visibleAfterMs - (monotonicMs() - this.#endedAt));
  }

  async wait(waitMs: number): Promise<void> {
    if (waitMs <= 0) return;
    this.#results.wait(waitMs);
    await sleep(waitMs, this.#options.signal);
  }

  #shownBy(kind: Kind): Shown {
    return this.#shown.get(kind) ?? NOTHING_SHOWN;
  }

  async #write<V>(kind: Kind, work: (options: RunCallOptions) => Promise<V>): Promise<V> {
    const beforeSend = async () => {
      // After every wait, because another run may have taken over meanwhile.
      await this.#hold?.mayWrite();
      this.#results.sent();
    };
    let outcome: CallOutcome = 'applied';
    try {
      const value = await this.#run((options) => work({ ...options, beforeSend }));
      this.#shown.set(kind, afterWrite(this.#shownBy(kind)));
      return value;
    } catch (error) {
      outcome = isAccountingError(error) ? error.outcome : 'unknown';
      if (isAccountingError(error)) this.#shown.set(kind, afterWrite(this.#shownBy(kind), error));
      throw error;
    } finally {
      this.#results.wrote(outcome);
    }
  }

  async #run<V>(work: (options: RunCallOptions) => Promise<V>): Promise<V> {
    await this.#outage;
    const { call, list } = this.#options;
    const outage = list.outage.noting;
    try {
      return await work({ ...call, outage, onWait: this.#results.wait, beforeSend: this.#results.sent });
    } catch (error) {
      if (isAccountingError(error) && isOutageError(error) && !(await this.#untilUp(error)))
        this.#alone.add(error);
      throw error;
    } finally {
      this.#endedAt = monotonicMs();
    }
  }

  /**
   * After a sign of an outage, all calls wait until the list of products responds. Resolves to whether the service was
   * down. Rejects with the error after `maxOutageMs`.
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
    const mostMs = Math.max(0, Math.min(list.maxWaitMs ?? 0, list.outage.leftMs));
    if (retryAfterMs > mostMs) return this.#giveUp(error);
    await this.wait(retryAfterMs);
    let hasWaited = retryAfterMs > 0;
    const once = {
      ...list,
      onWait: (waitMs: number | undefined) => {
        hasWaited = true;
        this.#results.wait(waitMs);
      },
      beforeSend: this.#results.sent,
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
}
