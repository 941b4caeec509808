import type { OptionNames } from '../internal/option-names.ts';
import type { Paginator } from '../pagination/paginator.ts';
import type { Batch } from './batch.ts';
import { RUN_OPTIONS, type RunOptions } from './options.ts';
import type { RecordIn } from './source.ts';

/** The names of a client's collections: of every property that can be listed. */
export type CollectionsIn<C> = {
  [Name in keyof C]: C[Name] extends { list(...args: never[]): Paginator<{ id: string }> } ? Name : never;
}[keyof C] &
  string;

/** A batch of any of a client's collections: `batch.collection` tells which, and types its records. */
export type BatchOf<C, Names extends CollectionsIn<C> = CollectionsIn<C>> = {
  [Name in Names]: Batch<RecordIn<C[Name]>, Name>;
}[Names];

/** Options of {@link sync}. */
export interface SyncOptions<C, Names extends CollectionsIn<C> = CollectionsIn<C>> extends RunOptions {
  /** What is read, as the client's properties are called. Default: every collection of the client. */
  collections?: readonly Names[] | undefined;
  /**
   * Takes a batch in: upserts its records, in one transaction with `batch.checkpoint` where the store has no `set`.
   * Waited for until it has resolved, also with an array of promises. Never called twice at once, nor while the store
   * is: both may use one connection. What it throws fails this collection, and the batch comes again in the next run.
   */
  onBatch: (batch: BatchOf<C, Names>) => unknown;
  /**
   * What a collection that the key may not read (403) does to the run.
   * - `report`: the report lists it as `forbidden`, and the sync succeeds with what the key may read. It fails anyway if
   *   every collection is forbidden, or if this tenant could read the collection before: the copy of a collection whose
   *   right was revoked must not become stale in silence.
   * - `fail`: the sync rejects with a SyncError after the other collections have ended.
   *
   * @default 'report'
   */
  onForbidden?: 'report' | 'fail' | undefined;
  /** Requests in flight at a time, over all collections. Default: 2. */
  concurrency?: number | undefined;
}

export const SYNC_OPTIONS: OptionNames<SyncOptions<object>> = {
  ...RUN_OPTIONS,
  collections: true,
  onBatch: true,
  onForbidden: true,
  concurrency: true,
};
