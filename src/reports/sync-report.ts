import type { Completeness, Evidence } from './evidence.ts';

/** What a run changed in a copy. Undefined if the target does not say it, or without one. */
export interface CopyFigures {
  /** Records that the copy did not have. */
  readonly added?: number | undefined;
  /** Records that were different in the copy. */
  readonly changed?: number | undefined;
  /** Records that were equal to those of the copy, and not written. */
  readonly unchanged?: number | undefined;
  /** Records that were removed from the copy. */
  readonly deleted?: number | undefined;
  /** Records in which characters that the database cannot store were replaced. */
  readonly replaced?: number | undefined;
}

/** The result of one collection in a sync. */
export interface CollectionReport extends CopyFigures {
  /** The name of the collection, as the client's property. */
  readonly collection: string;
  /**
   * How the collection ended:
   *
   * - `done`: read to its end, and the watermark was advanced. With `stopAfter` perhaps by the run that this one resumes;
   *   then `mode` is undefined.
   * - `failed`: see the error of this collection. Committed batches are kept; the next run resumes there.
   * - `forbidden`: the key may not read this collection (403). See the option `onForbidden` for when this is an error.
   * - `stopped`: stopped or never started, because the key was rejected (401) or the service was down.
   * - `paused`: the limit of `stopAfter` was reached. The next run resumes there.
   * - `not_begun`: the limit of `stopAfter` was reached before it began.
   */
  readonly status: 'done' | 'failed' | 'forbidden' | 'stopped' | 'paused' | 'not_begun';
  /** Whether the run read everything or what had changed; undefined if it never began. */
  readonly mode: 'incremental' | 'full' | undefined;
  /** How it was read: `page` instead of `keyset` if an id is not an integer. Undefined if nothing was read. */
  readonly pagination: 'keyset' | 'page' | 'none' | 'link' | 'custom' | undefined;
  /**
   * Whether the last full read, and the runs since then, can have missed a record: `certain` if not. `likely` is a warning;
   * `evidence` says why. The watermark was advanced anyway; run once in mode `full`, or compare with `verify`. Undefined if
   * nothing of this is known.
   */
  readonly complete: Completeness;
  /** What these reads have met, from which `complete` follows: see {@link evidenceFacts}. */
  readonly evidence: Evidence;
  /** Whether it resumed a run that was interrupted. */
  readonly resumed: boolean;
  /**
   * The limit of `stopAfter` after which requests were sent: this collection is read by page, which cannot be resumed, or
   * the limit is smaller than the first batch of a run needs. Undefined if none were.
   */
  readonly exceededLimit: 'ms' | 'requests' | undefined;
  /**
   * Why the last request of a collection failed that is `paused`; undefined if it did not. A wait for the quota of the key,
   * as after a 429, is no failure: see `resumeAfterMs`.
   */
  readonly lastFailure: Error | undefined;
  /** Records delivered and committed. */
  readonly records: number;
  /**
   * Rows that failed validation, under `validation: 'report'`: they were not delivered as records. A target keeps what it
   * may hold of them.
   */
  readonly invalid: number;
  /** Batches that held something. */
  readonly pages: number;
  /** Rows that came again in a read by page and were dropped: the order of the list has ties, so as many may be missing. */
  readonly repeated: number;
  /** The deletions that the run looked for. Undefined without `localIds`, or if it did not get that far. */
  readonly deletions: DeletionReport | undefined;
  /** The watermark in the store now: the next run reads what changed since then, less the lookback. */
  readonly watermark: Date | undefined;
  /**
   * The service's clock was behind the last watermark, so the watermark went back too. If the step was longer than the
   * lookback, this run read everything, because no bound could be trusted.
   */
  readonly clockWentBack: boolean;
  /** The watermark of the last full read that ended. */
  readonly lastFullRead: Date | undefined;
}

/** The deletions that a full sync with `localIds` found. */
export interface DeletionReport {
  /**
   * `resumed`: the run resumed an interrupted one, so it did not list every record, and deleted nothing. Run the sync
   * again to look for deletions. `paused`: the limit of `stopAfter` was reached before the deletions were confirmed.
   */
  readonly skipped: 'resumed' | 'paused' | undefined;
  /** Local ids. */
  readonly local: number;
  /** Local ids that the service did not list. */
  readonly candidates: number;
  /** Candidates that do not exist any more: passed to `onDelete`. */
  readonly deleted: number;
  /** Candidates that exist: delivered as records. */
  readonly repaired: number;
  /**
   * Candidates that are kept, because a request for them shows neither: a 403 of an archived record, another record, or a 404
   * for an id of a form that the service lists but does not find, such as ids with a dot.
   */
  readonly unconfirmed: readonly UnconfirmedDeletion[];
}

/** A record that the service did not list, and the error of the request for it. */
export interface UnconfirmedDeletion {
  readonly id: string;
  readonly error: Error;
}

/** The result of a sync. */
export interface SyncReport {
  /** The label of the company. */
  readonly tenant: string;
  /** When it began, by the clock of this machine. */
  readonly startedAt: Date;
  /** When it ended. */
  readonly endedAt: Date;
  /** Whether the limit of `stopAfter` was reached before every collection was read. The next run resumes. */
  readonly paused: boolean;
  /** Which limit of `stopAfter` was reached; undefined if none was. */
  readonly exceededLimit: 'ms' | 'requests' | undefined;
  /** The `lastFailure` of the first collection that is `paused` and has one. If nothing else can be read, the sync fails with it. */
  readonly lastFailure: Error | undefined;
  /**
   * How long to wait before the next run, in ms: how much longer the longest wait takes that did not fit into `stopAfter`,
   * such as that for a Retry-After. Otherwise 0.
   */
  readonly resumeAfterMs: number;
  /** The weakest `complete` of the collections that the key may read: `certain` if no record of any can be missing. */
  readonly complete: Completeness;
  /** Records delivered and committed, over all collections. */
  readonly records: number;
  /** The result of each collection, in the order in which they were read. */
  readonly collections: readonly CollectionReport[];
}
