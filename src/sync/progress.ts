import type { PaginationKind } from '../pagination/page.ts';

/** How far the sync of one collection is. */
export interface SyncProgress {
  readonly collection: string;
  /** Records handed over and committed in this run. */
  readonly records: number;
  /** Batches that held something. */
  readonly pages: number;
  /** Over the whole run so far, waits included. */
  readonly recordsPerSecond: number;
  /** `page` in the place of `keyset` where an id is no integer. Undefined before the first answer. */
  readonly pagination: PaginationKind | undefined;
  /** Whether the run waits, for the budget of its key or to try again. */
  readonly waiting: boolean;
  /** When the wait ends, where that is known. */
  readonly waitingUntil: Date | undefined;
  /** Whether the run has come to its end. */
  readonly last: boolean;
}
