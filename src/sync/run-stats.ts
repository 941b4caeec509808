import type { CollectionReport } from '../errors/sync-report.ts';
import type { ListHint, Page, PaginationKind } from '../pagination/page.ts';
import type { Batch } from './batch.ts';
import type { SyncProgress } from './progress.ts';
import type { RunPlan } from './run-plan.ts';
import type { SyncState } from './state.ts';

/** What is counted while a run is under way. */
export class RunStats {
  readonly collection: string;
  status: CollectionReport['status'] = 'stopped';
  plan: RunPlan | undefined;
  /** The state that the store has. */
  state: SyncState | undefined;
  clockWentBack = false;
  /** Rows that came in. */
  rows = 0;
  /** What the next run may know of the service. */
  hint: ListHint | undefined;
  /** Whether a record can have been missed. */
  complete: CollectionReport['complete'];
  #pagination: PaginationKind | undefined;
  #records = 0;
  #invalid = 0;
  #pages = 0;
  #older = 0;
  #startedAt = Date.now();

  constructor(collection: string) {
    this.collection = collection;
  }

  /** The run has begun, from the state that the store has. */
  begin(state: SyncState | undefined): void {
    this.state = state;
    this.#startedAt = Date.now();
  }

  /** A page has come in. */
  read({ pagination, hint, complete, records, invalid }: Page<{ id: string }>): void {
    this.rows += records.length + invalid.length;
    this.#pagination = pagination;
    this.hint = hint;
    this.complete = complete;
    const since = this.plan?.since;
    if (since !== undefined) this.#older += olderThan(records, since);
  }

  /** A batch has been taken in and its checkpoint written. */
  committed({ records, invalid, last }: Batch<unknown>): void {
    this.#records += records.length;
    this.#invalid += invalid.length;
    if (!last) this.#pages++;
  }

  /** Whether this tenant could read the collection: in an earlier run, or at the start of this one. */
  get couldRead(): boolean {
    return this.state !== undefined || this.#pagination !== undefined;
  }

  progress(more: { last: boolean; waiting?: boolean; waitMs?: number | undefined }): SyncProgress {
    const { last, waiting = false, waitMs } = more;
    const now = Date.now();
    const seconds = (now - this.#startedAt) / 1000;
    return {
      collection: this.collection,
      records: this.#records,
      pages: this.#pages,
      recordsPerSecond: seconds > 0 ? this.#records / seconds : 0,
      pagination: this.#pagination,
      waiting,
      waitingUntil: waitMs === undefined ? undefined : new Date(now + waitMs),
      last,
    };
  }

  report(): CollectionReport {
    const { plan, state } = this;
    return {
      collection: this.collection,
      status: this.status,
      mode: plan?.mode,
      pagination: this.#pagination,
      complete: this.complete,
      resumed: plan?.resumed ?? false,
      records: this.#records,
      invalid: this.#invalid,
      pages: this.#pages,
      staleRecords: this.#older,
      watermark: instant(state?.watermark),
      clockWentBack: this.clockWentBack,
      lastFullRead: instant(state?.full),
    };
  }
}

function instant(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}

/**
 * Only Product is documented to carry `updatedAt`; any record that has one is checked. A service that ignores offsets
 * compares dates and times as written: what it rightly sends is not counted.
 */
function olderThan(records: readonly { id: string }[], since: string): number {
  const sinceMs = Date.parse(since);
  const sinceLocal = localPart(since);
  let older = 0;
  for (const { updatedAt } of records as readonly { updatedAt?: unknown }[]) {
    if (typeof updatedAt !== 'string' || !(Date.parse(updatedAt) < sinceMs)) continue;
    if (localPart(updatedAt) < sinceLocal) older++;
  }
  return older;
}

/** `2026-01-31T10:00:00` of `2026-01-31T10:00:00-05:00`. */
function localPart(timestamp: string): string {
  return timestamp.slice(0, 19);
}
