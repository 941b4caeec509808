import type { InvalidRecord } from '../events.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';

/** Bounds on `id`, as the service's range filters (contract: Query parameters of every List operation). */
export interface IdBounds {
  readonly gt?: string | undefined;
  readonly gte?: string | undefined;
  readonly lt?: string | undefined;
  readonly lte?: string | undefined;
  /** Both ends included. A pair is sent as `a..b`; a string goes out as it is. */
  readonly between?: string | readonly [string, string] | undefined;
}

/** What a walk asks for: one answer of the service. The caller's own filters are added below the walk. */
export interface PageQuery {
  /** `_page`. Left out: the service's default, 1. */
  readonly page?: number | undefined;
  /** The walk's own bounds, beside those of the caller. */
  readonly id?: IdBounds | undefined;
  /** Further query parameters, for a cursor of the caller's own. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

export type { InvalidRecord };

/** One answer of the service to a list request: one state of the books. */
export interface PageResponse<T> {
  /** The records that fit their schema, in the order sent. */
  readonly records: readonly T[];
  /** The ids of `records` as the service sent them, at the same positions. */
  readonly ids: readonly string[];
  /** The rows that did not fit, under `validation: 'report'`; empty otherwise. */
  readonly invalid: readonly InvalidRecord[];
  /** The budget reported with this answer. */
  readonly rateLimit: RateLimit | undefined;
  /** The `Date` header, less `Age`. Undefined where the answer has none or a browser hides it. */
  readonly serverTime: Date | undefined;
  /** The local clock just before the request went out, in ms since the epoch. */
  readonly requestedAt: number;
  /** From then until the status and headers of the response were there, in ms, by a monotonic clock. */
  readonly durationMs: number;
}

/** Fetches one answer. Walks know this function, not HTTP. Rejects with an AccountingError or the signal's reason. */
export type FetchPage<T> = (query: PageQuery, signal: AbortSignal | undefined) => Promise<PageResponse<T>>;

/** One answer's worth of a walk: what is delivered, and where to go on after it. */
export interface WalkStep<T> {
  /** The answer that the records come from. */
  readonly answer: PageResponse<T>;
  /** What is delivered: the answer's records, less those that the walk knows to be repeats. */
  readonly records: readonly T[];
  /** Where to go on after this step, for walks that can; JSON. */
  readonly position?: WalkPosition | undefined;
}

/** A point at which a walk can be taken up again. Plain JSON, so that it fits into a token or a checkpoint. */
export type WalkPosition = { readonly [key: string]: string | number | boolean | null | undefined };

/** A way to read a whole collection: an endless-loop-free sequence of answers. */
export type WalkSteps<T> = AsyncGenerator<WalkStep<T>, void, undefined>;
