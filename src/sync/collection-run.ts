import { reasonOf } from '../errors/accounting-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { settled } from '../internal/callback.ts';
import { notify } from '../internal/notify.ts';
import type { Semaphore } from '../internal/semaphore.ts';
import type { IdBounds, Page } from '../pagination/page.ts';
import { mostCandidates } from '../reading/candidates.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import { nameOf, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { encodeState, type SyncState } from '../reading/state.ts';
import { waitingUntil } from '../reading/waiting.ts';
import type { CollectionReport, DeletionReport } from '../reports/sync-report.ts';
import { CallStopped, type WaitReason } from '../transport/call-options.ts';
import type { Batch, SyncProgress } from './batch.ts';
import { Checkpoints } from './checkpoints.ts';
import { confirmDeletions } from './deletions.ts';
import { type Listing, markedListing, rememberedListing } from './listing.ts';
import { isServiceDown, lookUp } from './look-up.ts';
import { Proof } from './proof.ts';
import { Pause, type RunLimit } from './run-limit.ts';
import type { ResolvedRunOptions } from './run-options.ts';
import {
  abandoned,
  begin,
  checkpointOf,
  finish,
  inUtc,
  lookedUp,
  marked,
  next,
  type RunState,
} from './run-state.ts';
import { RunStats } from './run-stats.ts';
import type { OpenTarget } from './target.ts';

interface RunContext {
  readonly options: ResolvedRunOptions & {
    readonly maxCandidates?: number | undefined;
    readonly concurrency?: number;
  };
  /** Where the state is, and what finds deletions. */
  readonly copy: Pick<OpenTarget, 'store' | 'localIds' | 'onDelete' | 'marks'>;
  readonly name?: string | undefined;
  /** The caller's own bounds: part of what the state belongs to. */
  readonly id?: IdBounds | undefined;
  /** Stops the run: the caller's signal, or that of the tenant. */
  readonly signal: AbortSignal | undefined;
  /** Held while the consumer or the store is called: both may be one database connection. */
  readonly consumer: Semaphore;
  /** When the run is paused. */
  readonly limit?: RunLimit | undefined;
}

type Content<T> = Pick<Batch<T>, 'records' | 'rows' | 'invalid' | 'restarted'>;

const NOTHING = { records: [], rows: [], invalid: [], restarted: false };

/** With a limit, records are looked up in parts: what is proven is removed before the next one. */
const LOOKED_UP_AT_A_TIME = 50;

/** Requests that prove the 404s of a part: one before the first, one after the last. */
const MOST_WITNESSES = 2;

const NO_DELETIONS: DeletionReport = {
  skipped: undefined,
  local: 0,
  candidates: 0,
  deleted: 0,
  repaired: 0,
  unconfirmed: [],
};

/**
 * Carries out one run of one collection: requests pages, makes a batch of each, and keeps the state that `run-state.ts`
 * derives from them. Its consumer commits each batch before the next. Nothing is sent or read from the store before the
 * first batch is requested.
 */
export class CollectionRun<T extends { id: string }> {
  readonly collection: string;
  status: CollectionReport['status'] = 'stopped';
  /** Written into the state: see `round.ts`. A run without a limit ends the round: the next one has all collections again. */
  round: number | undefined;
  readonly #source: RunSource<T>;
  readonly #context: RunContext;
  readonly #checkpoints: Checkpoints;
  readonly #pause: Pause;
  readonly #stats = new RunStats();
  /** The state in the store before the run. */
  #found: SyncState | undefined;
  /** Undefined until the state in the store was read. */
  #state: RunState | undefined;
  #deletions: DeletionReport | undefined;

  constructor(given: SyncSource<T>, context: RunContext) {
    const { options, copy, limit, signal, id } = context;
    this.collection = nameOf(given, context.name);
    this.#source = runSource(given);
    this.#context = context;
    this.#pause = new Pause(limit, signal, () => {
      const { pagination = this.#source.pagination, position } = this.#state ?? {};
      if (position?.looked !== undefined) return true;
      return pagination === 'keyset' && (position === undefined || position.token !== undefined);
    });
    const { collection } = this;
    this.#checkpoints = new Checkpoints(copy.store, {
      collection,
      source: this.#source,
      options,
      id,
      signal,
    });
  }

  /** Each batch must have been committed before the next is requested. */
  async *batches(): AsyncGenerator<Batch<T>, void> {
    const { consumer, signal } = this.#context;
    signal?.throwIfAborted();
    this.#found = await consumer.run(async () => {
      signal?.throwIfAborted();
      return this.#checkpoints.load();
    });
    this.#stats.begin();
    const own = { ...this.#checkpoints.own, round: this.round };
    this.#state = await this.#marked(begin(this.#found, own, this.#rules));
    const listing = await this.#listing(this.#state);

    let isReading = this.#state.plan.looked === undefined;
    while (isReading) {
      isReading = false;
      for await (const page of this.#pages(this.#state)) {
        const step = next(this.#state, page, this.#rules);
        this.#state = step.state;
        isReading = step.kind === 'read_again';
        if (isReading) break;
        // An invalid row exists, too.
        listing?.see([...page.records, ...page.invalid], page.restarted);
        if (step.kind === 'deliver') {
          this.#pause.batch();
          const { records, sent, invalid } = page;
          yield this.#batch({ records, rows: sent, invalid, restarted: step.restarted });
        }
        this.#pause.signal?.throwIfAborted();
      }
    }
    const { unreadable } = this.#state;
    if (unreadable !== undefined) {
      // The next run reads again what this one has read.
      yield this.#batch(NOTHING, abandoned(this.#state));
      throw unreadableRows(this.#source, unreadable);
    }
    if (listing !== undefined) yield* this.#confirm(listing);
    this.#pause.batch();
    yield { ...this.#batch(NOTHING, finish(this.#state, this.#context.options.mode)), last: true };
  }

  /** The state in the store, if it can be resumed. */
  peek(): Promise<SyncState | undefined> {
    return this.#checkpoints.peek();
  }

  /** The collection is not read, because the sync that this one resumes has read it. */
  async skip(): Promise<void> {
    this.#found = await this.peek();
    this.status = 'done';
  }

  /** Stops requests and waits if the time of the limit is over. */
  pauseInTime(): void {
    this.#pause.inTime();
  }

  /** The run was stopped by its limit. */
  paused(): void {
    this.status = 'paused';
    if (this.#findsDeletions) this.#deletions ??= { ...NO_DELETIONS, skipped: 'paused' };
  }

  /** Whether the run was paused before a batch, because its requests failed. */
  get isStuck(): boolean {
    return this.status === 'paused' && this.#pause.endedRetries && this.#stats.report.pages === 0;
  }

  /** How much longer the wait takes for which the run was paused. */
  get resumeAfterMs(): number {
    return this.status === 'paused' ? this.#pause.resumeAfterMs : 0;
  }

  /** Whether this tenant could read the collection: in an earlier run, or at the start of this one. */
  get couldRead(): boolean {
    return this.#found !== undefined || this.#state?.pagination !== undefined;
  }

  /** Called before a batch is delivered: another run may have taken over while this one sent requests. */
  async beforeConsumer(): Promise<void> {
    await this.#checkpoints.beforeConsumer();
  }

  /** Called when the consumer has finished with a batch. `written`: what a target returned for it. */
  async commit({ collection, key, checkpoint, last }: Batch<T>, written?: unknown): Promise<void> {
    await this.#checkpoints.commit(checkpoint, last);
    if (!this.#checkpoints.writtenByConsumer) this.#notify('onCheckpoint', { collection, key, last });
    this.#stats.committed(written);
    if (last) this.status = 'done';
    this.#notifyProgress({ last, waiting: false });
    this.pauseInTime();
  }

  /** Whether the run failed because the service is down, so that no other collection can be read either. */
  isServiceDown(error: unknown): Promise<boolean> {
    return isServiceDown(this.#source, error, this.#settings);
  }

  report(): CollectionReport {
    const { plan, pagination, complete, repeated = 0, clockWentBack = false } = this.#state ?? {};
    // The state in the store now.
    const isEnded = this.#state !== undefined && this.status === 'done';
    const stored = isEnded ? finish(this.#state as RunState, this.#context.options.mode) : this.#found;
    return {
      collection: this.collection,
      status: this.status,
      mode: plan?.mode,
      pagination,
      complete,
      repeated,
      resumed: plan?.resumed ?? false,
      exceededLimit: this.#pause.exceededLimit,
      ...this.#stats.report,
      deletions: this.#deletions,
      watermark: dateOf(stored?.watermark),
      clockWentBack,
      lastFullRead: dateOf(stored?.full),
    };
  }

  /** The pages of a run. If the service rejects the offset of the bound, the bound is sent once more in UTC. */
  async *#pages(start: RunState): AsyncGenerator<Page<T>, void> {
    const { since, token } = start.plan;
    const settings = { ...this.#settings, resumeFrom: token };
    try {
      yield* this.#source.list({ updatedSince: since, id: this.#context.id }, settings);
    } catch (error) {
      const other = this.#state === start ? inUtc(start, error) : undefined;
      if (other === undefined) throw error;
      this.#state = other;
      for await (const page of this.#pages(other)) {
        if (this.#state === other) {
          this.#source.warn(
            `updatedSince=${since} was rejected, so bounds are sent in UTC. If the service compares local times, changes are missed: run in mode 'full' from time to time.`,
          );
        }
        yield page;
      }
    }
  }

  get #settings(): ReadSettings {
    const { signal, beforeAttempt } = this.#pause;
    return { ...this.#context.options.read, signal, beforeAttempt, onWait: this.#onWait };
  }

  readonly #onWait = (waitMs: number | undefined, reason: WaitReason): void => {
    this.#notifyProgress({ last: false, waiting: true }, waitMs);
    this.#pause.waits(waitMs, reason);
  };

  get #rules() {
    const { options, copy } = this.#context;
    return {
      ...options,
      pagination: this.#source.pagination,
      marked: copy.marks !== undefined && options.mode === 'full',
    };
  }

  /** With a target that marks, an interrupted full read finds deletions in whatever run it ends. */
  get #findsDeletions(): boolean {
    const { options, copy } = this.#context;
    if (copy.marks !== undefined) return this.#state?.plan.marks !== undefined;
    return options.mode === 'full' && copy.localIds !== undefined;
  }

  /** Gives a full read that begins a number by which the target marks what it lists. */
  async #marked(state: RunState): Promise<RunState> {
    const { copy, consumer } = this.#context;
    const { marks } = copy;
    if (marks === undefined || !this.#rules.marked || state.plan.marks !== undefined) return state;
    // Random, so that it is not that of an earlier read whose state was deleted.
    const [random = 0] = globalThis.crypto.getRandomValues(new Uint32Array(1));
    const read = (random >>> 2) + 1;
    const { records: local } = await consumer.run(() => marks.count(this.collection, read));
    return marked(state, { read, local });
  }

  /** What a full read is compared with. Read before the first request. */
  async #listing({ plan }: RunState): Promise<Listing | undefined> {
    if (!this.#findsDeletions) return undefined;
    const { collection } = this;
    const { copy, consumer, signal } = this.#context;
    if (plan.marks !== undefined) return markedListing(copy, collection, plan.marks);
    if (plan.token === undefined && plan.looked === undefined) {
      return consumer.run(() => rememberedListing(() => copy.localIds?.(collection) ?? [], signal));
    }
    // The pages before were listed by another process: what they listed is not known any more.
    this.#deletions = { ...NO_DELETIONS, skipped: 'resumed' };
    return undefined;
  }

  /** Confirms the deletions, and delivers what the read missed. If that fails, the next run reads everything again. */
  async *#confirm(listing: Listing): AsyncGenerator<Batch<T>, void> {
    const { collection } = this;
    const { options, copy, consumer, signal, limit } = this.#context;
    const { local } = listing;
    const { plan } = this.#state as RunState;
    const report = { ...NO_DELETIONS, local };
    const proof = new Proof<T>({
      collection,
      lookUp: (id) => lookUp(this.#source, id, this.#settings),
      witnesses: () => listing.witnesses(),
      maxCandidates: mostCandidates(options.maxCandidates, local),
      concurrency: options.concurrency ?? 1,
      delivered: () => this.#stats.report.records,
    });
    const remove = (ids: readonly string[]) =>
      consumer.run(async () => {
        signal?.throwIfAborted();
        this.#stats.deleted(await settled(copy.onDelete?.(ids, collection), signal));
      });
    if (limit !== undefined && plan.looked === undefined) yield this.#lookedUp('');
    const parts = limit &&
      plan.marks && {
        after: plan.looked ?? '',
        size: () => Math.max(1, Math.min(LOOKED_UP_AT_A_TIME, limit.left - MOST_WITNESSES)),
      };
    try {
      for await (const { looked, ...repairs } of confirmDeletions(listing, proof, report, remove, parts)) {
        yield looked === undefined ? this.#batch({ ...NOTHING, ...repairs }) : this.#lookedUp(looked);
        this.#pause.signal?.throwIfAborted();
      }
    } catch (error) {
      if (error instanceof CallStopped) this.#deletions = { ...report, skipped: 'paused' };
      if (signal?.aborted || error instanceof CallStopped) throw error;
      // Resumed at the end of its read, the run would find no deletions, and end as if there were none.
      yield this.#batch(NOTHING, abandoned(this.#state as RunState));
      throw error;
    }
    this.#deletions = report;
    const [first, ...others] = report.unconfirmed;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : `, and ${others.length} more`;
    this.#source.warn(
      `the record ${JSON.stringify(first.id)}${more} was not listed, and a request for it does not show whether it was deleted, so it is kept: ${reasonOf(first.error)}`,
    );
  }

  /** A batch that says how far the look-ups are: a run that is paused after it does not list again. */
  #lookedUp(id: string): Batch<T> {
    this.#state = lookedUp(this.#state as RunState, id);
    this.#pause.batch();
    return this.#batch(NOTHING);
  }

  #batch(content: Content<T>, state?: SyncState): Batch<T> {
    const run = this.#state as RunState;
    this.#stats.delivers(content);
    return {
      tenant: this.#context.options.tenant,
      collection: this.collection,
      mode: run.plan.mode,
      read: run.plan.marks?.read,
      ...content,
      key: this.#checkpoints.key,
      checkpoint: encodeState(state ?? checkpointOf(run)),
      last: false,
    };
  }

  #notifyProgress(now: Pick<SyncProgress, 'last' | 'waiting'>, waitMs?: number | undefined): void {
    this.#notify('onProgress', {
      collection: this.collection,
      ...this.#stats.progress,
      pagination: this.#state?.pagination,
      ...now,
      waitingUntil: waitingUntil(waitMs),
    });
  }

  #notify<Name extends 'onProgress' | 'onCheckpoint'>(
    name: Name,
    value: Parameters<NonNullable<ResolvedRunOptions[Name]>>[0],
  ): void {
    const listener = this.#context.options[name] as ((given: typeof value) => void) | undefined;
    notify(listener, value, (thrown) => this.#source.callbackFailed(name, thrown));
  }
}

export type AnyCollectionRun = CollectionRun<{ id: string }>;

/** A copy cannot hold these rows, so it must not look complete. */
function unreadableRows({ segment = '' }: { readonly segment: string | undefined }, which: string) {
  return new UnexpectedResponseError(
    `GET /${segment} returned rows whose id cannot be read: ${which}. The other rows were delivered; the watermark stays where it was, and no deletion was looked for.`,
    {
      method: 'GET',
      path: `/${segment}`,
      attempts: 1,
      outcome: 'applied',
      hint: "Ask the operator of the service to send id as a string. If ids are integers, pass ids: 'numbers' to createClient.",
    },
    { status: 200, reason: 'unreadable_id', issues: [which] },
  );
}

function dateOf(timestamp: string | undefined): Date | undefined {
  return timestamp === undefined ? undefined : new Date(timestamp);
}
