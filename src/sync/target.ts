import type { Store } from '../reading/store.ts';
import type { CollectionReport } from '../reports/sync-report.ts';
import type { FieldKind } from '../schemas/field-kinds.ts';
import type { Batch } from './batch.ts';

/** A copy that a sync writes to, such as a database: the state, the records and their ids in one place. */
export interface SyncTarget {
  /** Opens the copy of one tenant. Called once for each run, when its options have been checked. */
  open(tenant: string, context: TargetContext): OpenTarget | Promise<OpenTarget>;
}

/** What a run tells the target that it opens. */
export interface TargetContext {
  /** Which function opens it. `verify` writes nothing; only one `sync` or `forget` of a tenant runs at a time. */
  readonly purpose: 'sync' | 'verify' | 'refresh' | 'forget';
  /** The names of the collections that it reads. */
  readonly collections: readonly string[];
  /** Ends waits. */
  readonly signal: AbortSignal | undefined;
  /** How long the database may be away, in ms. */
  readonly maxOutageMs: number;
  /** The fields of a collection that a Zod schema of the client names, by kind; undefined for a kind of its own. */
  fieldsOf(collection: string): Readonly<Record<string, FieldKind | undefined>>;
  /** Writes a warning to the logger of the client. */
  warn(text: string): void;
  /** Reports a wait for a database that is away, before it begins: `onProgress` of a sync says so. */
  waits(waitMs: number): void;
}

/** What a batch changed in a copy. */
export interface Written {
  readonly added: number;
  readonly changed: number;
  /** Records that were equal to those of the copy, and not written. */
  readonly unchanged: number;
  /** The ids of records in which characters that the database cannot store were replaced. */
  readonly replaced: readonly string[];
  /** How many of the batch's `records` the copy keeps as invalid, because it cannot store all of them. */
  readonly invalid?: number | undefined;
}

/** How the run of one collection ended. */
export interface CollectionEnd {
  readonly report: CollectionReport;
  readonly endedAt: Date;
  /** Why it failed or was stopped. */
  readonly error?: unknown;
}

/** A record of a copy. */
export interface StoredRow {
  readonly id: string;
  /** As it would be sent. */
  readonly body: unknown;
  /** Whether it was written as an invalid record, if the copy knows. */
  readonly invalid?: boolean;
  /** Changes with each write of the record. */
  readonly version: string;
}

/**
 * The copy of one tenant, during one run. No two of its methods run at once, except the last `onEnd` and `close` after one
 * that had not settled a second after an abort, or after the limit of `stopAfter`. A call that needs an optional method
 * rejects a target without it.
 */
export interface OpenTarget {
  /** Where the state is. Leave out its `set` if `onBatch` writes `batch.checkpoint` in the transaction of the records. */
  readonly store: Store;
  /**
   * Takes a batch: see the same option of {@link sync}. `batch.rows` holds the records as the service sent them. It can
   * resolve with what it changed, for the report. If another sync of the tenant has written since this one opened the
   * target, it throws a ConcurrentRunError: the sync stops, and rejects with it.
   */
  onBatch(batch: Batch<{ id: string }>): unknown;
  /** The ids of the copy of a collection: for `verify` and `refresh`, and for deletions if there are no `marks`. */
  localIds?(collection: string): Iterable<string> | AsyncIterable<string>;
  /** Takes ids whose records do not exist any more. Needed in mode `full`. Can resolve with how many were removed. */
  onDelete?(ids: readonly string[], collection: string): unknown;
  /**
   * Which records a full read has listed: `onBatch` marks the records and invalid rows of a batch with `batch.read`, the
   * number of the read. With them deletions are found over any number of runs.
   */
  readonly marks?:
    | {
        /** How many records the collection has, and how many this read has marked. */
        count(collection: string, read: number): Promise<{ records: number; marked: number }>;
        /**
         * The ids of records that this read has not marked, in one order; only those behind `after`, if it is given. Of more
         * than 10,000, each call takes so many, and the next one those behind.
         */
        unmarked(collection: string, read: number, after?: string): AsyncIterable<string>;
      }
    | undefined;
  /** Identifies the company: a string that the target only stores. */
  readonly company?:
    | {
        /** What was last set; undefined if nothing was. */
        get(): Promise<string | undefined>;
        /** Keeps it, in a sync at the latest with the next batch. */
        set(value: string): Promise<unknown>;
      }
    | undefined;
  /** These records, as far as the copy has them: for `verify`, `refresh` and the guard against another company's key. */
  rows?(collection: string, ids: readonly string[]): Promise<readonly StoredRow[]>;
  /**
   * Writes one record, or removes it if `row` is undefined, unless the copy has another version of it than this one
   * (undefined: none). Resolves with whether it did: for `refresh`. A sync that runs may have requested a page with a
   * removed record earlier: its `onBatch` must not write that record.
   */
  replace?(
    collection: string,
    id: string,
    row: { readonly body: object; readonly invalid: boolean } | undefined,
    version: string | undefined,
  ): Promise<boolean>;
  /** Called at the end of a run with the result of each collection. */
  onEnd?(ends: readonly CollectionEnd[]): unknown;
  /** Removes everything of the tenant in one transaction: for `forget`. Resolves with `false` if there was nothing. */
  forget?(): Promise<unknown>;
  /** Called once at the end of the run, even if it fails or is stopped. */
  close?(): void | Promise<void>;
}
