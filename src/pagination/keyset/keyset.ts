import { ApiError } from '../../errors/api-error.ts';
import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { byPage } from '../by-page.ts';
import { integerId, rangeOf } from '../id-bounds.ts';
import {
  type AfterLastPage,
  awaitedLater,
  type FetchPage,
  isAfterLastPage,
  keepRecords,
  type Page,
  type PageResponse,
  type Pages,
  type ReaderOptions,
  type ResumePosition,
} from '../page.ts';
import { ReadAhead } from './ahead.ts';
import { DIRECTIONS } from './direction.ts';
import { type ReadContext, reduce, requestOf, type Step } from './reduce.ts';
import { BY_PAGE, isCertain, positionOf, type ReadState, START, stateOf } from './state.ts';

interface KeysetOptions extends ReaderOptions {
  /** How the service responds to a page after the last one. */
  readonly afterLastPage: AfterLastPage;
  /** Called once if the read continues by page, when the first row came again. */
  readonly onRepeat: () => void;
  /** Where to resume: the position of a page of an earlier read with the same filters. */
  readonly resumeFrom?: ResumePosition | undefined;
  readonly onlyChanges: boolean;
  /**
   * Whether the list may be read by page if the service ignores or rejects the bounds of the first intervals: if the
   * caller did not choose keyset pagination by name.
   */
  readonly mayReadByPage: boolean;
  readonly tokenOf: (position: ResumePosition) => string;
}

/** Rows to deliver, or the first sign that the list can be read only by page. */
type Delivery<T> =
  | {
      readonly kind: 'rows';
      readonly response: PageResponse<T>;
      readonly state: ReadState;
      readonly restarted: boolean;
    }
  | { readonly kind: 'by_page'; readonly firstPage: PageResponse<T> | undefined };

/**
 * Reads by intervals of ids: see `reduce.ts` for how and why. It needs integer ids: if one is not, it reads by page from
 * the first page on, without the rows of the range that was delivered before.
 *
 * An empty page is delivered only if it is the first one, if the read starts again, or if it is the last one and
 * `complete` has changed.
 */
export async function* byKeyset<T>(fetchPage: FetchPage<T>, options: KeysetOptions): Pages<T> {
  const { signal, prefetch, limit = Number.POSITIVE_INFINITY, tokenOf } = options;
  const range = rangeOf(options.bounds);
  const start = options.resumeFrom === undefined ? START : stateOf(options.resumeFrom);
  if (range === undefined || start === undefined) {
    return yield* continueByPage(fetchPage, options);
  }
  const context = { ...options, range, bounds: options.bounds };
  const next = deliveries(fetchPage, options, { start, context });

  let wanted = limit;
  let ahead: Promise<Delivery<T>> | undefined;
  let complete: Page<T>['complete'];
  let delivered: ReadState = start;
  while (wanted > 0) {
    const delivery = await (ahead ?? next(wanted));
    signal.throwIfAborted();
    if (delivery.kind === 'by_page') {
      const { firstPage } = delivery;
      return yield* continueByPage(fetchPage, { ...options, limit: wanted }, { delivered, firstPage });
    }

    const { state, restarted, response } = delivery;
    delivered = state;
    const seen = new Set(response.ids);
    const page =
      seen.size === response.ids.length ? response : keepRecords(response, (id) => seen.delete(id));
    wanted = (restarted ? limit : wanted) - page.records.length;
    const isLast = state.phase === 'end';
    ahead = !isLast && prefetch > 0 && wanted > 0 ? awaitedLater(next(wanted)) : undefined;
    const completeNow = isCertain(state) ? 'certain' : 'likely';
    if (page.records.length > 0 || page.invalid.length > 0 || restarted || completeNow !== complete) {
      complete = completeNow;
      const resumeToken = tokenOf(positionOf(state));
      yield { ...page, pagination: 'keyset', complete, repeated: 0, restarted, resumeToken };
    }
    if (isLast) return;
  }
}

/** The driver: sends requests until there is something to deliver. Not called after the end, nor during another call. */
function deliveries<T>(
  fetchPage: FetchPage<T>,
  options: KeysetOptions,
  { start, context }: { readonly start: ReadState; readonly context: ReadContext },
): (wanted: number) => Promise<Delivery<T>> {
  let state = start;
  let latest: PageResponse<T> | undefined;
  /** The response to nothing but the caller's filters is the first page, and need not be requested again. */
  let firstPage: PageResponse<T> | undefined;
  /** Whether the bounds of this package can still turn out to be useless, because nothing was delivered by them. */
  let isOpen = options.mayReadByPage && options.resumeFrom === undefined;
  let isBounded = false;
  /** A response without rows, as a 404 after the last page is one. */
  const fetchRows: FetchPage<T> = async (query, signal) => {
    try {
      return await fetchPage(query, signal);
    } catch (error) {
      const isPage = query.page !== undefined && latest !== undefined;
      if (!isPage || !isAfterLastPage(error, options.afterLastPage)) throw error;
      return withoutRows(latest as PageResponse<T>);
    }
  };
  const ahead = new ReadAhead(fetchRows, options, context);

  return async (wanted) => {
    let held: PageResponse<T> | undefined;
    for (;;) {
      const query = requestOf(state, context);
      const adds = query.id !== undefined;
      let step: Step;
      let response: PageResponse<T>;
      try {
        const taken = await ahead.take(state, wanted);
        ({ response } = taken);
        if (query.page === 1) firstPage = response;
        step = reduce(state, response, context, { held, asked: taken.asked });
        if (taken.asked !== undefined) response = withoutEarlier(response, state);
      } catch (error) {
        const isUseless = error instanceof FilterIgnoredError || (adds && !isBounded && isRejection(error));
        if (isOpen && isUseless) return { kind: 'by_page', firstPage };
        throw error;
      }
      isBounded ||= adds;
      if (step.deliver === 'by_page') return { kind: 'by_page', firstPage };
      state = step.state;
      latest = response;
      const restarted = step.deliver === 'restart';
      const delivered = step.deliver === 'held' ? held : restarted ? withoutRows(response) : response;
      if (step.deliver !== 'nothing' && delivered !== undefined) {
        isOpen = false;
        firstPage = undefined;
        return { kind: 'rows', response: delivered, state, restarted };
      }
      held = state.phase === 'second_page' ? response : undefined;
    }
  };
}

/** Whether the service rejected the parameters of a request. */
function isRejection(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422);
}

/** A response without the rows that were delivered before: it may begin before the interval that was requested. */
function withoutEarlier<T>(response: PageResponse<T>, { after, order }: ReadState): PageResponse<T> {
  const isNew = (text: string) => {
    const id = integerId(text);
    return id === undefined || after === undefined || DIRECTIONS[order].keyOf(id) > after;
  };
  if (response.ids.every(isNew) && response.invalid.every(({ id }) => id === undefined || isNew(id)))
    return response;
  const invalid = response.invalid.filter(({ id }) => id === undefined || isNew(id));
  return { ...keepRecords(response, isNew), invalid };
}

function withoutRows<T>(response: PageResponse<T>): PageResponse<T> {
  return { ...response, rows: [], records: [], ids: [], sent: [], invalid: [] };
}

/** Reads by page from the first page on, without what was delivered up to the state `delivered`. */
async function* continueByPage<T>(
  fetchPage: FetchPage<T>,
  options: KeysetOptions,
  begun?: { readonly delivered: ReadState; readonly firstPage: PageResponse<T> | undefined },
): Pages<T> {
  yield* byPage(
    fetchPage,
    { ...options, start: 1 },
    {
      firstPage: begun?.firstPage,
      isDelivered: begun && isDeliveredBy(begun.delivered),
      restarted: begun === undefined && options.resumeFrom !== undefined,
      resumeToken: options.tokenOf(BY_PAGE),
    },
  );
}

function isDeliveredBy({ after, order }: ReadState): ((id: string) => boolean) | undefined {
  if (after === undefined) return undefined;
  return (text) => {
    const id = integerId(text);
    return id !== undefined && DIRECTIONS[order].keyOf(id) <= after;
  };
}
