import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import { settled } from '../internal/callback.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { notify } from '../internal/notify.ts';
import type { Semaphore } from '../internal/semaphore.ts';
import type { IdBounds, Page } from '../pagination/page.ts';
import { type Admission, type CompanyMemory, companyToStore, storedMemory } from '../reading/company.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import { lookUp } from '../reading/look-up.ts';
import { nameOf, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { encodeState, type StoredCompany, type SyncState } from '../reading/state.ts';
import { waitingUntil } from '../reading/waiting.ts';
import { type Evidence, evidenceOf } from '../reports/evidence.ts';
import type { CollectionReport } from '../reports/sync-report.ts';
import { CallStopped, type RunCallOptions, type WaitReason } from '../transport/call-options.ts';
import type { OutageView } from '../transport/outage-clock.ts';
import type { Batch, SyncProgress } from './batch.ts';
import { Checkpoints } from './checkpoints.ts';
import { confirmDeletions, unconfirmedWarning } from './deletions.ts';
import { Pause } from './limit/pause.ts';
import type { RunLimit } from './limit/run-limit.ts';
import { beginListing, type Listing } from './listing.ts';
import type { ResolvedRunOptions } from './run-options.ts';
import { committed, delivering, modeOf, progressOf, removed, reportOf } from './run-report.ts';
import {
  abandoned,
  begin,
  checkpointOf,
  finish,
  inUtc,
  isResumable,
  listed,
  met,
  NO_DELETIONS,
  next,
  type RunState,
  showsNoneOf,
  unread,
} from './run-state.ts';
import type { OpenTarget } from './target.ts';

/** What every call of a run asks and uses. */
interface OfRun extends Pick<RunCallOptions, 'callerCode'> {
  readonly admission: Admission;
}

interface RunContext {
  readonly options: ResolvedRunOptions & {
    readonly maxCandidates?: number | undefined;
    readonly concurrency?: number;
  };
  /** Where the state is, and what finds deletions: opened when the run begins. */
  readonly copy: () => Pick<OpenTarget, 'store' | 'localIds' | 'onDelete' | 'marks'>;
  /** What every call of the run asks and uses. */
  readonly calls?: (() => OfRun | undefined) | undefined;
  /** Whether the state says which keys belong to the company, because no target does. */
  readonly keepsCompany?: boolean | undefined;
  readonly name?: string | undefined;
  /** The caller's own bounds: part of what the state belongs to. */
  readonly id?: IdBounds | undefined;
  /** Stops the run: the caller's signal, or that of the tenant. */
  readonly signal: AbortSignal | undefined;
  /** Held while the consumer or the store is called: both may be one database connection. */
  readonly consumer: Semaphore;
  /** What this run has met in other collections. */
  readonly others?: (() => readonly Evidence[]) | undefined;
  /** When the run is paused. */
  readonly limit?: RunLimit | undefined;
}

/**
 * Processes one run of one collection: requests pages, makes a batch of each, and keeps the state that `run-state.ts`
 * derives from them. Its consumer commits each batch before the next. Nothing is sent or read from the store before the
 * first batch is requested.
 */
export class CollectionRun<T extends { id: string }> {
  readonly collection: string;
  readonly #source: RunSource<T>;
  readonly #context: RunContext;
  readonly #checkpoints: Checkpoints;
  readonly pause: Pause;
  /** The outage clock of the tenant, if there is one. */
  outage: OutageView | undefined;
  /** Why the last request failed before the run was paused. */
  lastFailure: Error | undefined;
  state: RunState;
  #listing: Listing | undefined;
  /** The state in the last batch. */
  #finished: SyncState | undefined;
  #startedAt = 0;

  constructor(given: SyncSource<T>, context: RunContext) {
    const { options, copy, limit, signal, id } = context;
    this.collection = nameOf(given, context.name);
    this.#source = runSource(given);
    this.#context = context;
    this.pause = new Pause(limit, signal, {
      canPause: () => isResumable(this.state),
      outage: () => ({
        isFailing: this.outage?.failure !== undefined,
        isDown: this.outage?.hasFailed === true,
      }),
    });
    const { collection } = this;
    const source = this.#source;
    this.#checkpoints = new Checkpoints(() => copy().store, { collection, source, options, id, signal });
    this.state = unread(this.#checkpoints.own);
  }

  /** Each batch must have been committed before the next is requested. */
  async *batches(): AsyncGenerator<Batch<T>, void> {
    const { consumer, signal } = this.#context;
    signal?.throwIfAborted();
    const found = await consumer.run(async () => {
      signal?.throwIfAborted();
      return this.#checkpoints.load();
    });
    this.#startedAt = monotonicMs();
    this.state = begin(this.state, found, this.#rules);
    const context = { ...this.#context, copy: this.#context.copy(), collection: this.collection };
    const begun = await beginListing(this.state, context);
    [this.state, this.#listing] = begun;

    let isReading = this.state.run?.listed !== true;
    while (isReading) {
      isReading = false;
      try {
        for await (const page of this.#pages()) {
          const { state, kind, restarted } = next(this.state, page, this.#rules);
          this.state = state;
          isReading = kind === 'read_again';
          if (isReading) break;
          // An invalid row exists, too.
          this.#listing?.see([...page.records, ...page.invalid]);
          const { records, sent: rows, invalid } = page;
          if (kind === 'deliver') yield this.#batch({ records, rows, invalid, restarted });
          this.pause.signal?.throwIfAborted();
        }
      } catch (error) {
        // If what the last run has read was really deleted, this read could never be resumed.
        if (this.#context.options.mode === 'full' && showsNoneOf(this.state, error))
          yield this.#batch({}, abandoned(this.state));
        throw error;
      }
    }
    const { unreadable } = this.state;
    if (unreadable !== undefined) {
      // The next run reads again what this one has read.
      yield this.#batch({}, abandoned(this.state));
      throw unreadableRows(this.#source, unreadable);
    }
    if (this.#listing !== undefined) yield* this.#confirm(this.#listing);
    const { options, others } = this.#context;
    this.#finished = finish(this.state, options.mode, others?.());
    yield this.#batch({ last: true }, this.#finished);
  }

  /** The state in the store, if it can be resumed. */
  peek(): Promise<SyncState | undefined> {
    return this.#checkpoints.peek();
  }

  /** The round that is written into the state: see `round.ts`. */
  inRound(round: number): void {
    this.state = { ...this.state, stored: { ...this.state.stored, round } };
  }

  /** The collection is not read, because the sync that this one resumes has read it. */
  async skip(): Promise<void> {
    const found = await this.peek();
    this.state = { ...this.state, status: 'done', stored: { ...this.state.stored, ...found } };
  }

  /** The run ends before its last batch. `waitedFor`: the error of what had not ended when the limit was reached. */
  end(status: Exclude<CollectionReport['status'], 'done' | 'stopped'>, waitedFor?: unknown): void {
    const { deletions = { ...NO_DELETIONS, skipped: 'paused' } } = this.state;
    if (waitedFor instanceof Error) this.lastFailure = waitedFor;
    else if (status === 'paused') this.lastFailure = this.outage?.failure;
    const isSkipped = status === 'paused' && this.#listing !== undefined;
    this.state = { ...this.state, status, deletions: isSkipped ? deletions : this.state.deletions };
  }

  /** Called before a batch is delivered: another run may have taken over while this one sent requests. */
  async beforeConsumer(): Promise<void> {
    await this.#checkpoints.beforeConsumer();
  }

  /** Called when the consumer has finished with a batch. `written`: what a target returned for it. */
  async commit({ collection, key, checkpoint, last }: Batch<T>, written?: unknown): Promise<void> {
    await this.#checkpoints.commit(checkpoint, last);
    if (!this.#checkpoints.writtenByConsumer) this.#notify('onCheckpoint', { collection, key, last });
    this.state = committed(this.state, written);
    if (last) this.state = { ...this.state, status: 'done', stored: this.#finished ?? this.state.stored };
    this.#notifyProgress({ last, waiting: false });
    this.pause.inTime();
  }

  report(): CollectionReport {
    const { collection, lastFailure } = this;
    const { exceededLimit } = this.pause;
    return { collection, ...reportOf(this.state, this.#context.others?.()), exceededLimit, lastFailure };
  }

  /** The pages of a run. If the service rejects the offset of the bound, the bound is sent once more in UTC. */
  async *#pages(): AsyncGenerator<Page<T>, void> {
    const { since: updatedSince, token: resumeFrom } = this.state.run ?? {};
    const query = { updatedSince, id: this.#context.id };
    try {
      yield* this.#source.list(query, { ...this.#settings, resumeFrom });
    } catch (error) {
      const other = inUtc(this.state, error);
      if (other === undefined) throw error;
      this.state = other;
      for await (const page of this.#pages()) {
        if (this.state === other) {
          this.#source.warn(
            `updatedSince=${updatedSince} was rejected, so bounds are sent in UTC. If the service compares local times, changes are missed: run in mode 'full' from time to time.`,
          );
        }
        yield page;
      }
    }
  }

  get #settings(): ReadSettings {
    const { signal, beforeAttempt } = this.pause;
    const { settings } = this.#context.options;
    const { outage = settings.outage } = this;
    const { admission, callerCode } = this.#context.calls?.() ?? {};
    const ofRun = { outage, admission, callerCode, signal, beforeAttempt, onWait: this.#onWait };
    return { ...settings, ...ofRun };
  }

  /** Reports that the run waits, for the service or for the database of the copy. */
  waits(waitMs: number | undefined): void {
    this.#notifyProgress({ last: this.state.status === 'done', waiting: true }, waitMs);
  }

  readonly #onWait = (waitMs: number | undefined, reason: WaitReason): void => {
    this.waits(waitMs);
    this.pause.waits(waitMs, reason);
  };

  get #rules() {
    const { options, copy } = this.#context;
    const marked = copy().marks !== undefined && options.mode === 'full';
    return { ...options, pagination: this.#source.pagination, marked };
  }

  /** Confirms the deletions, and delivers what the read missed. If that fails, the next run reads everything again. */
  async *#confirm(listing: Listing): AsyncGenerator<Batch<T>, void> {
    const { options, copy, consumer, signal, limit } = this.#context;
    const { collection } = this;
    const { listed: isResumed, read } = this.state.run ?? {};
    const report = { ...NO_DELETIONS, local: listing.local };
    if (limit !== undefined && isResumed !== true) {
      this.state = listed(this.state);
      yield this.#batch({});
    }
    const steps = confirmDeletions<T>(listing, report, {
      collection,
      maxCandidates: options.maxCandidates,
      concurrency: options.concurrency ?? 1,
      lookUp: (id) => lookUp(this.#source, id, this.#settings),
      source: this.#source,
      delivered: () => this.state.counts.records,
      remove: (ids) =>
        consumer.run(async () => {
          signal?.throwIfAborted();
          const count = await settled(copy().onDelete?.(ids, collection));
          this.state = removed(this.state, count);
        }),
      left: limit && read !== undefined ? () => limit.forPart : undefined,
    });
    try {
      for await (const repairs of steps) {
        const isRepair = repairs.rows.length + repairs.invalid.length > 0;
        if (isRepair) this.state = met(this.state, evidenceOf({ unlisted_record: true }));
        yield this.#batch(repairs);
        this.pause.signal?.throwIfAborted();
      }
    } catch (error) {
      const isPaused = error instanceof CallStopped;
      if (isPaused) this.state = { ...this.state, deletions: { ...report, skipped: 'paused' } };
      // What is left after a run that had all of its requests for the look-ups is left to the next full read.
      if (isPaused && isResumed) return;
      if (signal?.aborted || isPaused) throw error;
      // Resumed at the end of its read, the run would find no deletions, and end as if there were none.
      yield this.#batch({}, abandoned(this.state));
      throw error;
    }
    this.state = { ...this.state, deletions: report };
    const warning = unconfirmedWarning(report);
    if (warning !== undefined) this.#source.warn(warning);
  }

  #batch(content: Partial<Batch<T>>, state = checkpointOf(this.state)): Batch<T> {
    const run = this.state.run ?? {};
    const batch = {
      tenant: this.#context.options.tenant,
      collection: this.collection,
      mode: modeOf(run),
      read: run.read,
      records: [],
      rows: [],
      invalid: [],
      restarted: false,
      last: false,
      ...content,
      key: this.#checkpoints.key,
      checkpoint: encodeState({ ...state, company: this.#company }),
    };
    this.#context.limit?.batch();
    this.state = delivering(this.state, batch);
    return batch;
  }

  /** What the next run has to know of the company; undefined if a target keeps it. */
  get #company(): StoredCompany | undefined {
    const { calls, keepsCompany } = this.#context;
    const { company } = this.state.stored;
    const admission = calls?.()?.admission;
    if (!keepsCompany || admission?.memory === undefined) return company;
    return companyToStore(admission.memory, admission.seen(this.#source.segment), company);
  }

  /** What earlier runs have left of the company. */
  async *memories(): AsyncGenerator<CompanyMemory> {
    const { company } = this.state.run === undefined ? ((await this.peek()) ?? {}) : this.state.stored;
    if (company !== undefined) yield storedMemory(company, this.#source.segment);
  }

  #notifyProgress(now: Pick<SyncProgress, 'last' | 'waiting'>, waitMs?: number | undefined): void {
    const progress = progressOf(this.state, monotonicMs() - this.#startedAt);
    const { collection } = this;
    this.#notify('onProgress', { collection, ...progress, ...now, waitingUntil: waitingUntil(waitMs) });
  }

  #notify<Name extends 'onProgress' | 'onCheckpoint'>(
    name: Name,
    value: Parameters<NonNullable<ResolvedRunOptions[Name]>>[0],
  ): void {
    const listener = this.#context.options[name] as ((event: typeof value) => void) | undefined;
    notify(listener, value, (thrown) => this.#source.callbackFailed(name, thrown));
  }
}

export type AnyCollectionRun = CollectionRun<{ id: string }>;

/** A copy cannot hold these rows, so it must not look complete. */
function unreadableRows({ segment = '' }: { readonly segment: string | undefined }, which: string) {
  return new UnexpectedResponseError(
    `GET /${segment} returned rows whose id cannot be read: ${which}.`,
    {
      method: 'GET',
      path: `/${segment}`,
      attempts: 1,
      outcome: 'applied',
      hint: 'The other rows were delivered; the watermark stays where it was, and no deletion was looked for. Ask the operator of the service to send id as a string.',
    },
    { status: 200, reason: 'unreadable_id', issues: [which] },
  );
}
