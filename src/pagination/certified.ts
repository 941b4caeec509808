import { PAGES_POSITION, pointOf } from './certified-position.ts';
import { rangeOf } from './id-bounds.ts';
import { IntervalReader, type IntervalResult } from './interval-reader.ts';
import { awaitedLater, withLifetime } from './lifetime.ts';
import type { FetchPage, IdBounds, PageResponse, WalkPosition, WalkSteps } from './page.ts';
import { pagesWalk } from './pages.ts';
import type { AfterLastPage, StepOptions } from './step-options.ts';

export interface CertifiedOptions extends StepOptions {
  /** How the service answers past the last page; for the walk by pages that this one may become. */
  readonly afterLastPage: AfterLastPage;
  /** The caller's own bounds. The walk narrows within them: the bounds that it asks for hold them already. */
  readonly bounds?: IdBounds | undefined;
  /** Where to go on: the position of a step of an earlier walk with the same filters. */
  readonly resumeFrom?: WalkPosition | undefined;
  /** The longest page of an earlier run: saves requests where little is to be read. */
  readonly pageSizeHint?: number | undefined;
}

/**
 * Walks by intervals of ids, each delivered only when one answer showed it whole: no row that is there during the
 * whole walk is missed, whatever the order of the service, and whatever is deleted or written meanwhile.
 *
 * It rests on two things: ids are integers, and the service cuts every answer of one walk at the same number of
 * rows. Where an id is no integer, the walk reads by pages from the first one on, and its positions say so
 * (`isByPages`); what it delivered before is then delivered once more.
 *
 * An empty interval is a step of its own only when it is the first one. So the first step always rests on the
 * oldest answer that the walk relies on: its server time is a safe watermark.
 */
export function certifiedWalk<T>(fetchPage: FetchPage<T>, options: CertifiedOptions): WalkSteps<T> {
  return withLifetime(options.signal, (signal) => readIntervals(fetchPage, options, signal));
}

async function* readIntervals<T>(
  fetchPage: FetchPage<T>,
  options: CertifiedOptions,
  signal: AbortSignal,
): WalkSteps<T> {
  const reader = openReader(fetchPage, options, signal);
  if (reader === undefined) return yield* readByPages(fetchPage, { ...options, signal });

  let wanted = options.limit ?? Number.POSITIVE_INFINITY;
  let ahead: Promise<IntervalResult<T>> | undefined;
  for (let first = true; wanted > 0; first = false) {
    const result = await (ahead ?? reader.next());
    signal.throwIfAborted();
    if (result.kind === 'other_ids') {
      const known = result.unbounded ? withFirstPage(fetchPage, result.answer) : fetchPage;
      return yield* readByPages(known, { ...options, signal, limit: wanted });
    }

    const { answer, position, last } = result;
    const records = eachOnce(answer);
    wanted -= records.length;
    ahead = !last && options.prefetch > 0 && wanted > 0 ? awaitedLater(reader.next()) : undefined;
    if (first || records.length > 0 || answer.invalid.length > 0) yield { answer, records, position };
    if (last) return;
  }
}

/** Undefined where the walk can only read by pages: it did so before, or the caller's bounds are no integers. */
function openReader<T>(
  fetchPage: FetchPage<T>,
  options: CertifiedOptions,
  signal: AbortSignal,
): IntervalReader<T> | undefined {
  const { resumeFrom, pageSizeHint = 0, afterLastPage, facts } = options;
  const point = resumeFrom === undefined ? undefined : pointOf(resumeFrom);
  const range = rangeOf(options.bounds);
  if (range === undefined || (resumeFrom !== undefined && point === undefined)) return undefined;
  return new IntervalReader(fetchPage, { range, point, pageSizeHint, afterLastPage, facts }, signal);
}

async function* readByPages<T>(fetchPage: FetchPage<T>, options: CertifiedOptions): WalkSteps<T> {
  for await (const step of pagesWalk(fetchPage, { ...options, start: 1 })) {
    yield { ...step, position: PAGES_POSITION };
  }
}

/** An answer to nothing but the caller's filters is the first page: it need not be asked for again. */
function withFirstPage<T>(fetchPage: FetchPage<T>, first: PageResponse<T>): FetchPage<T> {
  return (query, signal) => (query.page === 1 ? Promise.resolve(first) : fetchPage(query, signal));
}

/** The records of an answer, less what the service sent twice in it. */
function eachOnce<T>(answer: PageResponse<T>): readonly T[] {
  const seen = new Set(answer.ids);
  if (seen.size === answer.ids.length) return answer.records;
  return answer.records.filter((_, index) => seen.delete(answer.ids[index] ?? ''));
}
