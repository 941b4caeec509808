import { OUTAGE } from '../internal/outage.ts';
import { tell } from '../internal/tell.ts';
import { awaitedLater } from '../pagination/lifetime.ts';
import type { IdBounds, Page } from '../pagination/page.ts';
import { scopeFingerprint } from '../pagination/resume-token.ts';
import type { Batch } from './batch.ts';
import { Checkpoints } from './checkpoints.ts';
import type { ResolvedRunOptions } from './options.ts';
import { OutageClock } from './outage-clock.ts';
import { everything, planRun, type RunPlan, stateAfter, stateDuring } from './run-plan.ts';
import { RunStats } from './run-stats.ts';
import { type ServiceOffset, tenantOffset } from './service-offset.ts';
import { listenersOf, nameOf, type SyncSource } from './source.ts';
import { encodeState, type SyncState } from './state.ts';
import { stateKey } from './state-key.ts';
import { observedTime, refuseFuture, watermarkOf } from './watermark.ts';

/** What is particular to the run of one collection. */
export interface RunContext {
  readonly options: ResolvedRunOptions;
  readonly name?: string | undefined;
  /** The caller's own bounds: part of what the state belongs to. */
  readonly id?: IdBounds | undefined;
  /** What is known of the service's local times, shared by the runs of a tenant. */
  readonly offset?: ServiceOffset | undefined;
  /** Outlasts an outage of the service, for all runs of a tenant together. */
  readonly outage?: OutageClock | undefined;
  /** Stops the run; the caller's signal or one above it. */
  readonly signal?: AbortSignal | undefined;
  /** Waits for this run's turn to ask the service. Default: its turn is always. */
  readonly turn?: (<V>(work: () => Promise<V>) => Promise<V>) | undefined;
  /** Waits until no batch is being taken in, for the store may be the same connection. Default: there is no other. */
  readonly alone?: (<V>(work: () => Promise<V>) => Promise<V>) | undefined;
}

type Pages<T> = AsyncIterableIterator<Page<T>>;

/**
 * One run of one collection: batch after batch, each committed by its consumer before the next, and one page ahead.
 * Nothing is sent and nothing read before the first `next`.
 */
export class CollectionRun<T extends { id: string }> {
  readonly stats: RunStats;
  readonly #source: SyncSource<T>;
  readonly #context: RunContext;
  readonly #key: string;
  readonly #scope: string;
  readonly #checkpoints: Checkpoints;
  readonly #offset: ServiceOffset;
  readonly #outage: OutageClock;
  #base: SyncState;
  #plan: RunPlan | undefined;
  #pages: Pages<T> | undefined;
  #ahead: Promise<IteratorResult<Page<T>, unknown>> | undefined;
  #ended = false;

  constructor(source: SyncSource<T>, context: RunContext) {
    const { store, tenant, prefix } = context.options;
    const collection = nameOf(source, context.name);
    this.#source = source;
    this.#context = context;
    this.#key = stateKey({ prefix, tenant, collection });
    this.#scope = scopeFingerprint({
      baseUrl: source.baseUrl ?? '',
      collection: source.segment ?? collection,
      filters: { tenant, ...filtersOf(context.id) },
    });
    this.#offset = context.offset ?? tenantOffset(context.options, this.#signal);
    this.#outage = context.outage ?? new OutageClock(context.options.maxOutageMs);
    this.#checkpoints = new Checkpoints(store, {
      key: this.#key,
      scope: this.#scope,
      signal: this.#signal,
    });
    this.#base = { scope: this.#scope, by: this.#checkpoints.by };
    this.stats = new RunStats(collection);
  }

  /** The next batch; undefined when the run has ended. The one before must have been committed. */
  async next(): Promise<Batch<T> | undefined> {
    if (this.#ended) return undefined;

    this.#signal?.throwIfAborted();
    if (this.#plan === undefined) await this.#begin();
    for (;;) {
      const { done, value } = await (this.#ahead ?? this.#ask());
      this.#signal?.throwIfAborted();
      if (done === true) {
        if (!this.#planAgain()) return this.#lastBatch();
        continue;
      }

      const page = value as Page<T>;
      if (!this.#accept(page)) continue;
      this.#ahead = awaitedLater(this.#ask());
      if (page.records.length > 0 || page.invalid.length > 0) return this.#batch(page);
    }
  }

  /** To be called before a batch goes to its consumer: another run may have taken over while this one asked. */
  async beforeConsumer(): Promise<void> {
    await this.#checkpoints.beforeConsumer();
  }

  /** The consumer has finished with a batch. */
  async commit(batch: Batch<T>): Promise<void> {
    await this.#checkpoints.commit(batch.checkpoint, batch.last);
    await this.#offset.save();
    if (!this.#checkpoints.writtenByConsumer) {
      const { collection, key, last } = batch;
      const event = { collection, key, last };
      listenersOf(this.#source).checkpoint?.(event);
      tell(this.#context.options.onCheckpoint, event, (thrown) =>
        listenersOf(this.#source).listenerFailed?.('onCheckpoint', thrown),
      );
    }
    this.stats.committed(batch);
    if (batch.last) this.#promoted();
    this.#report({ last: batch.last });
  }

  #report(progress: Parameters<RunStats['progress']>[0]): void {
    tell(this.#context.options.onProgress, this.stats.progress(progress), (thrown) =>
      listenersOf(this.#source).listenerFailed?.('onProgress', thrown),
    );
  }

  /** Stops what is under way. To be called at the end, however it came. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#leave();
  }

  async #leave(): Promise<void> {
    await this.#pages?.return?.().catch(() => undefined);
  }

  get #signal(): AbortSignal | undefined {
    return this.#context.signal ?? this.#context.options.signal;
  }

  async #begin(): Promise<void> {
    const { options, alone = (work) => work() } = this.#context;
    const state = await alone(async () => {
      this.#signal?.throwIfAborted();
      const stored = await this.#checkpoints.load();
      // A first run that reads everything has no bound to write.
      if (stored !== undefined || options.updatedSince !== undefined) await this.#offset.load();
      return stored;
    });
    this.stats.begin(state);
    if (state !== undefined) this.#base = { ...state, by: this.#checkpoints.by };
    this.#learn(state);
    this.#open(planRun(state, options, this.#lowestOffset));
  }

  /** Takes in what a checkpoint of this collection knows of the service's local times. */
  async learnOffset(): Promise<void> {
    this.#learn(await this.#checkpoints.peek());
  }

  #learn(state: SyncState | undefined): void {
    this.#offset.learn(state?.offset);
    this.#offset.learn(state?.run?.offset);
  }

  get #lowestOffset(): number | undefined {
    return this.#offset.lowest(this.#base.watermark ?? this.#context.options.updatedSince);
  }

  /** Begins again if the bound proved too late meanwhile. The watermark of the first response stays. */
  #planAgain(): boolean {
    const { since, watermark } = this.#plan as RunPlan;
    if (since === undefined) return false;

    const run = watermark === undefined ? undefined : { watermark, since };
    const { run: _, ...base } = this.#base;
    const plan = planRun(
      run === undefined ? base : { ...base, run },
      this.#context.options,
      this.#lowestOffset,
    );
    if (plan.resumed || plan.since === since) return false;
    this.#ahead = undefined;
    this.#open(plan);
    return true;
  }

  #open(plan: RunPlan): void {
    const { options, id } = this.#context;
    this.#plan = this.stats.plan = plan;
    this.#pages = this.#source
      .list(
        {
          ...(plan.since === undefined ? {} : { updatedSince: plan.since }),
          ...(id === undefined ? {} : { id }),
        },
        {
          ...options.list,
          signal: this.#signal,
          [OUTAGE]: this.#outage,
          resumeFrom: plan.token,
          hint: this.#base.hint,
          onWait: (waitMs) => this.#report({ last: false, waiting: true, waitMs }),
        },
      )
      .pages();
  }

  #ask(): Promise<IteratorResult<Page<T>, unknown>> {
    const { turn = (work) => work() } = this.#context;
    const pages = this.#pages as Pages<T>;
    return turn(() => pages.next());
  }

  /** Takes a page in. False where the walk has to begin anew, without the bound that it had. */
  #accept(page: Page<T>): boolean {
    const plan = this.#plan as RunPlan;
    if (plan.watermark === undefined) {
      const watermark = watermarkOf(page.first);
      if (this.#clockWentBack(page, watermark)) {
        void this.#leave();
        this.#ahead = undefined;
        this.#open(everything(watermark));
        return false;
      }
      this.#plan = { ...plan, watermark };
    }
    this.stats.read(page);
    this.#offset.read(page.rows);
    return true;
  }

  /**
   * Whether the service's clock stands so far behind the last watermark that what was written since then may carry
   * an earlier stamp than was asked for. A smaller step back is what the lag is for.
   */
  #clockWentBack(page: Page<T>, watermark: string): boolean {
    const { lookbackMs, updatedSince } = this.#context.options;
    const before = this.#base.watermark;
    const now = observedTime(page.first);
    if (before === undefined) {
      if (updatedSince !== undefined) refuseFuture(updatedSince, now, 'updatedSince');
      return false;
    }
    this.stats.clockWentBack = watermark < before && now < Date.parse(before);
    return this.#plan?.since !== undefined && now < Date.parse(before) - lookbackMs;
  }

  #batch({ records, invalid, resumeToken: token }: Page<T>): Batch<T> {
    const { watermark = '', since } = this.#plan as RunPlan;
    const offset = this.#lowestOffset;
    const during = stateDuring(this.#base, {
      watermark,
      ...(since === undefined ? {} : { since }),
      ...(token === undefined ? {} : { token }),
      ...(offset === undefined ? {} : { offset }),
    });
    return {
      collection: this.stats.collection,
      records,
      invalid,
      key: this.#key,
      checkpoint: encodeState(during),
      last: false,
    };
  }

  #lastBatch(): Batch<T> {
    this.#ended = true;
    return {
      collection: this.stats.collection,
      records: [],
      invalid: [],
      key: this.#key,
      checkpoint: encodeState(this.#stateAfter()),
      last: true,
    };
  }

  #stateAfter(): SyncState {
    const plan = this.#plan as RunPlan;
    // A walk that never showed an answer has read nothing: the next one begins where this one did.
    const watermark = plan.watermark ?? this.#base.watermark;
    if (watermark === undefined) return this.#base;
    return stateAfter(this.#base, { ...plan, watermark, offset: this.#lowestOffset }, this.stats.hint);
  }

  #promoted(): void {
    this.stats.state = this.#stateAfter();
    this.stats.status = 'done';
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
