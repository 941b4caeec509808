/** What a reconcile found and did. */
export interface ReconcileReport {
  readonly collection: string;
  /** How the collection was read: `page` instead of `keyset` if an id is not an integer. */
  readonly pagination: 'keyset' | 'page' | 'none' | 'custom' | undefined;
  /**
   * `likely` is a warning: the read may have missed a record, see the same field of a sync's report. A local record that
   * it missed is requested by itself; a record that is not local is found by a later run.
   */
  readonly complete: 'certain' | 'likely' | undefined;
  /** Local ids. */
  readonly local: number;
  /** Records that the service listed. */
  readonly seen: number;
  /** Listed records that are not among the local ids: a sync in mode `full` brings them. */
  readonly missing: number;
  /** Local ids that the service did not list. */
  readonly candidates: number;
  /** Candidates that do not exist any more: passed to `onDelete`. */
  readonly deleted: number;
  /** Candidates that exist: passed to `onRepair`. */
  readonly repaired: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
}
