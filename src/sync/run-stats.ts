import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { CollectionReport } from '../reports/sync-report.ts';
import type { SyncProgress } from './batch.ts';

/** What a batch held when it was delivered. */
export interface BatchCounts {
  readonly records: number;
  readonly invalid: number;
}

export class RunStats {
  #records = 0;
  #invalid = 0;
  #pages = 0;
  #stale = 0;
  #startedAt = monotonicMs();

  begin(): void {
    this.#startedAt = monotonicMs();
  }

  /** Rows that were received. `since`: the bound of the read. */
  received(rows: readonly unknown[], since: string | undefined): void {
    if (since !== undefined) this.#stale += countStale(rows, since);
  }

  /** A batch was delivered and its checkpoint written. */
  committed({ records, invalid }: BatchCounts): void {
    this.#records += records;
    this.#invalid += invalid;
    if (records > 0 || invalid > 0) this.#pages++;
  }

  get report(): Pick<CollectionReport, 'records' | 'invalid' | 'pages' | 'staleRecords'> {
    return {
      records: this.#records,
      invalid: this.#invalid,
      pages: this.#pages,
      staleRecords: this.#stale,
    };
  }

  get progress(): Pick<SyncProgress, 'records' | 'pages' | 'recordsPerSecond'> {
    const seconds = (monotonicMs() - this.#startedAt) / 1000;
    const recordsPerSecond = seconds > 0 ? this.#records / seconds : 0;
    return { records: this.#records, pages: this.#pages, recordsPerSecond };
  }
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
