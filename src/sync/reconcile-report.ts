import type { PaginationKind } from '../pagination/page.ts';

/** What a reconcile found and did. */
export interface ReconcileReport {
  readonly collection: string;
  /** How the collection was read: `page` in the place of `keyset` where an id is no integer. */
  readonly pagination: PaginationKind | undefined;
  /** Local ids. */
  readonly local: number;
  /** Records that the walk showed. */
  readonly seen: number;
  /** Records that the walk showed and that are not among the local ids: a sync in mode `full` brings them. */
  readonly missing: number;
  /** Local ids that the walk did not show. */
  readonly candidates: number;
  /** Candidates that are gone: handed to `onDelete`. */
  readonly deleted: number;
  /** Candidates that are there: handed to `onRepair`. */
  readonly repaired: number;
  readonly startedAt: Date;
  readonly endedAt: Date;
}
