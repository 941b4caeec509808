import type { InvalidRecord } from '../events.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';

/** Bounds on `id`, as the service's range filters. */
export interface IdBounds {
  readonly gt?: string | undefined;
  readonly gte?: string | undefined;
  readonly lt?: string | undefined;
  readonly lte?: string | undefined;
  /** Both ends included. A pair is sent as `a..b`, a string as it is. */
  readonly between?: string | readonly [string, string] | undefined;
}

export const ID_BOUNDS: OptionNames<IdBounds> = { gt: true, gte: true, lt: true, lte: true, between: true };

/** One list request. The caller's own filters are added below the pagination. */
export interface PageQuery {
  /** `_page`. Left out: the service's default, 1. */
  readonly page?: number | undefined;
  /** Bounds beside those of the caller. */
  readonly id?: IdBounds | undefined;
  /** Further query parameters, for a cursor of the caller's own. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** One response to a list request: one state of the data. */
export interface PageResponse<T> {
  /** Every row as the service sent it. Without a schema of your own, the valid ones are the same objects as `records`. */
  readonly rows: readonly unknown[];
  /** The valid records, in the order sent. */
  readonly records: readonly T[];
  /** The ids of `records` as the service sent them, at the same positions. */
  readonly ids: readonly string[];
  /** The rows that failed validation, under `validation: 'report'`; empty otherwise. */
  readonly invalid: readonly InvalidRecord[];
  /** The rate limit reported with this response. */
  readonly rateLimit: RateLimit | undefined;
  /** The `Date` header, less `Age`. Undefined if the response has none or a browser hides it. */
  readonly serverTime: Date | undefined;
  /** The local clock just before the request was sent, in ms since the epoch. */
  readonly requestedAt: number;
  /** From then until the status and headers of the response were there, in ms, by a monotonic clock. */
  readonly durationMs: number;
}

/** Sends one list request. Pagination knows this function, not HTTP. Rejects with an AccountingError or the signal's reason. */
export type FetchPage<T> = (query: PageQuery, signal: AbortSignal | undefined) => Promise<PageResponse<T>>;

/** How a list is paginated: see `pagination` of the list options. */
export type PaginationKind = 'page' | 'keyset' | 'custom';

/** When a response was sent, and how long it took. */
export interface ResponseTime {
  /** By the service's clock: `Date` less `Age`. */
  readonly serverTime: Date | undefined;
  /** By the local clock, just before the request. */
  readonly requestedAt: Date;
  /** From the request to the status and headers of the response, in ms, by a monotonic clock. */
  readonly durationMs: number;
}

/** One page of a list. */
export interface Page<T> {
  /** Every row of the response as the service sent it, before your own schema. */
  readonly rows: readonly unknown[];
  readonly records: readonly T[];
  /** Rows that failed validation, under `validation: 'report'`. */
  readonly invalid: readonly InvalidRecord[];
  /** The rate limit of the key as this response reported it. */
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock when it made this response: `Date` less `Age`. */
  readonly serverTime: Date | undefined;
  /** The first response of the read, even if none of its records were delivered: every record is as new as that. */
  readonly first: ResponseTime;
  /** How this page was read. `keyset` becomes `page` when an id is not an integer. */
  readonly pagination: PaginationKind;
  /**
   * Whether `keyset` pagination can have missed a record so far. `certain`: every response was in the order of ids, so
   * each one proves which records exist up to its last id. `likely`: the service uses another order, so a response that
   * the service shortened looks like a complete one; or the end could not be confirmed. `undefined` for `page` and for
   * a cursor of your own: a record deleted during the read can hide another one.
   */
  readonly complete: 'certain' | 'likely' | undefined;
  /**
   * The read started again with this page, because the service turned out to use another order, or ids that are not
   * integers. The records before this page are delivered again.
   */
  readonly restarted: boolean;
  /**
   * The most rows in a response so far: a later read takes it as its `pageSizeHint`. 0 if `keyset` found that the
   * service hides rows, because then the length of a page does not tell where it was cut.
   */
  readonly longestPage: number;
  /** Where to resume after this page (`resumeFrom`); undefined for pagination that cannot be resumed. */
  readonly resumeToken: string | undefined;
}

/** Where a read can be resumed. Plain JSON, so that it fits into a token or a checkpoint. */
export type ResumePosition = { readonly [key: string]: string | number | boolean | null | undefined };

/** The pages of one read. */
export type Pages<T> = AsyncGenerator<Page<T>, void, undefined>;

/** All rows of a response. Invalid ones fill a page too. */
export function rowCount(response: PageResponse<unknown>): number {
  return response.ids.length + response.invalid.length;
}
