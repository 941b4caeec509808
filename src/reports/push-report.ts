import type { Completeness, Evidence } from './evidence.ts';

/**
 * What a push did about one row.
 *
 * - `created`: no product had the key; there is one now.
 * - `updated`: the product differed from the row, and only these fields were sent.
 * - `unchanged`: the product already has the values of the row. Nothing was sent.
 * - `failed`: see the error of the row. The other rows are not affected.
 * - `conflict`: it is not clear which product the row means, or the service stored another key. See `reason`.
 * - `duplicate`: another row has the same key, and that one is pushed.
 */
export type PushAction = 'created' | 'updated' | 'unchanged' | 'failed' | 'conflict' | 'duplicate';

/** A field that a dry run would send. */
export interface PushChange {
  readonly field: string;
  /** What the product has; `null` if it lacks the field or does not exist. */
  readonly from: unknown;
  /** What the row has. */
  readonly to: unknown;
}

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
  /** The position of that row in `rows`, from 0. */
  readonly index: number;
}

/** The result of a push. `onResult` gets what became of each row, and why. */
export interface PushReport {
  /** The label of the company. */
  readonly tenant: string;
  /** When it began, by the clock of this machine. */
  readonly startedAt: Date;
  /** When it ended. */
  readonly endedAt: Date;
  /** Whether nothing was sent: the counts then say what a push would do. */
  readonly dryRun: boolean;
  /**
   * Whether the list of products can have missed one: `likely` complete if it can, `certain` if not. Undefined also if the
   * products were requested by their ids. See `complete` of a page.
   */
  readonly complete: Completeness;
  /** What its reads have met, from which `complete` follows: see {@link evidenceFacts}. */
  readonly evidence: Evidence;
  /** Rows that were read. If a push stops, the rows without a result are those that no action counts. */
  readonly rows: number;
  /** Requests sent, retries included. */
  readonly attempts: number;
  /**
   * What the service may have done with the writes of the push: `unknown` if one ended without showing whether it was
   * applied, otherwise `applied` if one was, `rejected` if none was, and `not_sent` if there were none.
   */
  readonly outcome: 'not_sent' | 'rejected' | 'applied' | 'unknown';
  /** How many rows each action concerned. */
  readonly counts: Readonly<Record<PushAction, number>>;
  /**
   * Fields that the response to a write lacks or has with another value: the service dropped or changed them. Amounts are
   * compared by value. The next push sends them again.
   */
  readonly notStored: readonly PushNotStored[];
}
