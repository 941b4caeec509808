import type { CallFacts } from '../errors/accounting-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { InvalidRecord } from '../events.ts';
import { checkText, text } from '../input/checks.ts';
import { is, optional } from '../internal/options.ts';
import type { Completeness, Evidence } from '../reports/evidence.ts';
import type { ListStatement } from '../schemas/list-statement.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';

/** Bounds on `id`, as the service's range filters. */
export interface IdBounds {
  /** Greater than this id. */
  readonly gt?: string | undefined;
  /** This id and greater. */
  readonly gte?: string | undefined;
  /** Less than this id. */
  readonly lt?: string | undefined;
  /** This id and less. */
  readonly lte?: string | undefined;
  /** Both ends included. A pair is sent as `a..b`, a string as it is. */
  readonly between?: string | readonly [string, string] | undefined;
}

export const idBounds = {
  gt: optional(text),
  gte: optional(text),
  lt: optional(text),
  lte: optional(text),
  between: optional(is.verified<string | readonly [string, string]>(checkBetween)),
};

function checkBetween(between: unknown, name: string): void {
  if (!Array.isArray(between)) return void checkText(between, name);
  if (between.length !== 2) throw new InvalidInputError(name, 'must be a pair of bounds');
  // 'A.' and 'B' would be sent as 'A...B', which a service can split in two ways.
  const isUnclear = (end: string) => end.includes('..') || end.startsWith('.') || end.endsWith('.');
  if (between.some((end) => isUnclear(checkText(end, name)))) {
    throw new InvalidInputError(
      name,
      'bounds must not contain "..", or begin or end with ".", because ".." separates them in the request',
    );
  }
}

export function idParameters(bounds: IdBounds): [string, string][] {
  const sent: [string, string][] = [];
  for (const [name, bound] of Object.entries(bounds)) {
    if (bound !== undefined)
      sent.push([`id[${name}]`, Array.isArray(bound) ? bound.join('..') : String(bound)]);
  }
  return sent;
}

/** One list request. The caller's own filters are added below the pagination. */
export interface PageQuery {
  /** The page number, from 1. Left out: the service's default, 1. */
  readonly page?: number | undefined;
  /** Bounds beside those of the caller. */
  readonly id?: IdBounds | undefined;
  /** Further query parameters, for a cursor of the caller's own. They replace those of the list by the same name. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** When a response was sent, and how long it took. */
export interface ResponseTime {
  /** By the service's clock: `Date` less `Age`. Undefined if the response has no date or a browser hides it. */
  readonly serverTime: Date | undefined;
  /** By the local clock, just before the request. */
  readonly requestedAt: Date;
  /** From the request to the status and headers of the response, in ms, by a monotonic clock. */
  readonly durationMs: number;
}

/** One response to a list request: one state of the data. */
export interface PageResponse<T> extends ResponseTime {
  /** Every row of the response, as the service sent it: invalid ones and those delivered before, too. */
  readonly rows: readonly unknown[];
  /** The valid records, in the order sent. */
  readonly records: readonly T[];
  /** The ids of `records` as the service sent them, at the same positions. */
  readonly ids: readonly string[];
  /**
   * The records as the service sent them, at the same positions: before a schema of yours transformed them. Without such a
   * schema they are the same objects.
   */
  readonly sent: readonly unknown[];
  /** The rows that failed validation, under `validation: 'report'`; empty otherwise. */
  readonly invalid: readonly InvalidRecord[];
  /** What the response says itself of the rest of the list. */
  readonly stated: ListStatement;
  /** The rate limit of the key as this response reported it. */
  readonly rateLimit: RateLimit | undefined;
  /** The first response of the read, even if none of its records were delivered: every record is as new as that. */
  readonly first: ResponseTime;
}

/** Sends one list request. Pagination knows this function, not HTTP. Rejects with an AccountingError or the signal's reason. */
export type FetchPage<T> = (query: PageQuery) => Promise<PageResponse<T>>;

/** One response as a cursor sees it: it may name the next page beside the records. */
export interface CursorPage<T> extends PageResponse<T> {
  /** Every header of the response, by its name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the response, parsed. Its records are those of `rows`. */
  readonly body: unknown;
}

/** A response with what only cursors look at. */
export interface WholeResponse<T> {
  readonly page: PageResponse<T>;
  /** Reads the headers, which takes as long as some records. */
  readonly headers: () => CursorPage<T>['headers'];
  readonly body: unknown;
}

/** Sends one list request, for a cursor. */
export type FetchWhole<T> = (query: PageQuery) => Promise<WholeResponse<T>>;

/** How a list is paginated: see `pagination` of the list options. */
export type PaginationKind = 'keyset' | 'page' | 'none' | 'link' | 'custom';

/** One page of a list: the response, without the records that were delivered before, and what the pagination adds. */
export interface Page<T> extends PageResponse<T> {
  /** How this page was read. `keyset` becomes `page` when an id is not an integer, or the service has no bounds on id. */
  readonly pagination: PaginationKind;
  /**
   * Whether the read can have missed a record so far: `certain` if not, `likely` complete if it can. `undefined` if that is not
   * known yet, on the first page by page. `evidence` says why.
   */
  readonly complete: Completeness;
  /** What the read has met so far, from which `complete` follows: see {@link evidenceFacts}. */
  readonly evidence: Evidence;
  /**
   * How many rows of the read so far came again and were dropped. By `page` such a row shows that the list is sorted by
   * something that many records share, such as `updatedAt` after an import, and comes in another order on each page;
   * or that a record was added or moved during the read. Always 0 by `keyset` and with `none`.
   */
  readonly repeated: number;
  /**
   * The read was resumed by page, which begins again: the records before this page are delivered again.
   */
  readonly restarted: boolean;
  /** Where to resume after this page (`resumeFrom`); undefined for pagination that cannot be resumed. */
  readonly resumeToken: string | undefined;
}

/** The pages of one read. */
export type Pages<T> = AsyncGenerator<Page<T>, void, undefined>;

/** Where a read can be resumed. Plain JSON, so that it fits into a token. */
export type ResumePosition = { readonly [key: string]: string | number | boolean | null | undefined };

/** So many responses in a row that show nothing new end a read with an error: more than any collection needs. */
export const MAX_STALLED = 1_000;

/** What every kind of pagination takes. Defaults are applied where the caller's options are resolved, not here. */
export interface ReaderOptions {
  /** Stops the read: requests in flight are aborted and the read rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Pages requested ahead of the consumer. A cursor needs a response to request the next page, and takes at most 1. */
  readonly prefetch: number;
  /** The most records that the caller will take: no page is requested that cannot be needed for them. */
  readonly limit?: number | undefined;
  /** What errors of the pagination say about the call: `{ method: 'GET', path }`. */
  readonly facts: CallFacts;
  /** The caller's own bounds, which every request carries: a row outside them is a FilterIgnoredError. */
  readonly bounds?: IdBounds | undefined;
}

/** A response without the records whose ids are not to be kept. */
export function keepRecords<T>(
  response: PageResponse<T>,
  isKept: (id: string, index: number) => boolean,
): PageResponse<T> {
  const kept = response.ids.map(isKept);
  return {
    ...response,
    records: response.records.filter((_, index) => kept[index]),
    ids: response.ids.filter((_, index) => kept[index]),
    sent: response.sent.filter((_, index) => kept[index]),
  };
}

/**
 * Marks a promise as awaited later, perhaps never: a failed look-ahead is thrown where it is consumed, and is not an
 * unhandled rejection until then.
 */
export function awaitedLater<V>(promise: Promise<V>): Promise<V> {
  promise.catch(() => undefined);
  return promise;
}
