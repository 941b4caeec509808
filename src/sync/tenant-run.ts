import { isAccountingError } from '../errors/guards.ts';
import type { SyncFailure } from '../errors/sync-error.ts';
import type { SyncReport } from '../errors/sync-report.ts';
import { settled } from '../internal/callback.ts';
import { Semaphore } from '../internal/semaphore.ts';
import type { Batch } from './batch.ts';
import { CollectionRun, type DeletionOptions } from './collection-run.ts';
import { isOutage } from './outage.ts';
import type { ResolvedRunOptions } from './run-options.ts';
import type { RunStats } from './run-stats.ts';
import { ServiceOffset } from './service-offset.ts';
import type { SyncSource } from './source.ts';

/** What the runs of one tenant share. */
export interface TenantContext {
  readonly options: ResolvedRunOptions;
  readonly onBatch: (batch: Batch<{ id: string }>) => unknown;
  readonly deletions: Omit<DeletionOptions, 'concurrency'> | undefined;
  /** Whether a collection that the key may not read fails the sync. */
  readonly onForbidden: 'report' | 'fail';
  /** Requests in flight at a time. */
  readonly concurrency: number;
}

type Source = SyncSource<{ id: string }>;
type Run = CollectionRun<{ id: string }>;

/**
 * The collections of one tenant, level by level: parents before children. The collections of a level run at the same
 * time and share the requests in flight. A failure ends only its own collection; a rejected key and a service that is
 * down stop all of them.
 */
export class TenantRun {
  readonly #context: TenantContext;
  readonly #stop = new AbortController();
  readonly #consumer = new Semaphore(1);
  readonly #levels: readonly (readonly Run[])[];
  readonly #startedAt = new Date();
  readonly #errors = new Map<RunStats, unknown>();
  #stopped: SyncFailure['stop'];

  constructor(names: readonly string[], sources: Readonly<Record<string, Source>>, context: TenantContext) {
    this.#context = context;
    const { options, deletions, concurrency } = context;
    const { signal } = this.#stop;
    const shared = {
      options,
      signal,
      offset: new ServiceOffset(options, signal),
      requests: new Semaphore(concurrency),
      consumer: this.#consumer,
      served: { count: 0 },
      deletions: deletions && { ...deletions, concurrency },
    };
    this.#levels = inLevels(names, sources).map((level) =>
      level.map((name) => new CollectionRun(sources[name] as Source, { ...shared, name })),
    );
  }

  get #runs(): readonly Run[] {
    return this.#levels.flat();
  }

  /** Runs to the end, or until the caller's signal stops it. Rejects only with the signal's reason. */
  async run(): Promise<void> {
    const { signal } = this.#context.options;
    const stop = () => this.#stop.abort(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop);
    try {
      await this.#learnOffsets();
      for (const level of this.#levels) {
        // Even if a parent failed: what its children contain is right anyway.
        await Promise.all(level.map((run) => this.#runOne(run)));
      }
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    const isFinished = this.#runs.every(
      ({ stats: { status } }) => status === 'done' || status === 'forbidden',
    );
    if (signal?.aborted && !isFinished) throw signal.reason;
  }

  /** With a store without `set`, only the checkpoints remember the service's local times: read all before any is used. */
  async #learnOffsets(): Promise<void> {
    if (this.#context.options.store.set !== undefined) return;
    for (const run of this.#runs) {
      if (this.#stop.signal.aborted) return;
      await run.learnOffset();
    }
  }

  report(): SyncReport {
    const collections = this.#runs.map(({ stats }) => stats.report());
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
    const all = this.#runs.map(({ stats }) => stats);
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
    // A consumer may use this package too, and throw an error of another service.
    let isOfConsumer = false;
    try {
      for (let batch = await run.next(); batch !== undefined; batch = await run.next()) {
        isOfConsumer = true;
        await this.#deliver(run, batch);
        isOfConsumer = false;
      }
    } catch (error) {
      this.#fail(run, error, isOfConsumer);
    } finally {
      await run.close();
    }
  }

  #deliver(run: Run, batch: Batch<{ id: string }>): Promise<void> {
    return this.#consumer.run(async () => {
      // The stop may have come while the batch waited here.
      this.#stop.signal.throwIfAborted();
      await run.beforeConsumer();
      await settled(this.#context.onBatch(batch), this.#stop.signal);
      await run.commit(batch);
    });
  }

  #fail(run: Run, error: unknown, isOfConsumer: boolean): void {
    // Stopped by the signal, a rejected key or an outage: not a failure of this collection.
    if (this.#stop.signal.aborted) return;

    this.#errors.set(run.stats, error);
    run.stats.status = 'failed';
    if (isOfConsumer) return;

    const isForbidden = isAccountingError(error, 'forbidden') || isAccountingError(error, 'scope_required');
    if (isForbidden) run.stats.status = 'forbidden';
    const reason = this.#stopReason(run, error);
    if (reason === undefined) return;
    this.#stopped = { reason, error };
    this.#stop.abort(error);
  }

  /** Why no other collection would succeed either. */
  #stopReason({ outage }: Run, error: unknown): 'key_rejected' | 'outage' | undefined {
    if (isAccountingError(error, 'unauthenticated')) return 'key_rejected';
    if (!isOutage(error) || !outage.isOver) return undefined;

    // One collection that fails may be broken by itself. It takes a second one, and no success meanwhile, to show that
    // the service is down.
    return this.#runs.some((run) => run.outage !== outage && run.outage.isDown) ? 'outage' : undefined;
  }
}

/**
 * The names in levels, parents before children. Each source names the segment of its parent, which is looked up among
 * all sources, even those that are not read: bomLines come after products even if boms are not read.
 */
function inLevels(
  names: readonly string[],
  sources: Readonly<Record<string, Source>>,
): readonly (readonly string[])[] {
  const bySegment = new Map(Object.values(sources).map((source) => [source?.segment, source]));
  const levelOf = (name: string) => {
    let level = 0;
    let parent = sources[name]?.parent;
    // A source of the caller could name its own child as its parent: a chain is never longer than all sources.
    while (parent !== undefined && bySegment.has(parent) && level < bySegment.size) {
      level += 1;
      parent = bySegment.get(parent)?.parent;
    }
    return level;
  };

  const levels: string[][] = [];
  for (const name of names) {
    const level = levelOf(name);
    levels[level] = [...(levels[level] ?? []), name];
  }
  // A level of which no collection is read is a hole in the array.
  return levels.filter((level) => level !== undefined);
}
