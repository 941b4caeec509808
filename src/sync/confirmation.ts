import { abortable } from './abortable.ts';
import type { ReconcileSource, ResolvedReconcileOptions } from './reconcile-options.ts';
import type { ReconcileStats } from './reconcile-stats.ts';
import { Semaphore } from './semaphore.ts';
import { settleAll } from './settle-all.ts';

/** Asks for candidates one by one: what a walk did not show may be there all the same. */
export class Confirmation<T extends { id: string }> {
  readonly #source: ReconcileSource<T>;
  readonly #options: ResolvedReconcileOptions<T> & { readonly stats: ReconcileStats };
  readonly #deliveries = new Semaphore(1);
  #found: T[] = [];

  constructor(
    source: ReconcileSource<T>,
    options: ResolvedReconcileOptions<T> & { readonly stats: ReconcileStats },
  ) {
    this.#source = source;
    this.#options = options;
  }

  /** Whether the service has no such record. Rejects on anything that is neither a yes nor a no. */
  async isGone(id: string): Promise<boolean> {
    return (await this.#find(id)) === undefined;
  }

  /** Those of the ids whose records are gone. The others are handed over to be repaired. */
  async goneOf(ids: Iterator<string>): Promise<string[]> {
    const gone: string[] = [];
    let failed = false;
    const work = async () => {
      for (let next = ids.next(); next.done !== true && !failed; next = ids.next()) {
        const record = await this.#find(next.value);
        if (record === undefined) gone.push(next.value);
        else await this.#repair(record);
        this.#options.stats.reached('confirm');
      }
    };
    const workers = Array.from({ length: this.#options.concurrency }, () =>
      work().catch((error: unknown) => {
        failed = true;
        throw error;
      }),
    );
    // All of them, so that nothing is under way any more when this ends.
    const ends = await Promise.allSettled(workers);
    const failure = ends.find((end) => end.status === 'rejected');
    if (failure !== undefined) throw failure.reason;

    await this.#flush();
    return gone;
  }

  async #find(id: string): Promise<T | undefined> {
    const { list, signal, outage, stats } = this.#options;
    signal?.throwIfAborted();
    const { timeoutMs, deadlineMs, maxWaitMs, retry, headers } = list;
    const options = { timeoutMs, deadlineMs, maxWaitMs, retry, headers, signal, onWait: stats.waits };
    return await outage.run(() => this.#source.find(id, options), {
      signal,
      onWait: stats.waits,
      maxWaitMs: maxWaitMs ?? Number.POSITIVE_INFINITY,
    });
  }

  async #repair(record: T): Promise<void> {
    this.#found.push(record);
    if (this.#found.length >= this.#options.batchSize) await this.#flush();
  }

  #flush(): Promise<void> {
    return this.#deliveries.run(async () => {
      const records = this.#found;
      this.#found = [];
      if (records.length === 0) return;
      await abortable(settleAll(this.#options.onRepair(records)), this.#options.signal);
      this.#options.stats.repaired += records.length;
    });
  }
}
