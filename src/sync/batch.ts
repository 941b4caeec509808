import type { InvalidRecord } from '../events.ts';
import type { PaginationKind } from '../pagination/page.ts';

/** What a sync delivers at a time: one page of one collection, and how far the sync is once it is stored. */
export interface Batch<T, Name extends string = string> {
  /** The company whose records these are: the option `tenant`. */
  readonly tenant: string;
  /** The name of the collection, as the client's property. */
  readonly collection: Name;
  /** Whether the run reads everything or what changed: a first run is `full` too. */
  readonly mode: 'incremental' | 'full';
  /** To be upserted by (tenant, collection, id): after a crash the same records come again. */
  readonly records: readonly T[];
  /** The same records, at the same positions, as the service sent them: before a schema of yours transformed them. */
  readonly rows: readonly unknown[];
  /** Rows that failed validation, under `validation: 'report'`. */
  readonly invalid: readonly InvalidRecord[];
  /**
   * The read starts again with this batch: what it delivered before, in this run or in the interrupted one that it
   * resumes, comes again. An upsert needs nothing else; a copy that appends has to be emptied first. It happens if ids
   * are not integers or the service turned out to use another order, and if a run by `page` is resumed.
   */
  readonly restarted: boolean;
  /** The number of the full read that a copy with marks remembers its records by: see {@link OpenTarget}. */
  readonly read?: number | undefined;
  /** Where the checkpoint is kept. */
  readonly key: string;
  /**
   * How far the sync is once this batch is stored: an opaque string under 1 kB. Written to the store when you have
   * finished with the batch; with a store without `set` you write it, in the transaction of the records.
   */
  readonly checkpoint: string;
  /** The batch that ends the run. It has no records; its checkpoint carries the new watermark. */
  readonly last: boolean;
}

/** How far the sync of one collection is. */
export interface SyncProgress {
  readonly collection: string;
  /** Records delivered and committed in this run. */
  readonly records: number;
  /** Batches that held something. */
  readonly pages: number;
  /** Over the whole run so far, waits included. */
  readonly recordsPerSecond: number;
  /** `page` instead of `keyset` if an id is not an integer. Undefined before the first response. */
  readonly pagination: PaginationKind | undefined;
  /**
   * Whether the run waits, for the quota of its key, to try again, or for the database of the copy. While that opens,
   * `collection` is the first one.
   */
  readonly waiting: boolean;
  /** When the wait ends, if that is known. */
  readonly waitingUntil: Date | undefined;
  /** Whether the run has ended. */
  readonly last: boolean;
}
