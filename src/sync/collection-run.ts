import { notify } from '../internal/notify.ts';
import { guarded, type RequestGuard } from '../internal/request-guard.ts';
import type { Semaphore } from '../internal/semaphore.ts';
import { awaitedLater, type IdBounds, type Page } from '../pagination/page.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import { DeletionCheck, type DeletionCheckOptions } from '../reconcile/deletion-check.ts';
import { internalsOf } from '../transport/collection-internals.ts';
import type { Batch } from './batch.ts';
import { Checkpoints } from './checkpoints.ts';
import { Outage, type ServedCalls } from './outage.ts';
import type { CheckpointEvent, ResolvedRunOptions } from './run-options.ts';
import { planRun, type RunPlan, readEverything } from './run-plan.ts';
import { RunStats } from './run-stats.ts';
import type { ServiceOffset } from './service-offset.ts';
import { find, nameOf, type SyncSource } from './source.ts';
import { encodeState, type SyncState, stateKey } from './state.ts';
import { observedTime, rejectFutureStart, watermarkOf } from './watermark.ts';

/** What the run of one collection needs beside the collection. */
export interface RunContext {
  readonly options: ResolvedRunOptions;
  readonly name?: string | undefined;
  /** The caller's own bounds: part of what the state belongs to. */
  readonly id?: IdBounds | undefined;
  /** Stops the run: the caller's signal, or that of the tenant. */
  readonly signal: AbortSignal | undefined;
  /** What is known of the service's local times, shared by all collections of a tenant. */
  readonly offset: ServiceOffset;
  /** Limits the requests in flight, of all collections of a tenant. */
  readonly requests: Semaphore;
  /** Held while the consumer or the store is called: both may be one database connection. */
  readonly consumer: Semaphore;
  /** Shared by all collections of a tenant, to detect an outage of the service. */
  readonly served?: ServedCalls | undefined;
  /** Finds deletions in a full read. */
  readonly deletions?: DeletionOptions | undefined;
}

/** How a full sync finds deletions. */
export type DeletionOptions = Pick<
  DeletionCheckOptions<{ id: string }>,
  'localIds' | 'onDelete' | 'maxCandidates' | 'concurrency'
>;

/** Ids in one call of `onDelete`, and records in one batch of those that the read missed. */
const DELETION_BATCH_SIZE = 500;

type Pages<T> = AsyncIterableIterator<Page<T>>;

/**
 * One run of one collection: batch after batch, each committed by its consumer before the next, and one page ahead.
 * Nothing is sent or read from the store before the first `next`.
 */
export class CollectionRun<T extends { id: string }> {
  readonly stats: RunStats;
  /** Whether the calls of this collection fail because the service is down. */
  readonly outage: Outage;
  readonly #source: SyncSource<T>;
  readonly #context: RunContext;
  readonly #key: string;
  readonly #checkpoints: Checkpoints;
  /** The state that the run started from, as this run writes it. */
  #base: SyncState;
  #plan: RunPlan | undefined;
  #pages: Pages<T> | undefined;
  /** The next page, requested while the consumer works. */
  #ahead: Promise<IteratorResult<Page<T>, unknown>> | undefined;
  /** Where to resume after the last page. */
  #token: string | undefined;
  #deletionCheck: DeletionCheck<T> | undefined;
  #repairs: AsyncGenerator<readonly T[], void> | undefined;
  #ended = false;

  constructor(source: SyncSource<T>, context: RunContext) {
    const { store, tenant, prefix, maxOutageMs } = context.options;
    const collection = nameOf(source, context.name);
    const scope = scopeFingerprint({
      baseUrl: source.baseUrl ?? '',
      collection: source.segment ?? collection,
      filters: { tenant, ...filtersOf(context.id) },
    });
    this.#source = source;
    this.#context = context;
    this.#key = stateKey({ prefix, tenant, collection });
    this.#checkpoints = new Checkpoints(store, { key: this.#key, scope, signal: context.signal });
    this.#base = { scope, by: this.#checkpoints.by };
    this.outage = new Outage(maxOutageMs, context.served);
    this.stats = new RunStats(collection);
  }

  /** The next batch; undefined when the run has ended. The one before must have been committed. */
  async next(): Promise<Batch<T> | undefined> {
    if (this.#ended) return undefined;

    this.#context.signal?.throwIfAborted();
    if (this.#repairs !== undefined) return this.#afterPages();
    if (this.#plan === undefined) await this.#begin();
    for (;;) {
      const { done, value } = await (this.#ahead ?? this.#requestPage());
      this.#context.signal?.throwIfAborted();
      if (done === true) {
        if (this.#readsAgain()) continue;
        return this.#afterPages();
      }

      const page = value as Page<T>;
      if (!this.#accept(page)) continue;
      this.#ahead = awaitedLater(this.#requestPage());
      // After a restart the position must be written even if there is no record yet: the one in the store is wrong.
      if (page.records.length > 0 || page.invalid.length > 0 || page.restarted) {
        return this.#batch(page.records, page.invalid);
      }
    }
  }

  /** Called before a batch is delivered: another run may have taken over while this one sent requests. */
  async beforeConsumer(): Promise<void> {
    await this.#checkpoints.beforeConsumer();
  }

  /** Called when the consumer has finished with a batch. */
  async commit(batch: Batch<T>): Promise<void> {
    await this.#checkpoints.commit(batch.checkpoint, batch.last);
    await this.#context.offset.save();
    const { collection, key, last } = batch;
    if (!this.#checkpoints.writtenByConsumer) this.#notifyCheckpoint({ collection, key, last });
    if (last) this.stats.state = this.#base;
    this.stats.committed(batch);
    this.#notifyProgress({ last });
  }

  /** Stops what is in flight. Called at the end, however it came. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#leavePages();
    await this.#repairs?.return();
  }

  async #leavePages(): Promise<void> {
    await this.#pages?.return?.().catch(() => undefined);
  }

  /** Takes what the checkpoint of this collection knows of the service's local times. */
  async learnOffset(): Promise<void> {
    this.#learnOffset(await this.#checkpoints.peek());
  }

  #learnOffset(state: SyncState | undefined): void {
    this.#context.offset.learn(state?.offset);
    this.#context.offset.learn(state?.run?.offset);
  }

  get #lowestOffset(): number | undefined {
    const { offset, options } = this.#context;
    return offset.lowest(this.#base.watermark ?? options.updatedSince);
  }

  async #begin(): Promise<void> {
    const { options, offset, consumer, signal } = this.#context;
    const state = await consumer.run(async () => {
      signal?.throwIfAborted();
      const stored = await this.#checkpoints.load();
      // A first run that reads everything has no bound to write.
      if (stored !== undefined || options.updatedSince !== undefined) await offset.load();
      return stored;
    });
    this.stats.begin(state);
    if (state !== undefined) this.#base = { ...state, by: this.#checkpoints.by };
    this.#learnOffset(state);
    const plan = planRun(state, options, this.#lowestOffset);
    await this.#prepareDeletions(plan);
    this.#open(plan);
  }

  #open(plan: RunPlan): void {
    const { options, id, signal } = this.#context;
    this.#plan = this.stats.plan = plan;
    this.#token = plan.token;
    this.#ahead = undefined;
    this.#pages = this.#source
      .list(
        {
          ...(plan.since === undefined ? {} : { updatedSince: plan.since }),
          ...(id === undefined ? {} : { id }),
        },
        guarded(
          {
            ...options.list,
            signal,
            resumeFrom: plan.token,
            hint: this.#base.hint,
            onWait: this.#onWait,
          },
          this.#guard,
        ),
      )
      .pages();
  }

  /** A request waits here for a free slot. While it waits for a service that is down, it holds none. */
  get #guard(): RequestGuard {
    return {
      run: (call, waits) =>
        this.outage.run((onWait) => this.#context.requests.run(() => call(onWait)), waits),
    };
  }

  readonly #onWait = (waitMs: number | undefined): void => {
    this.#notifyProgress({ last: false, waiting: true, waitMs });
  };

  #requestPage(): Promise<IteratorResult<Page<T>, unknown>> {
    return (this.#pages as Pages<T>).next();
  }

  /** Takes a page. False if the read started again, because its bound cannot be trusted. */
  #accept(page: Page<T>): boolean {
    const plan = this.#plan as RunPlan;
    if (plan.watermark === undefined) {
      const watermark = watermarkOf(page.first);
      if (this.#clockWentBack(page, watermark)) {
        void this.#leavePages();
        this.#open(readEverything(watermark));
        return false;
      }
      this.#plan = { ...plan, watermark };
    }
    this.#token = page.resumeToken;
    this.stats.read(page);
    this.#context.offset.read(page.rows);
    this.#deletionCheck?.see(page);
    return true;
  }

  /**
   * Whether the service's clock stands so far behind the last watermark that what was written since then may have an
   * earlier timestamp than the bound. The lookback covers a smaller step back.
   */
  #clockWentBack(page: Page<T>, watermark: string): boolean {
    const { lookbackMs, updatedSince } = this.#context.options;
    const before = this.#base.watermark;
    const now = observedTime(page.first);
    if (before === undefined) {
      if (updatedSince !== undefined) rejectFutureStart(updatedSince, now, 'updatedSince');
      return false;
    }
    this.stats.clockWentBack = watermark < before && now < Date.parse(before);
    return this.#plan?.since !== undefined && now < Date.parse(before) - lookbackMs;
  }

  /** Starts again if the bound proved too late meanwhile. The watermark of the first response stays. */
  #readsAgain(): boolean {
    const { since, watermark } = this.#plan as RunPlan;
    if (since === undefined) return false;

    const { run: _, ...base } = this.#base;
    const state = watermark === undefined ? base : { ...base, run: { watermark, since } };
    const plan = planRun(state, this.#context.options, this.#lowestOffset);
    if (plan.resumed || plan.since === since) return false;
    this.#open(plan);
    return true;
  }

  /** Reads the local ids, before the first request. */
  async #prepareDeletions({ token }: RunPlan): Promise<void> {
    const { deletions, consumer, signal, options } = this.#context;
    if (deletions === undefined) return;
    if (token !== undefined) {
      // The pages before the token were listed by another process: what they listed is not known any more.
      this.stats.deletions = { skipped: 'resumed', local: 0, candidates: 0, deleted: 0, repaired: 0 };
      return;
    }
    const { localIds, onDelete, maxCandidates, concurrency } = deletions;
    const how = { list: options.list, outage: this.#guard, signal, onWait: this.#onWait };
    this.#deletionCheck = new DeletionCheck({
      collection: this.stats.collection,
      localIds,
      onDelete: (ids, collection) => consumer.run(async () => onDelete(ids, collection)),
      find: (id) => find(this.#source, id, how),
      maxCandidates,
      batchSize: DELETION_BATCH_SIZE,
      concurrency,
      signal,
    });
    await consumer.run(async () => this.#deletionCheck?.readLocalIds());
  }

  /** After the last page: the records that the read missed, as batches, then the last batch. */
  async #afterPages(): Promise<Batch<T>> {
    this.#repairs ??= this.#deletionCheck?.confirm();
    const repaired = await this.#repairs?.next();
    if (repaired?.done === false) return this.#batch(repaired.value, []);

    if (this.#deletionCheck !== undefined) {
      const { local, candidates, deleted, repaired: count } = this.#deletionCheck.report();
      this.stats.deletions = { skipped: undefined, local, candidates, deleted, repaired: count };
    }
    return this.#lastBatch();
  }

  #batch(records: readonly T[], invalid: Batch<T>['invalid']): Batch<T> {
    const { watermark = '', since } = this.#plan as RunPlan;
    const token = this.#token;
    const offset = this.#lowestOffset;
    const run = {
      watermark,
      ...(since === undefined ? {} : { since }),
      ...(token === undefined ? {} : { token }),
      ...(offset === undefined ? {} : { offset }),
    };
    return {
      collection: this.stats.collection,
      records,
      invalid,
      key: this.#key,
      checkpoint: encodeState({ ...this.#base, run }),
      last: false,
    };
  }

  /** The watermark advances here, and only here. */
  #lastBatch(): Batch<T> {
    this.#ended = true;
    this.#base = this.#stateAfter();
    return {
      collection: this.stats.collection,
      records: [],
      invalid: [],
      key: this.#key,
      checkpoint: encodeState(this.#base),
      last: true,
    };
  }

  #stateAfter(): SyncState {
    const plan = this.#plan as RunPlan;
    // A list without any response has read nothing: the next run starts where this one did.
    const watermark = plan.watermark ?? this.#base.watermark;
    if (watermark === undefined) return this.#base;

    const { hint } = this.stats;
    const offset = this.#lowestOffset;
    const { run: _, offset: __, hint: ___, ...rest } = this.#base;
    return {
      ...rest,
      watermark,
      ...(plan.mode === 'full' ? { full: watermark } : {}),
      ...(offset === undefined ? {} : { offset }),
      ...(hint === undefined ? {} : { hint }),
    };
  }

  #notifyProgress(progress: Parameters<RunStats['progress']>[0]): void {
    notify(this.#context.options.onProgress, this.stats.progress(progress), (thrown) =>
      internalsOf(this.#source).callbackFailed?.('onProgress', thrown),
    );
  }

  #notifyCheckpoint(event: CheckpointEvent): void {
    notify(this.#context.options.onCheckpoint, event, (thrown) =>
      internalsOf(this.#source).callbackFailed?.('onCheckpoint', thrown),
    );
  }
}

function filtersOf(id: IdBounds | undefined): Record<string, string> {
  const bounds = Object.entries(id ?? {}).filter(([, bound]) => bound !== undefined);
  return Object.fromEntries(
    bounds.map(([name, bound]) => [
      `id[${name}]`,
      typeof bound === 'string' ? bound : (bound as string[]).join('..'),
    ]),
  );
}
