import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { RequestGuard, RequestWaits } from '../internal/request-guard.ts';
import type { CustomCursor } from '../pagination/by-cursor.ts';
import type { AfterLastPage, IdBounds, ListHint } from '../pagination/page.ts';
import type { Paginator } from '../pagination/paginator.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import { collectionName } from './state.ts';

/** The query with which a sync lists. */
export interface SourceQuery {
  readonly updatedSince?: string | undefined;
  readonly id?: IdBounds | undefined;
}

/** The options with which a sync lists. */
export interface SourceOptions extends RequestOptions {
  pagination?: 'keyset' | 'page' | CustomCursor<unknown> | undefined;
  prefetch?: number | undefined;
  afterLastPage?: AfterLastPage | undefined;
  resumeFrom?: string | undefined;
  hint?: ListHint | undefined;
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
  list(query: SourceQuery, options: SourceOptions): Paginator<T>;
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
  const name = given ?? (source.segment === undefined ? undefined : collectionName(source.segment));
  if (name === undefined) throw new InvalidInputError('name', 'is missing: this collection has no segment');
  return name;
}

/** Requests one record as a sync does: through an outage, and with the options of its list. */
export async function find<T extends { id: string }>(
  source: SyncSource<T>,
  id: string,
  how: {
    readonly list: SourceOptions;
    readonly outage: RequestGuard;
    readonly signal: AbortSignal | undefined;
    readonly onWait: RequestWaits['onWait'];
  },
): Promise<T | undefined> {
  const { list, outage, signal } = how;
  // Without it, every record would look deleted.
  if (source.find === undefined) {
    throw new InvalidInputError('collection', 'must be a collection of a client, with find');
  }
  const { timeoutMs, deadlineMs, maxWaitMs = Number.POSITIVE_INFINITY, retry, headers } = list;
  const options = { timeoutMs, deadlineMs, maxWaitMs, retry, headers, signal };
  return outage.run(async (onWait) => await source.find?.(id, { ...options, onWait }), {
    signal,
    onWait: how.onWait,
    maxWaitMs,
  });
}
