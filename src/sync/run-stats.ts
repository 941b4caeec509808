import type { CollectionReport, DeletionReport } from '../errors/sync-report.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { Page, PaginationKind } from '../pagination/page.ts';
import type { SyncState } from '../reading/state.ts';
import type { SyncProgress } from './batch.ts';
import type { RunPlan } from './run-plan.ts';

/** What a batch held when it was delivered. */
export interface BatchCounts {
  readonly records: number;
  readonly invalid: number;
}

/** What is counted during a run. */
export class RunStats {
  readonly collection: string;
  status: CollectionReport['status'] = 'stopped';
  plan: RunPlan | undefined;
  /** The state in the store. */
  state: SyncState | undefined;
  clockWentBack = false;
  exceededLimit = false;
  deletions: DeletionReport | undefined;
  /** Whether a record can have been missed. */
  complete: CollectionReport['complete'];
  #pagination: PaginationKind | undefined;
  #records = 0;
  #invalid = 0;
  #pages = 0;
  /** Rows from before the bound. */
  stale = 0;
  #startedAt = monotonicMs();

  constructor(collection: string) {
    this.collection = collection;
  }

  /** The run starts from the state in the store. */
  begin(state: SyncState | undefined): void {
    this.state = state;
    this.#startedAt = monotonicMs();
  }

  /** A page was received. */
  read({ pagination, complete, rows }: Page<{ id: string }>): void {
    this.#pagination = pagination;
    this.complete = complete;
    const since = this.plan?.since;
    if (since !== undefined) this.stale += countStale(rows, since);
  }

  /** A batch was delivered and its checkpoint written. */
  committed({ records, invalid }: BatchCounts, last: boolean): void {
    this.#records += records;
    this.#invalid += invalid;
    if (records > 0 || invalid > 0) this.#pages++;
    if (last) this.status = 'done';
  }

  /** Whether this tenant could read the collection: in an earlier run, or at the start of this one. */
  get couldRead(): boolean {
    return this.state !== undefined || this.#pagination !== undefined;
  }

  progress(more: { last: boolean; waiting?: boolean; waitMs?: number | undefined }): SyncProgress {
    const { last, waiting = false, waitMs } = more;
    const seconds = (monotonicMs() - this.#startedAt) / 1000;
    return {
      collection: this.collection,
      records: this.#records,
      pages: this.#pages,
      recordsPerSecond: seconds > 0 ? this.#records / seconds : 0,
      pagination: this.#pagination,
      waiting,
      waitingUntil: waitMs === undefined ? undefined : new Date(Date.now() + waitMs),
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
      exceededLimit: this.exceededLimit,
      records: this.#records,
      invalid: this.#invalid,
      pages: this.#pages,
      staleRecords: this.stale,
      deletions: this.deletions,
      watermark: dateOf(state?.watermark),
      clockWentBack: this.clockWentBack,
      lastFullRead: dateOf(state?.full),
    };
  }
}

function dateOf(timestamp: string | undefined): Date | undefined {
  return timestamp === undefined ? undefined : new Date(timestamp);
}

/** How many rows have an `updatedAt` before the bound. Only Product is documented to have that field; any row is checked. */
function countStale(rows: readonly unknown[], since: string): number {
  const sinceMs = Date.parse(since);
  return rows.filter((row) => {
    const { updatedAt } = (row ?? {}) as { updatedAt?: unknown };
    // Without an offset it is a moment only to those who know the zone.
    return typeof updatedAt === 'string' && WITH_OFFSET.test(updatedAt) && Date.parse(updatedAt) < sinceMs;
  }).length;
}

const WITH_OFFSET = /T.*(?:Z|[+-]\d\d:?\d\d)$/;
