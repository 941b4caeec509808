import type { Completeness, Evidence } from './evidence.ts';

/**
 * What a push did about one row or product.
 *
 * - `created`: no product had the key; there is one now.
 * - `updated`: the product differed from the row, and only these fields were sent.
 * - `unchanged`: the product already has the values of the row. Nothing was sent.
 * - `failed`: see the error of the row. The other rows are not affected.
 * - `conflict`: two or more products have the key, or two rows belong to one product. None of them is changed.
 * - `duplicate`: an earlier row has the same key. The first row wins.
 * - `deleted`: no row has the product's key, and `missing` is `'delete'`.
 */
export type PushAction =
  | 'created'
  | 'updated'
  | 'unchanged'
  | 'failed'
  | 'conflict'
  | 'duplicate'
  | 'deleted';

/** A field that the service did not store as it was sent. */
export interface PushDifference {
  readonly field: string;
  readonly sent: unknown;
  /** What the response has; `null` if it lacks the field. */
  readonly returned: unknown;
}

/** A field that the service did not store as it was sent, in one row or more. */
export interface PushNotStored extends PushDifference {
  /** In how many rows. */
  readonly rows: number;
  /** The key of the first of them, from which the values are. */
  readonly key: string | undefined;
  /** The position of that row in `rows`, from 0; undefined for a missing product that was changed. */
  readonly index: number | undefined;
}

/** The result of a push. `onResult` gets what became of each row, and why. */
export interface PushReport {
  readonly tenant: string;
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Whether nothing was sent: the counts then say what a push would do. */
  readonly dryRun: boolean;
  /**
   * Whether the list of products can have missed one: `likely` complete if it can, `certain` if not. See `complete` of a
   * page.
   */
  readonly complete: Completeness;
  /** What its reads have met, from which `complete` follows: see {@link evidenceFacts}. */
  readonly evidence: Evidence;
  /** Rows that were read. If a push stops, the rows without a result are those that no action counts. */
  readonly rows: number;
  /** How many rows and missing products each action concerned. Missing products that were changed count as `updated`. */
  readonly counts: Readonly<Record<PushAction, number>>;
  /**
   * Fields that the response to a write lacks or has with another value: the service dropped or changed them. Amounts are
   * compared by value. The next push sends them again.
   */
  readonly notStored: readonly PushNotStored[];
}
