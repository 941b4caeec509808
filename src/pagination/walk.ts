import { AccountingError } from '../errors/accounting-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { InvalidRecord } from '../events.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { PageResponse, WalkPosition, WalkStep, WalkSteps } from './page.ts';
import { rowCount } from './row-count.ts';

/** A way to walk: see `pagination` of the list options. */
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

/** One page of a walk. */
export interface Page<T> {
  readonly records: readonly T[];
  /** Rows that did not fit their schema, under `validation: 'report'`. */
  readonly invalid: readonly InvalidRecord[];
  /** The budget of the key as this answer reported it. */
  readonly rateLimit: RateLimit | undefined;
  /** The service's clock when it made this answer: `Date` less `Age`. */
  readonly serverTime: Date | undefined;
  /** The first answer of the walk, also where nothing of it was delivered: all that is delivered is as new. */
  readonly first: ResponseTime;
  /** How this page was read. A `keyset` walk says `page` once it met an id that is no integer. */
  readonly pagination: PaginationKind;
  /** The most rows that an answer had so far: what a later walk takes as its `pageSizeHint`. */
  readonly longestPage: number;
  /** Where to go on after this page (`resumeFrom`); walks that have no such point leave it undefined. */
  readonly resumeToken: string | undefined;
}

/** A collection to be read. Nothing is sent before it is iterated; each iteration reads anew. */
export interface Paginator<T> extends AsyncIterable<T> {
  /** The same walk page by page. */
  pages(): AsyncIterableIterator<Page<T>>;
  /**
   * The first `limit` records. The limit is required, for a collection has no known size; `Infinity` is allowed.
   * No page is asked for that cannot be needed.
   */
  toArray(options: { readonly limit: number }): Promise<T[]>;
}

/** What a walk is made of. */
export interface WalkSource<T> {
  /** The caller's: a walk that was stopped hands nothing more out. */
  readonly signal: AbortSignal | undefined;
  /** Begins to read. `limit` is the most records that will be taken; `onAnswer` is told of every answer. */
  readonly start: (limit: number | undefined, onAnswer: (answer: PageResponse<T>) => void) => WalkSteps<T>;
  /** Told of the rows of each page that did not fit their schema, when the page is handed out. */
  readonly onInvalid: (rows: readonly InvalidRecord[]) => void;
  readonly tokenOf: (position: WalkPosition) => string;
  readonly pagination: PaginationKind;
  /** The token that the walk starts from, for errors before the first page. */
  readonly resumeFrom: string | undefined;
}

export function createWalk<T>(source: WalkSource<T>): Paginator<T> {
  return {
    [Symbol.asyncIterator]: () => new RecordIterator(new PageIterator(source, undefined), source.signal),
    pages: () => new PageIterator(source, undefined),
    async toArray(options) {
      // From JavaScript it may be missing.
      const limit = (options as Partial<typeof options> | undefined)?.limit;
      if (
        typeof limit !== 'number' ||
        !(limit >= 0) ||
        (limit !== Number.POSITIVE_INFINITY && !Number.isInteger(limit))
      ) {
        throw new InvalidInputError('limit', 'must be a whole number or Infinity');
      }
      const records: T[] = [];
      if (limit === 0) return records;

      for await (const page of new PageIterator(source, limit)) {
        for (const record of page.records) {
          if (records.push(record) >= limit) return records;
        }
      }
      return records;
    },
  };
}

/** Pages of a walk; an error of the service's carries the point to resume at. */
class PageIterator<T> implements AsyncIterableIterator<Page<T>> {
  readonly #source: WalkSource<T>;
  readonly #steps: WalkSteps<T>;
  #resumeToken: string | undefined;
  #longestPage = 0;
  #first: ResponseTime | undefined;

  constructor(source: WalkSource<T>, limit: number | undefined) {
    this.#source = source;
    this.#steps = source.start(limit, (answer) => {
      this.#first ??= timeOf(answer);
    });
    this.#resumeToken = source.resumeFrom;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next(): Promise<IteratorResult<Page<T>, undefined>> {
    try {
      const { done, value } = await this.#steps.next();
      return done === true ? { done, value: undefined } : { done: false, value: this.#page(value) };
    } catch (error) {
      if (error instanceof AccountingError) error.resumeToken ??= this.#resumeToken;
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Page<T>, undefined>> {
    await this.#steps.return();
    return { done: true, value: undefined };
  }

  #page({ answer, records, position }: WalkStep<T>): Page<T> {
    this.#resumeToken = position === undefined ? undefined : this.#source.tokenOf(position);
    // A walk that keeps count of pages which it did not deliver says so in its position.
    const longest = typeof position?.longest === 'number' ? position.longest : rowCount(answer);
    this.#longestPage = Math.max(this.#longestPage, longest);
    const { invalid, rateLimit, serverTime } = answer;
    this.#source.onInvalid(invalid);
    return {
      records,
      invalid,
      rateLimit,
      serverTime,
      first: this.#first ?? timeOf(answer),
      pagination: position?.pagination === 'page' ? 'page' : this.#source.pagination,
      longestPage: this.#longestPage,
      resumeToken: this.#resumeToken,
    };
  }
}

function timeOf({ serverTime, requestedAt, durationMs }: PageResponse<unknown>): ResponseTime {
  return { serverTime, requestedAt: new Date(requestedAt), durationMs };
}

/** Records of a walk, one by one. Written by hand: an async generator costs three times as much for each record. */
class RecordIterator<T> implements AsyncIterableIterator<T> {
  readonly #pages: PageIterator<T>;
  readonly #signal: AbortSignal | undefined;
  #records: readonly T[] = [];
  #index = 0;
  /** The load of the next page, which calls of `next` that came meanwhile wait for. */
  #loading: Promise<boolean> | undefined;

  constructor(pages: PageIterator<T>, signal: AbortSignal | undefined) {
    this.#pages = pages;
    this.#signal = signal;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#signal?.aborted && this.#index < this.#records.length) return this.#stop(this.#signal.reason);
    if (this.#loading === undefined && this.#index < this.#records.length) {
      return Promise.resolve({ done: false, value: this.#records[this.#index++] as T });
    }
    return this.#nextAfterLoading();
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#records = [];
    this.#index = 0;
    await this.#pages.return();
    return { done: true, value: undefined };
  }

  /** Stopped in the middle of a page: the rest of it is not handed out. */
  async #stop(reason: unknown): Promise<never> {
    await this.return();
    throw reason;
  }

  async #nextAfterLoading(): Promise<IteratorResult<T, undefined>> {
    while (this.#index >= this.#records.length) {
      this.#loading ??= this.#load();
      if (!(await this.#loading)) return { done: true, value: undefined };
    }
    return { done: false, value: this.#records[this.#index++] as T };
  }

  /** Puts the next page in place; false at the end. */
  async #load(): Promise<boolean> {
    // Let go of before the wait: what is alive when the engine collects garbage costs it time.
    this.#records = [];
    this.#index = 0;
    try {
      const { done, value } = await this.#pages.next();
      if (done === true) return false;

      this.#records = value.records;
      this.#index = 0;
      return true;
    } finally {
      this.#loading = undefined;
    }
  }
}
