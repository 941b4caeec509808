import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { NotFoundError } from '../errors/not-found-error.ts';
import type { InvalidRecord, RunEvent } from '../events.ts';
import { checkText } from '../input/checks.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import type { ListOptions, ListParameters } from '../pagination/list-options.ts';
import type { IdBounds, Page } from '../pagination/page.ts';
import type { Paginator } from '../pagination/paginator.ts';
import type { PushReport } from '../reports/push-report.ts';
import type { SyncReport } from '../reports/sync-report.ts';
import type { FieldKind } from '../schemas/field-kinds.ts';
import type { RoutedForms } from '../schemas/id-form.ts';
import type { FieldTable } from '../schemas/record.ts';
import type { CallSettings, RunCallOptions } from '../transport/call-options.ts';
import type { KeepInvalid, ReadSettings } from './list-options.ts';
import { collectionName } from './state.ts';

/** The query with which a sync lists. */
export interface SourceQuery {
  /** Only records that changed since then, as ISO 8601. */
  readonly updatedSince?: string | undefined;
  /** Only records whose id lies within these bounds. */
  readonly id?: IdBounds | undefined;
}

/** A collection of a client, such as `client.accounts`. */
export interface SyncSource<T extends { id: string }> {
  /** The path segment, such as `account-addresses`; the collection is named after it. */
  readonly segment: string;
  /** The path segment of the collection that these records refer to. A sync of both reads that one first. */
  readonly parent: string | undefined;
  /** The base URL of the service. A state belongs to it. */
  readonly baseUrl: string;
  /** The `list` of the collection. */
  list(query: SourceQuery, options: ListOptions): Paginator<T>;
}

export type AnySource = SyncSource<{ id: string }>;

/** The record of a collection; of several collections any of their records. */
export type RecordIn<Collection> = Collection extends {
  list(...args: never[]): Paginator<infer T extends { id: string }>;
}
  ? T
  : never;

/** A record, and its row as the service sent it. */
export interface RecordRow<T> {
  readonly record: T;
  readonly row: unknown;
}

/** What a request for one record found: the record, an invalid row, or that it does not exist. */
export type LookUp<T> =
  | (RecordRow<T> & { readonly notFound?: undefined; readonly invalid?: undefined })
  | {
      readonly record: undefined;
      readonly row?: undefined;
      readonly notFound?: NotFoundError | undefined;
      readonly invalid?: InvalidRecord;
    };

/**
 * What a run (`sync`, `changes`, `push`) needs of a collection. A collection of a client has one under
 * {@link RUN_SOURCE}. Options are not checked again.
 */
export interface RunSource<T extends { id: string }> {
  readonly segment: string;
  /** Ends in `/api/public/v1`. */
  readonly baseUrl: string;
  /** The documented fields: an amount is compared as a decimal, an EAN as a string. */
  readonly fields: FieldTable;
  /** The fields that a Zod object of the caller names; undefined for a kind of its own. */
  readonly schemaFields: Readonly<Record<string, FieldKind | undefined>>;
  /** How a run lists it: as the client says, or by keyset. */
  readonly pagination: PaginationChoice;
  /** The client's: the longest that one attempt may take. */
  readonly timeoutMs: number;
  /** The `parameters` of its lists. */
  readonly parameters: ListParameters;
  /** What the client knows of the forms of ids. */
  readonly forms: RoutedForms;
  /** The name of the parameter with the page number. */
  readonly pageParameter: string;
  list(query: SourceQuery, settings: ReadSettings): AsyncIterableIterator<Page<T>>;
  /** Requests one record. Rejects unless the service has it or says that it does not exist. */
  lookUp(id: string, settings: RunCallOptions & KeepInvalid): Promise<LookUp<T>>;
  /** The key of the next call. */
  askForKey(): Promise<string>;
  /** Identifies the service and a key. */
  digestOf(key: string, salt: string): Promise<string>;
  /** Carries out a run inside the listeners of the client. */
  inRun<Report extends SyncReport | PushReport>(
    event: RunEvent,
    work: () => Promise<Report>,
  ): Promise<Report>;
  /** Writes a warning about the collection to the logger of the client. */
  warn(text: string): void;
  /** Writes to the logger of the client that a callback threw, such as `onProgress`. */
  callbackFailed(name: string, thrown: unknown): void;
  /** Only of a collection that can be written. */
  readonly writes?: WriteSource<T> | undefined;
}

/** What a push needs beside the methods of a collection that can be written. */
export interface WriteSource<T extends { id: string }> {
  /** The defaults of the client: how long an attempt may take, and whether a create is sent again. */
  readonly settings: CallSettings;
  /**
   * The JSON text of a draft, which errors call `argument`. Throws an InvalidInputError for what a create or update would
   * reject before sending, and for a field that is not documented if these are rejected; otherwise warns of it, unless it
   * has warned of it before.
   */
  body(
    draft: object,
    argument: string,
    rules: { readonly unknownFields: 'send' | 'reject'; readonly warned: Set<string> },
  ): string;
  /**
   * Reads and writes whose results are returned as they were sent if they do not match a schema: only an id is required.
   * `list` returns the rows that do not match in `invalid`.
   */
  readonly lenient: Pick<RunSource<T>, 'list' | 'lookUp'> & {
    create(
      draft: object,
      options: RunCallOptions & { readonly idempotencyKey: string },
    ): Promise<RecordRow<T>>;
    update(id: string, patch: object, options: RunCallOptions): Promise<RecordRow<T>>;
  };
}

/**
 * The key of the run source. The same symbol in every copy of the package, because `sync` may be another copy than the
 * client. The type of a collection does not show it, so that an editor suggests to users only what is for them.
 */
export const RUN_SOURCE = Symbol.for('accounting-data-sdk.collection');

export function isCollection(value: unknown): value is AnySource {
  return typeof value === 'object' && value !== null && RUN_SOURCE in value;
}

export function runSource<T extends { id: string }>(collection: SyncSource<T>): RunSource<T> {
  if (isCollection(collection)) return (collection as unknown as { [RUN_SOURCE]: RunSource<T> })[RUN_SOURCE];
  throw new InvalidInputError('collection', 'must be a collection of a client, such as client.accounts');
}

/** The name of a collection: the one given, or that of its segment. */
export function nameOf(source: AnySource, given: string | undefined): string {
  runSource(source);
  return given === undefined ? collectionName(source.segment) : checkText(given, 'name');
}
