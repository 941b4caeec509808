import { isApiError } from '../errors/guards.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { notify } from '../internal/notify.ts';
import type { Semaphore } from '../internal/semaphore.ts';
import { awaitedLater, type IdBounds, idParameters, type Page } from '../pagination/page.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import { hasOffset, isTooLate, lowestOffset } from '../reading/bound.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import { nameOf, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { encodeState, type RunState, type SyncState, stateKey } from '../reading/state.ts';
import type { Store } from '../reading/store.ts';
import { observedTime, rejectFutureStart, toSeconds, watermarkOf } from '../reading/watermark.ts';
import { DeletionCheck, type DeletionCheckOptions } from '../reconcile/deletion-check.ts';
import { CallStopped } from '../transport/call-options.ts';
import type { Batch } from './batch.ts';
import { Checkpoints } from './checkpoints.ts';
import type { RunLimit } from './run-limit.ts';
import type { CheckpointEvent, ResolvedRunOptions } from './run-options.ts';
import { planRun, type RunPlan } from './run-plan.ts';
import { type BatchCounts, RunStats } from './run-stats.ts';

/** What the run of one collection needs beside the collection. */
interface RunContext {
  readonly options: ResolvedRunOptions;
  readonly store: Store;
  readonly name?: string | undefined;
  /** The caller's own bounds: part of what the state belongs to. */
  readonly id?: IdBounds | undefined;
  /** Stops the run: the caller's signal, or that of the tenant. */
  readonly signal: AbortSignal | undefined;
  /** Held while the consumer or the store is called: both may be one database connection. */
  readonly consumer: Semaphore;
  /** Finds deletions in a full read. */
  readonly deletions?: DeletionOptions | undefined;
  /** When the run is paused. */
  readonly limit?: RunLimit | undefined;
}

/** How a full sync finds deletions. */
export type DeletionOptions = Pick<
  DeletionCheckOptions<{ id: string }>,
  'localIds' | 'onDelete' | 'maxCandidates' | 'concurrency'
>;

/** Ids in one call of `onDelete`, and records in one batch of those that the read missed. */
const DELETION_BATCH_SIZE = 500;

const NOTHING: BatchCounts = { records: 0, invalid: 0 };

/** Of a batch that is no page: invalid records, and whether the read starts again with it. */
const NEITHER = { invalid: [], restarted: false };

/** The pages of a list, and the first one. */
interface OpenRead<T> {
  readonly pages: AsyncIterableIterator<Page<T>>;
  readonly first: IteratorResult<Page<T>, unknown>;
}

/**
 * One run of one collection: a plan, its pages, and a batch of each page, committed by its consumer before the next. One
 * page is requested ahead. Nothing is sent or read from the store before the first batch is requested.
 */
export class CollectionRun<T extends { id: string }> {
  readonly stats: RunStats;
  /** Written into the state: see `round.ts`. */
  round: number | undefined;
  readonly #source: RunSource<T>;
  readonly #context: RunContext;
  readonly #key: string;
  readonly #checkpoints: Checkpoints;
  /** The state that the run started from, as this run writes it. */
  #base: SyncState;
  /** Of the batch that the consumer has. */
  #counts: BatchCounts = NOTHING;
  readonly #pause = new AbortController();
  /** Ends requests and waits. */
  readonly #signal: AbortSignal | undefined;
  /** Whether the next run could resume. */
  #canPause: boolean;
  /** By the monotonic clock. */
  #waitsUntil = 0;

  constructor(given: SyncSource<T>, context: RunContext) {
    const { tenant, prefix, read } = context.options;
    const collection = nameOf(given, context.name);
    const source = runSource(given);
    const scope = scopeFingerprint({
      baseUrl: source.baseUrl,
      collection: source.segment ?? collection,
      // An invalid bound is rejected by the list.
      filters: { tenant, ...Object.fromEntries(idParameters(context.id ?? {})) },
    });
    const { limit, signal } = context;
    this.#source = source;
    this.#context = context;
    this.#signal =
      limit === undefined ? signal : AbortSignal.any([this.#pause.signal, ...(signal ? [signal] : [])]);
    this.#canPause = read.pagination === 'keyset';
    this.#key = stateKey({ prefix, tenant, collection });
    this.#checkpoints = new Checkpoints(context.store, { key: this.#key, scope, signal: context.signal });
    this.#base = { scope, by: this.#checkpoints.by };
    this.stats = new RunStats(collection);
  }

  /** Each batch must have been committed before the next is requested. */
  async *batches(): AsyncGenerator<Batch<T>, void> {
    const { consumer, signal, options } = this.#context;
    signal?.throwIfAborted();
    const state = await consumer.run(async () => {
      signal?.throwIfAborted();
      return this.#checkpoints.load();
    });
    this.stats.begin(state);
    if (state !== undefined) this.#base = { ...state, by: this.#checkpoints.by };
    if (this.round !== undefined) this.#base = { ...this.#base, round: this.round };
    this.stats.plan = planRun(state, options);
    const deletions = await this.#deletionCheck(this.stats.plan);

    let run: RunState | undefined;
    for await (const page of this.#pages()) {
      const restarted = page.restarted || (run === undefined && this.#startsOver);
      run = this.#positionAfter(page, run);
      deletions?.see(page);
      if (isBatch(page) || restarted) {
        const { records, sent, invalid } = page;
        yield this.#batch(run, { records, rows: sent, invalid, restarted });
      }
    }
    if (deletions !== undefined) {
      for await (const repairs of deletions.confirm()) yield this.#batch(run, { ...repairs, ...NEITHER });
      const { local, candidates, deleted, repaired } = deletions.report();
      this.stats.deletions = { skipped: undefined, local, candidates, deleted, repaired };
    }
    this.#context.limit?.batch();
    yield this.#lastBatch(run);
  }

  /** The state in the store, if it can be resumed. */
  peek(): Promise<SyncState | undefined> {
    return this.#checkpoints.peek();
  }

  /** The collection is not read, because the sync that this one resumes has read it. */
  async skip(): Promise<void> {
    this.stats.begin(await this.peek());
    this.stats.status = 'done';
  }

  /** Stops requests and waits if the time of the limit is over. A first batch is waited for, but not for the service. */
  pauseInTime(waitMs = 0): void {
    const { limit } = this.#context;
    if (limit === undefined || !this.#canPause || !limit.endsWithin(waitMs)) return;
    const isWaiting = monotonicMs() < this.#waitsUntil;
    if (!limit.hasBatch && !isWaiting) return;
    if (isWaiting) limit.giveUp();
    this.#pause.abort(new CallStopped());
  }

  /** The run was stopped by its limit. */
  paused(): void {
    this.stats.status = 'paused';
    if (this.#context.deletions === undefined || this.stats.deletions !== undefined) return;
    this.stats.deletions = { skipped: 'paused', local: 0, candidates: 0, deleted: 0, repaired: 0 };
  }

  /** Called before a batch is delivered: another run may have taken over while this one sent requests. */
  async beforeConsumer(): Promise<void> {
    await this.#checkpoints.beforeConsumer();
  }

  /** Called when the consumer has finished with a batch. */
  async commit(batch: Batch<T>): Promise<void> {
    await this.#checkpoints.commit(batch.checkpoint, batch.last);
    const { collection, key, last } = batch;
    if (!this.#checkpoints.writtenByConsumer) this.#notifyCheckpoint({ collection, key, last });
    if (last) this.stats.state = this.#base;
    this.stats.committed(this.#counts, last);
    this.#notifyProgress({ last });
    this.pauseInTime();
  }

  /** Whether the run failed because the service is down, so that no other collection can be read either. */
  isServiceDown(error: unknown): Promise<boolean> {
    const { headers, timeoutMs, signal, beforeAttempt } = this.#settings;
    return this.#source.isServiceDown(error, { headers, timeoutMs, signal, beforeAttempt });
  }

  /** The pages of the read. The next one is requested while the consumer works. */
  async *#pages(): AsyncGenerator<Page<T>, void> {
    const { pages, first } = await this.#openRead();
    try {
      for (let next = first; next.done !== true; ) {
        if (isBatch(next.value)) this.#context.limit?.batch();
        const { pagination, resumeToken } = next.value;
        if (pagination === 'page' || resumeToken === undefined) this.#canPause = false;
        const ahead = awaitedLater(pages.next());
        yield next.value;
        next = await ahead;
        this.#signal?.throwIfAborted();
      }
    } finally {
      await close(pages);
    }
  }

  /** The first response shows whether the bound of the plan can be trusted. If not, the read starts again with another. */
  async #openRead(): Promise<OpenRead<T>> {
    const read = await this.#list().catch((error: unknown) => this.#listInUtc(error));
    this.#context.signal?.throwIfAborted();
    if (read.first.done === true || !this.#clockWentBack(read.first.value)) return read;

    await close(read.pages);
    const watermark = watermarkOf(read.first.value.first);
    this.stats.plan = { mode: 'full', since: undefined, watermark, token: undefined, resumed: false };
    return this.#list();
  }

  async #list(): Promise<OpenRead<T>> {
    const { since, token } = this.#plan;
    const { id } = this.#context;
    const settings = { ...this.#settings, resumeFrom: token };
    const pages = this.#source.list({ updatedSince: since, id }, settings);
    return { pages, first: await pages.next() };
  }

  #beforeRequest(limit: RunLimit): void {
    this.#waitsUntil = 0;
    if (limit.isReached && this.#canPause) throw new CallStopped();
    if (limit.isOver) this.stats.exceededLimit = true;
    limit.sent();
  }

  /** A service may reject an offset: the bound is sent once more in UTC, and so it is written from now on. */
  async #listInUtc(error: unknown): Promise<OpenRead<T>> {
    const { since } = this.#plan;
    if (since === undefined || !hasOffset(since) || !isApiError(error) || error.status !== 400) throw error;

    const rejected = this.#plan;
    this.stats.plan = { ...rejected, since: toSeconds(Date.parse(since)), token: undefined, resumed: false };
    const read = await this.#list();
    this.#base = { ...this.#base, offset: 'Z' };
    this.#source.warn(
      `updatedSince=${since} was rejected, so bounds are sent in UTC. If the service compares local times, changes are missed: set serviceTimeZone, or run in mode 'full'.`,
    );
    return read;
  }

  get #plan(): RunPlan {
    return this.stats.plan as RunPlan;
  }

  get #settings(): ReadSettings {
    const { options, limit } = this.#context;
    const beforeAttempt = limit && (() => this.#beforeRequest(limit));
    return { ...options.read, signal: this.#signal, onWait: this.#onWait, beforeAttempt };
  }

  readonly #onWait = (waitMs: number | undefined): void => {
    this.#notifyProgress({ last: false, waiting: true, waitMs });
    this.#waitsUntil = monotonicMs() + (waitMs ?? Number.POSITIVE_INFINITY);
    this.pauseInTime(waitMs);
  };

  /** Whether the run resumes one that has no point to resume at: what that one delivered comes again. */
  get #startsOver(): boolean {
    const { resumed, token } = this.#plan;
    return resumed && token === undefined;
  }

  /** Where the run is after a page. */
  #positionAfter(page: Page<T>, run: RunState | undefined): RunState {
    this.stats.read(page);
    this.#learnOffset(page.rows);
    const { watermark, since } = this.#plan;
    const token = page.resumeToken;
    return { watermark: run?.watermark ?? watermark ?? watermarkOf(page.first), since, token };
  }

  /** The rows as sent, because a schema of the caller may drop or change timestamps. */
  #learnOffset(rows: readonly unknown[]): void {
    const shown = lowestOffset(rows as Parameters<typeof lowestOffset>[0]);
    const { offset: known } = this.#base;
    if (shown === undefined || known === 'Z' || (known !== undefined && known <= shown)) return;
    this.#base = { ...this.#base, offset: shown };
  }

  /**
   * Whether the service's clock stands so far behind the last watermark that what was written since then may have an
   * earlier timestamp than the bound. The lookback covers a smaller step back.
   */
  #clockWentBack(page: Page<T>): boolean {
    if (this.#plan.watermark !== undefined) return false;

    const { lookbackMs, updatedSince } = this.#context.options;
    const watermark = watermarkOf(page.first);
    const before = this.#base.watermark;
    const now = observedTime(page.first);
    if (before === undefined) {
      if (updatedSince !== undefined) rejectFutureStart(updatedSince, now, 'updatedSince');
      return false;
    }
    this.stats.clockWentBack = watermark < before && now < Date.parse(before);
    return this.#plan.since !== undefined && now < Date.parse(before) - lookbackMs;
  }

  /** Reads the local ids, before the first request. */
  async #deletionCheck({ token }: RunPlan): Promise<DeletionCheck<T> | undefined> {
    const { deletions, consumer, signal } = this.#context;
    if (deletions === undefined) return undefined;
    if (token !== undefined) {
      // The pages before the token were listed by another process: what they listed is not known any more.
      this.stats.deletions = { skipped: 'resumed', local: 0, candidates: 0, deleted: 0, repaired: 0 };
      return undefined;
    }
    const check = new DeletionCheck<T>({
      ...deletions,
      collection: this.stats.collection,
      onDelete: (ids, collection) => consumer.run(async () => deletions.onDelete(ids, collection)),
      lookUp: (id) => this.#source.lookUp(id, this.#settings),
      batchSize: DELETION_BATCH_SIZE,
      signal,
    });
    await consumer.run(() => check.readLocalIds());
    return check;
  }

  #batch(
    run: RunState | undefined,
    content: Pick<Batch<T>, 'records' | 'rows' | 'invalid' | 'restarted'>,
  ): Batch<T> {
    // Counted now, because the consumer may empty the array.
    this.#counts = { records: content.records.length, invalid: content.invalid.length };
    return {
      tenant: this.#context.options.tenant,
      collection: this.stats.collection,
      mode: this.#plan.mode,
      ...content,
      key: this.#key,
      checkpoint: encodeState({ ...this.#base, run: run ?? this.#base.run }),
      last: false,
    };
  }

  /** The watermark advances here, and only here. */
  #lastBatch(run: RunState | undefined): Batch<T> {
    // A list without any response has read nothing: the next run starts where this one did.
    if (run !== undefined) this.#base = this.#stateAfter(run, this.#base);
    return { ...this.#batch(undefined, { records: [], rows: [], ...NEITHER }), last: true };
  }

  #stateAfter({ watermark, since }: RunState, before: SyncState): SyncState {
    const full = this.#plan.mode === 'full' ? watermark : before.full;
    // What a bound in too high an offset missed lately is found by one in the lowest offset: see `boundAt`.
    const offset = since !== undefined && isTooLate(since, before.offset) ? undefined : before.offset;
    return { ...before, watermark, full, offset, run: undefined };
  }

  /** Names the option that keeps a service which ignores offsets from sending records again. True if there were any. */
  warnOfStale(): boolean {
    const { serviceTimeZone } = this.#context.options;
    if (this.stats.stale === 0 || serviceTimeZone !== undefined) return false;

    this.#source.warn(
      `${this.stats.stale} records are older than the bound of the read: the service seems to compare local times. Set serviceTimeZone to its time zone ('UTC' if it has none), and it sends them no more.`,
    );
    return true;
  }

  #notifyProgress(progress: Parameters<RunStats['progress']>[0]): void {
    notify(this.#context.options.onProgress, this.stats.progress(progress), (thrown) =>
      this.#source.callbackFailed('onProgress', thrown),
    );
  }

  #notifyCheckpoint(event: CheckpointEvent): void {
    notify(this.#context.options.onCheckpoint, event, (thrown) =>
      this.#source.callbackFailed('onCheckpoint', thrown),
    );
  }
}

/** The run of a collection, whatever its records are. */
export type AnyCollectionRun = CollectionRun<{ id: string }>;

/** After a restart the position must be written even if there is no record yet: the one in the store is wrong. */
function isBatch({ records, invalid, restarted }: Page<unknown>): boolean {
  return records.length > 0 || invalid.length > 0 || restarted;
}

/** Stops what is in flight. */
async function close(pages: AsyncIterator<unknown>): Promise<void> {
  await pages.return?.().catch(() => undefined);
}
