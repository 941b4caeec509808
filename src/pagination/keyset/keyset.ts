import { ApiError } from '../../errors/api-error.ts';
import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { type Evidence, evidenceOf, verdictOf } from '../../reports/evidence.ts';
import { byPage } from '../by-page.ts';
import { integerId, rangeOf } from '../id-bounds.ts';
import {
  type FetchPage,
  keepRecords,
  type PageQuery,
  type PageResponse,
  type Pages,
  type ReaderOptions,
  type ResumePosition,
} from '../page.ts';
import { keyOf } from './direction.ts';
import { contains } from './interval.ts';
import {
  type Ask,
  delivered,
  isEnded,
  next,
  type Proven,
  queryOf,
  type ReadContext,
  type ReadState,
  reduce,
  startOf,
} from './read.ts';
import { BY_PAGE, positionOf, stateOf } from './token.ts';

interface KeysetOptions extends ReaderOptions {
  /** See the same option of a read by page. */
  readonly checksEnd: boolean;
  /** Called once if the read continues by page, when the first row came again. */
  readonly onRepeat: () => void;
  /** Where to resume: the position of a page of an earlier read with the same filters. */
  readonly resumeFrom?: ResumePosition | undefined;
  readonly onlyChanges: boolean;
  /** In which order the caller says that the service lists. */
  readonly listOrder: 'any' | 'id';
  /** Called once if the service lists in another order than `listOrder` says. */
  readonly onOtherOrder: () => void;
  /**
   * Whether the list may be read by page if the service ignores or rejects the bounds of the first intervals: if the
   * caller did not choose keyset pagination by name.
   */
  readonly mayReadByPage: boolean;
  readonly tokenOf: (position: ResumePosition) => string;
}

/**
 * Reads by intervals of ids: see `read.ts` for how and why. It needs integer ids: if one is not, it reads by page from
 * the first page on, without the rows of the range that was delivered before.
 *
 * An empty page is delivered only if it is the first one, or if it is the last one and `evidence` has changed.
 */
export async function* byKeyset<T>(fetchPage: FetchPage<T>, options: KeysetOptions): Pages<T> {
  const range = rangeOf(options.bounds);
  if (range === undefined) return yield* continueByPage(fetchPage, options);
  const context = { ...options, range, bounds: options.bounds };
  const start = options.resumeFrom === undefined ? startOf(context) : stateOf(options.resumeFrom, context);
  if (start === undefined) return yield* continueByPage(fetchPage, options);

  const reader = new Reader(fetchPage, options, { start, context });
  let facts: string | undefined;
  let isWarned = false;
  for (;;) {
    const page = await reader.take();
    options.signal.throwIfAborted();
    if (page === 'by_page')
      return yield* continueByPage(fetchPage, { ...options, limit: reader.wanted }, reader);

    const { state } = reader;
    if (options.listOrder === 'id' && !isWarned && (!state.inOrder || state.order === 'desc')) {
      isWarned = true;
      options.onOtherOrder();
    }
    const evidence = met(state);
    const factsNow = evidence.facts.join();
    if (page.records.length > 0 || page.invalid.length > 0 || factsNow !== facts) {
      facts = factsNow;
      yield {
        ...page,
        pagination: 'keyset',
        ...verdictOf(evidence),
        repeated: 0,
        restarted: false,
        // Few callers read it, and it takes as long as half of the rest of a page.
        get resumeToken() {
          return options.tokenOf(positionOf(state));
        },
      };
    }
    if (isEnded(state) || reader.wanted <= 0) return;
  }
}

/** What the read has met. */
function met({ inOrder, hidesPages, lostRows, cutsShort, pageSize }: ReadState): Evidence {
  const weaker = {
    other_order: !inOrder,
    hidden_page: hidesPages,
    lost_rows: lostRows,
    cut_response: cutsShort,
  };
  return evidenceOf({ whole_intervals: true, ...weaker }, pageSize);
}

/** The driver: sends what `next` says, and gives the responses to `reduce` as they arrive. */
class Reader<T> {
  state: ReadState;
  /** The records that the caller still takes. */
  wanted: number;
  /** The response to nothing but the caller's filters is the first page, and need not be requested again. */
  firstPage: PageResponse<T> | undefined;
  hasDelivered = false;
  /** How many rows this read has delivered. */
  delivered = 0;
  readonly #fetchPage: FetchPage<T>;
  readonly #options: KeysetOptions;
  readonly #context: ReadContext;
  readonly #responses = new Map<Ask, PageResponse<T>>();
  readonly #inFlight = new Set<Ask>();
  /** Why requests failed, or their responses cannot be used. Thrown when what was in flight was delivered. */
  readonly #failures = new Map<Ask, unknown>();
  /** The latest response, for the time and the rate limit of an empty page. */
  #latest: PageResponse<T> | undefined;
  /** Whether the bounds of this package can still turn out to be useless, because nothing was delivered by them. */
  #mayReadByPage: boolean;
  #isByPage = false;
  #isWaiting = false;
  #wake: () => void = () => undefined;

  constructor(
    fetchPage: FetchPage<T>,
    options: KeysetOptions,
    { start, context }: { readonly start: ReadState; readonly context: ReadContext },
  ) {
    this.#fetchPage = fetchPage;
    this.#options = options;
    this.#context = context;
    this.state = start;
    this.wanted = options.limit ?? Number.POSITIVE_INFINITY;
    this.#mayReadByPage = options.mayReadByPage;
  }

  /** The next rows in the order of keys. Not called during another call. */
  async take(): Promise<PageResponse<T> | 'by_page'> {
    this.#isWaiting = true;
    for (;;) {
      const page = this.#deliverable();
      if (page !== undefined) return page;
      this.#send();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The ids of rows that were shown, and not delivered: about a page, and those of the latest response. */
  get shown(): readonly string[] {
    const { known, order, after } = this.state;
    const keys = known.filter((key) => !this.hasDelivered || key > after);
    const isDelivered = this.hasDelivered ? isDeliveredBy(this.state) : () => false;
    const latest = this.#latest?.ids.filter((id) => !isDelivered(id)) ?? [];
    return [...keys.map((key) => String(keyOf(key, order))), ...latest];
  }

  #deliverable(): PageResponse<T> | 'by_page' | undefined {
    if (this.#isByPage) return 'by_page';
    for (let step = delivered(this.state); step !== undefined; step = delivered(this.state)) {
      ({ state: this.state } = step);
      const { part } = step;
      const response = this.#responses.get(part.ask);
      this.#forget(part.ask);
      if (response === undefined || (part.keys.length === 0 && !isEnded(this.state))) continue;
      const page = rowsOf(response, part, this.state);
      this.hasDelivered = true;
      this.firstPage = undefined;
      this.delivered += part.keys.length;
      this.wanted -= page.records.length;
      this.#isWaiting = false;
      this.#send();
      return page;
    }
    if (isEnded(this.state)) return withoutRows(this.#latest as PageResponse<T>);
    const failed = this.#failed();
    const others = this.state.work.some(({ ask }) => ask !== undefined && !this.#failures.has(ask));
    if (failed !== undefined && !others) throw this.#failures.get(failed);
    return undefined;
  }

  /** The first failed request whose interval no other response has proven. After it nothing is sent. */
  #failed(): Ask | undefined {
    return this.state.work.find(({ ask }) => ask !== undefined && this.#failures.has(ask))?.ask;
  }

  #send(): void {
    if (this.#isByPage || this.#failed() !== undefined) return;
    const { prefetch } = this.#options;
    const { pageSize } = this.state;
    const pages = Math.ceil(this.wanted / Math.max(1, pageSize));
    const quotaLeft = this.#latest?.rateLimit?.remaining ?? Number.POSITIVE_INFINITY;
    const atOnce = quotaLeft < 2 * prefetch ? Math.min(prefetch, 1) : prefetch;
    // Those whose interval other responses have proven meanwhile are in flight too.
    const superseded = [...this.#inFlight].filter((each) => this.state.work.every(({ ask }) => ask !== each));
    const most = Math.min(this.#isWaiting ? Math.max(atOnce, 1) : atOnce, pages) - superseded.length;
    if (most <= 0) return;
    const { state, asks } = next(this.state, most, this.#context);
    this.state = state;
    for (const ask of asks) {
      const query = queryOf(ask, state, this.#context);
      this.#inFlight.add(ask);
      this.#fetchPage(query)
        .then((response) => this.#receive(ask, query, response))
        .catch((error: unknown) => this.#fail(ask, query, error));
    }
  }

  #receive(ask: Ask, query: PageQuery, response: PageResponse<T>): void {
    this.#inFlight.delete(ask);
    if (query.page === 1) this.firstPage = response;
    this.#latest = response;
    const state = reduce(this.state, ask, response, this.#context);
    if (state === undefined) this.#isByPage = true;
    else this.state = state;
    this.#responses.set(ask, response);
    this.#forget(ask);
    this.#send();
    this.#wake();
  }

  /** Keeps a response as long as rows of it are to be delivered. */
  #forget(ask: Ask): void {
    const { proven, work } = this.state;
    if (proven.some((part) => part.ask === ask) || work.some(({ held }) => held?.ask === ask)) return;
    this.#responses.delete(ask);
  }

  #fail(ask: Ask, query: PageQuery, error: unknown): void {
    this.#inFlight.delete(ask);
    const isRejection = error instanceof ApiError && (error.status === 400 || error.status === 422);
    const isUseless = error instanceof FilterIgnoredError || (query.id !== undefined && isRejection);
    if (this.#mayReadByPage && !this.hasDelivered && isUseless) this.#isByPage = true;
    else this.#failures.set(ask, error);
    this.#wake();
  }
}

/** The rows of a response that lie in a proven part of it, each once. */
function rowsOf<T>(response: PageResponse<T>, part: Proven, { order }: ReadState): PageResponse<T> {
  if (part.keys.length === response.rows.length) return response;
  const seen = new Set<string>();
  const isIn = (text = '') => {
    const id = integerId(text);
    return id !== undefined && contains(part, keyOf(id, order));
  };
  const isNew = (id: string) => isIn(id) && !seen.has(id) && seen.add(id).size > 0;
  return { ...keepRecords(response, isNew), invalid: response.invalid.filter(({ id }) => isIn(id)) };
}

function withoutRows<T>(response: PageResponse<T>): PageResponse<T> {
  return { ...response, rows: [], records: [], ids: [], sent: [], invalid: [] };
}

/** Reads by page from the first page on, without what was delivered. */
async function* continueByPage<T>(
  fetchPage: FetchPage<T>,
  options: KeysetOptions,
  begun?: Pick<Reader<T>, 'state' | 'hasDelivered' | 'delivered' | 'shown' | 'firstPage'>,
): Pages<T> {
  yield* byPage(
    fetchPage,
    { ...options, start: 1 },
    {
      firstPage: begun?.firstPage,
      // A resumed read begins behind what an earlier one has delivered.
      isDelivered:
        begun?.hasDelivered === true || (begun && options.resumeFrom)
          ? isDeliveredBy(begun.state)
          : undefined,
      // What an earlier read delivered was not counted.
      rows: options.resumeFrom === undefined ? (begun?.delivered ?? 0) : Number.POSITIVE_INFINITY,
      shown: begun?.shown ?? [],
      restarted: begun === undefined && options.resumeFrom !== undefined,
      resumeToken: options.tokenOf(BY_PAGE),
    },
  );
}

function isDeliveredBy({ after, order }: ReadState): (id: string) => boolean {
  return (text) => {
    const id = integerId(text);
    return id !== undefined && keyOf(id, order) <= after;
  };
}
