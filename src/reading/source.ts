import { checkText } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import type { ListOptions } from '../pagination/list-options.ts';
import type { IdBounds, Page } from '../pagination/page.ts';
import type { Paginator } from '../pagination/paginator.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import { internalsOf } from '../transport/collection-internals.ts';
import { collectionName } from './state.ts';

/** The query with which a sync lists. */
export interface SourceQuery {
  readonly updatedSince?: string | undefined;
  readonly id?: IdBounds | undefined;
}

/** What a sync needs of a collection, such as `client.accounts`: `list` is enough. */
export interface SyncSource<T extends { id: string }> {
  /** The path segment, such as `account-addresses`; the collection is named after it. */
  readonly segment?: string | undefined;
  /** The path segment of the collection that these records refer to. A sync of both reads that one first. */
  readonly parent?: string | undefined;
  /** The base URL of the service. A state belongs to it. */
  readonly baseUrl?: string | undefined;
  /** As the `list` of a client's collection. */
  list(query: SourceQuery, options: ListOptions): Paginator<T>;
  /** As the `find` of a client's collection: needed only to find deletions. */
  find?(id: string, options: RequestOptions): Promise<T | undefined>;
}

/** The record of a collection; of several collections any of their records. */
export type RecordIn<Collection> = Collection extends {
  list(...args: never[]): Paginator<infer T extends { id: string }>;
}
  ? T
  : never;

/** The name of a collection: the one given, or that of its segment. */
export function nameOf(source: SyncSource<{ id: string }>, given: string | undefined): string {
  if (typeof (source as Partial<typeof source> | null | undefined)?.list !== 'function') {
    throw new InvalidInputError('collection', 'must be a collection of a client, such as client.accounts');
  }
  if (given !== undefined) return checkText(given, 'name');
  const name = source.segment === undefined ? undefined : collectionName(source.segment);
  if (name === undefined) throw new InvalidInputError('name', 'is missing: this collection has no segment');
  return name;
}

/** What a request for one record found: the record and its row as sent, or that it does not exist. */
export type LookUp<T> =
  | { readonly record: T; readonly row: unknown; readonly notFound?: undefined }
  | { readonly record: undefined; readonly row?: undefined; readonly notFound: NotFoundError | undefined };

/** Requests one record with the options of a list. */
export async function lookUp<T extends { id: string }>(
  source: SyncSource<T>,
  id: string,
  list: ListOptions,
): Promise<LookUp<T>> {
  // Without it, every record would look deleted.
  if (source.find === undefined) {
    throw new InvalidInputError('collection', 'must be a collection of a client, with find');
  }
  const { timeoutMs, deadlineMs, maxWaitMs, retry, headers, signal, onWait } = list;
  const options = { timeoutMs, deadlineMs, maxWaitMs, retry, headers, signal, onWait };
  const internals = internalsOf(source);
  if (internals.lookUp === undefined) {
    // A source of the caller has no more than this: the form of its 404s is not known.
    const record = await source.find(id, options);
    return record === undefined ? { record, notFound: undefined } : { record, row: record };
  }
  try {
    return (await internals.lookUp(id, options)) as LookUp<T>;
  } catch (error) {
    if (error instanceof NotFoundError && error.missing) return { record: undefined, notFound: error };
    throw error;
  }
}

/** The rows of a page's records, at the same positions, as the service sent them. */
export function sentRows({ rows, ids, invalid }: Page<unknown>): readonly unknown[] {
  if (rows.length === ids.length) return rows;

  // The page leaves out invalid rows, and records that were delivered before.
  const left = new Set(invalid.map(({ record }) => record));
  let at = 0;
  return rows.filter((row) => {
    const isNext = !left.has(row) && (row as { id?: unknown } | null)?.id === ids[at];
    if (isNext) at++;
    return isNext;
  });
}
