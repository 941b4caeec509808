import type { CallFacts } from '../errors/accounting-error.ts';

/** What every way of walking takes. Defaults are applied where the caller's options are resolved, not here. */
export interface StepOptions {
  /** Stops the walk: what is in flight is aborted and the walk rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Answers asked for ahead of the consumer. Ways that need one answer to ask for the next take at most 1. */
  readonly prefetch: number;
  /** The most records that the caller will take: no request is made that cannot be needed for them. */
  readonly limit?: number | undefined;
  /** What the walk's own errors say of its calls: `{ method: 'GET', path }`. */
  readonly facts?: CallFacts | undefined;
}

/**
 * How the service answers a page past the last one: with an empty page, or with 404. Under `not_found` a
 * NotFoundError on any page after the first is the end of the collection.
 */
export type AfterLastPage = 'empty' | 'not_found';
