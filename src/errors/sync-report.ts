/** What became of one collection in a sync. */
export interface CollectionReport {
  /** The name of the collection, as the client's property. */
  readonly collection: string;
  /**
   * - `done`: read to its end, and the watermark was advanced.
   * - `failed`: see the error of this collection. What was committed stays committed; the next run resumes there.
   * - `forbidden`: the key may not read this collection (403). See the option `onForbidden` for when this is an error.
   * - `stopped`: stopped or never started, because the key was rejected (401) or the service was down.
   */
  readonly status: 'done' | 'failed' | 'forbidden' | 'stopped';
  /** Whether the run read everything or what had changed; undefined where it never began. */
  readonly mode: 'incremental' | 'full' | undefined;
  /** How it was read: `page` in the place of `keyset` where an id is no integer. Undefined where nothing was. */
  readonly pagination: 'keyset' | 'page' | 'custom' | undefined;
  /**
   * Whether `keyset` pagination can have missed a record. `likely` is a warning: the service does not list in the order
   * of ids, so a page that it shortened looks like the last one. The watermark was advanced anyway; compare with a
   * `reconcile`, or run `probe`. Undefined for other pagination, and if nothing was read.
   */
  readonly complete: 'certain' | 'likely' | undefined;
  /** Whether it went on where an earlier run was interrupted. */
  readonly resumed: boolean;
  /** Records handed over and committed. */
  readonly records: number;
  /** Rows that did not fit their schema, under `validation: 'report'`: they were not handed over as records. */
  readonly invalid: number;
  /** Batches that held something. */
  readonly pages: number;
  /**
   * Records whose `updatedAt` lies before the instant that was asked for. The contract does not equate the two, so
   * they are delivered all the same; many of them mean that the service ignores `updatedSince`.
   */
  readonly staleRecords: number;
  /** The watermark in the store now: the next run asks for what changed since then, less the lag. */
  readonly watermark: Date | undefined;
  /**
   * The service's clock stood behind the last watermark. The older instant was kept, and where the step was longer
   * than the lag this run read everything, for no bound could be trusted.
   */
  readonly clockWentBack: boolean;
  /** The watermark of the last full walk that came to its end. */
  readonly lastFullRead: Date | undefined;
}

/** What became of a sync. */
export interface SyncReport {
  readonly tenant: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Records handed over and committed, over all collections. */
  readonly records: number;
  /** In the order in which they were read. */
  readonly collections: readonly CollectionReport[];
}
