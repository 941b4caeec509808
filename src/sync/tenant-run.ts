import { isAccountingError } from '../errors/guards.ts';
import type { SyncFailure } from '../errors/sync-error.ts';
import type { SyncReport } from '../errors/sync-report.ts';
import { abortable } from './abortable.ts';
import type { Batch } from './batch.ts';
import type { ResolvedRunOptions } from './options.ts';
import { OutageClock } from './outage-clock.ts';
import { CollectionRun } from './run.ts';
import type { RunStats } from './run-stats.ts';
import { Semaphore } from './semaphore.ts';
import { tenantOffset } from './service-offset.ts';
import { settleAll } from './settle-all.ts';
import type { SyncSource } from './source.ts';

/** What the runs of one tenant share. */
export interface TenantContext {
  readonly options: ResolvedRunOptions;
  readonly onBatch: (batch: Batch<{ id: string }>) => unknown;
  /** Whether a collection that the key may not read fails the sync. */
  readonly onForbidden: 'report' | 'fail';
  /** Requests in flight at a time. */
  readonly concurrency: number;
}

type Run = CollectionRun<{ id: string }>;

/**
 * The collections of one tenant, level by level. Within a level they take turns page by page; a failure ends its own
 * collection alone; a rejected key and a service that is down stop them all.
 */
export class TenantRun {
  readonly #context: TenantContext;
  readonly #stop = new AbortController();
  readonly #outage: OutageClock;
  readonly #requests: Semaphore;
  readonly #deliveries = new Semaphore(1);
  readonly #levels: readonly (readonly Run[])[];
  readonly #startedAt = new Date();
  readonly #errors = new Map<RunStats, unknown>();
  #stopped: SyncFailure['stop'];

  constructor(
    levels: readonly (readonly { readonly name: string; readonly source: SyncSource<{ id: string }> }[])[],
    context: TenantContext,
  ) {
    this.#context = context;
    this.#requests = new Semaphore(context.concurrency);
    const { options } = context;
    this.#outage = new OutageClock(options.maxOutageMs);
    const offset = tenantOffset(options, this.#stop.signal);
    const shared = {
      options,
      offset,
      outage: this.#outage,
      signal: this.#stop.signal,
      turn: <V>(work: () => Promise<V>) => this.#requests.run(work),
      alone: <V>(work: () => Promise<V>) => this.#deliveries.run(work),
    };
    this.#levels = levels.map((level) =>
      level.map(({ name, source }) => new CollectionRun(source, { ...shared, name })),
    );
  }

  /** Runs to the end, or until the caller's signal stops it. Rejects with nothing but the signal's reason. */
  async run(): Promise<void> {
    const { signal } = this.#context.options;
    const stop = () => this.#stop.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    try {
      await this.#learnOffsets();
      for (const level of this.#levels) {
        // Whether a parent failed or not: what its children say is true all the same.
        await Promise.all(level.map((run) => this.#runOne(run)));
      }
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    const finished = this.#levels
      .flat()
      .every(({ stats: { status } }) => status === 'done' || status === 'forbidden');
    if (signal?.aborted && !finished) throw signal.reason;
  }

  /** A store without `set` knows the service's local times only from the checkpoints: from all, before any is used. */
  async #learnOffsets(): Promise<void> {
    if (this.#context.options.store.set !== undefined) return;
    for (const run of this.#levels.flat()) {
      if (this.#stop.signal.aborted) return;
      await run.learnOffset();
    }
  }

  report(): SyncReport {
    const collections = this.#levels.flat().map(({ stats }) => stats.report());
    return {
      tenant: this.#context.options.tenant,
      startedAt: this.#startedAt,
      endedAt: new Date(),
      records: collections.reduce((sum, { records }) => sum + records, 0),
      collections,
    };
  }

  /** Why the sync fails; undefined if it succeeds. */
  failure(): SyncFailure | undefined {
    const { onForbidden } = this.#context;
    const all = this.#levels.flat().map(({ stats }) => stats);
    const isForbidden = ({ status }: RunStats) => status === 'forbidden';
    const reportsForbidden = onForbidden === 'report' && !all.every(isForbidden);
    const failed = all.filter(
      (stats) => this.#errors.has(stats) && !(reportsForbidden && isForbidden(stats) && !stats.couldRead),
    );
    if (failed.length === 0) return undefined;

    return {
      errors: failed.map((stats) => ({ collection: stats.collection, error: this.#errors.get(stats) })),
      stop: this.#stopped,
      revoked: failed
        .filter((stats) => isForbidden(stats) && stats.couldRead)
        .map(({ collection }) => collection),
    };
  }

  async #runOne(run: Run): Promise<void> {
    if (this.#stop.signal.aborted) return;
    // A consumer may use this package too, and throw what another service has said.
    let ofConsumer = false;
    try {
      for (let batch = await run.next(); batch !== undefined; batch = await run.next()) {
        ofConsumer = true;
        await this.#deliver(run, batch);
        ofConsumer = false;
      }
    } catch (error) {
      this.#fail(run, error, ofConsumer);
    } finally {
      await run.close();
    }
  }

  /** The consumer and the store are never busy with two batches at once: both may be one database connection. */
  #deliver(run: Run, batch: Batch<{ id: string }>): Promise<void> {
    return this.#deliveries.run(async () => {
      // It may have waited here while the stop came.
      this.#stop.signal.throwIfAborted();
      await run.beforeConsumer();
      await abortable(settleAll(this.#context.onBatch(batch)), this.#stop.signal);
      await run.commit(batch);
    });
  }

  #fail({ stats }: Run, error: unknown, ofConsumer: boolean): void {
    // Stopped by the signal, a rejected key or an outage: not a failure of this collection.
    if (this.#stop.signal.aborted) return;

    this.#errors.set(stats, error);
    stats.status = 'failed';
    if (ofConsumer) return;

    const forbidden = isAccountingError(error, 'forbidden') || isAccountingError(error, 'scope_required');
    if (forbidden) stats.status = 'forbidden';
    // No other collection would fare better with a rejected key, or while the service is down.
    const keyRejected = isAccountingError(error, 'unauthenticated');
    if (!keyRejected && !this.#outage.isOver) return;
    this.#stopped = { reason: keyRejected ? 'key_rejected' : 'outage', error };
    this.#stop.abort(error);
  }
}
