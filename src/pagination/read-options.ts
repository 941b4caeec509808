import type { CallFacts } from '../errors/accounting-error.ts';
import type { IdBounds, ResumePosition } from './page.ts';

/** What every kind of pagination takes. Defaults are applied where the caller's options are resolved, not here. */
export interface ReadOptions {
  /** Stops the read: requests in flight are aborted and the read rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Pages requested ahead of the consumer. Pagination that needs a response to request the next one takes at most 1. */
  readonly prefetch: number;
  /** The most records that the caller will take: no page is requested that cannot be needed for them. */
  readonly limit?: number | undefined;
  /** What errors of the pagination say about the call: `{ method: 'GET', path }`. */
  readonly facts?: CallFacts | undefined;
  /** The caller's own bounds, which every request carries: a row outside them is a FilterIgnoredError. */
  readonly bounds?: IdBounds | undefined;
  /** Makes the resume token of a page. */
  readonly tokenOf?: ((position: ResumePosition) => string) | undefined;
}

/**
 * How the service answers a page after the last one: with an empty page, or with 404. Under `not_found` a
 * NotFoundError on any page after the first is the end of the collection.
 */
export type AfterLastPage = 'empty' | 'not_found';
