import { AccountingError } from '../errors/accounting-error.ts';
import type { InvalidRecord } from '../events.ts';
import { resolved } from '../input/checks.ts';
import { is, required } from '../internal/options.ts';
import type { Page, Pages } from './page.ts';

/** A collection to be read. Nothing is sent before it is iterated; each iteration reads again from the start. */
export interface Paginator<T> extends AsyncIterable<T> {
  /** The same read page by page. */
  pages(): AsyncIterableIterator<Page<T>>;
  /**
   * At most `limit` records. By keyset, they are those with the lowest ids if the service lists by ascending id, and those
   * with the highest ids if by descending id; in another order, they are some of the lowest interval of ids, not strictly
   * the lowest ids. By page, they are the first ones in the order of the service. The limit is required, because a
   * collection has no known size; `Infinity` is allowed. No page is requested that cannot be needed. An error carries
   * the `resumeToken` that the list was started with, because no record was delivered.
   */
  toArray(options: { readonly limit: number }): Promise<T[]>;
  /**
   * The first record in the order of the service, with every `pagination`; `undefined` if there is none. A list with
   * `resumeFrom` begins there instead.
   */
  first(): Promise<T | undefined>;
  /** Does not exist: a list cannot be awaited. Its type makes the compiler say so, and what to write instead. */
  then?(this: 'for await (const record of list), or await list.toArray({ limit })', records: never): never;
}

export interface PaginatorSource<T> {
  /** The caller's: after an abort nothing more is delivered. */
  readonly signal: AbortSignal | undefined;
  /** Starts a read; `signal` stops its requests. */
  readonly start: (wanted: Wanted, signal: AbortSignal) => Pages<T>;
  /** Called with the invalid rows of each page when the page is delivered. */
  readonly onInvalid: (rows: readonly InvalidRecord[]) => void;
  /** The token that the read starts from, for errors before the first page. */
  readonly resumeFrom: string | undefined;
}

/** What a caller will take of a read. */
export interface Wanted {
  /** The most records that will be taken. */
  readonly limit?: number | undefined;
  /** Only the first one in the order of the service. */
  readonly isFirst?: boolean | undefined;
}

const toArrayOptions = {
  limit: required(
    is.check<number>(
      'a whole number or Infinity',
      (limit) => limit === Number.POSITIVE_INFINITY || is.integerFrom(0).allows(limit),
    ),
  ),
};

export function createPaginator<T>(source: PaginatorSource<T>): Paginator<T> {
  return {
    [Symbol.asyncIterator]: () => new RecordIterator(new PageIterator(source, {}), source.signal),
    pages: () => new PageIterator(source, {}),
    async toArray(options) {
      // From JavaScript they may be missing.
      const { limit } = resolved(toArrayOptions, options ?? {}, { of: 'toArray' });
      return limit === 0 ? [] : collect(source, { limit });
    },
    async first() {
      const [record] = await collect(source, { limit: 1, isFirst: true });
      return record;
    },
  };
}

async function collect<T>(
  source: PaginatorSource<T>,
  wanted: Wanted & { readonly limit: number },
): Promise<T[]> {
  const records: T[] = [];
  try {
    for await (const page of new PageIterator(source, wanted)) {
      for (const record of page.records) {
        if (records.push(record) >= wanted.limit) return records;
      }
    }
  } catch (error) {
    // The caller received none of the records of earlier pages: resuming after them would skip them.
    if (error instanceof AccountingError) error.resumeToken = source.resumeFrom;
    throw error;
  }
  return records;
}

/**
 * The pages of a read. The caller's signal stops its requests, and so does leaving the loop: `return()` of a generator
 * would wait for a pending `next()`, and so for a request whose response is no longer needed. An error of the service
 * carries the token to resume from.
 */
class PageIterator<T> implements AsyncIterableIterator<Page<T>> {
  readonly #source: PaginatorSource<T>;
  readonly #pages: Pages<T>;
  readonly #requests = new AbortController();
  readonly #abort = () => this.#requests.abort(this.#source.signal?.reason);
  #resumeToken: string | undefined;
  #state: 'new' | 'reading' | 'ended' | 'left' = 'new';

  constructor(source: PaginatorSource<T>, wanted: Wanted) {
    this.#source = source;
    this.#pages = source.start(wanted, this.#requests.signal);
    this.#resumeToken = source.resumeFrom;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  async next(): Promise<IteratorResult<Page<T>, undefined>> {
    this.#begin();
    try {
      const { done, value: page } = await this.#pages.next();
      if (done === true) {
        this.#end('ended');
        return { done, value: undefined };
      }
      this.#resumeToken = page.resumeToken;
      this.#source.onInvalid(page.invalid);
      return { done: false, value: page };
    } catch (error) {
      // After the consumer has left, the aborted request is not a failure.
      if (this.#state === 'left') return { done: true, value: undefined };
      this.#end('ended');
      if (error instanceof AccountingError) error.resumeToken ??= this.#resumeToken;
      throw error;
    }
  }

  async return(): Promise<IteratorResult<Page<T>, undefined>> {
    this.#end('left');
    await this.#pages.return();
    return { done: true, value: undefined };
  }

  /** Listens to the caller's signal from the first page on: a list that is never iterated leaves no listener behind. */
  #begin(): void {
    if (this.#state !== 'new') return;
    this.#state = 'reading';
    const { signal } = this.#source;
    if (signal?.aborted) this.#abort();
    signal?.addEventListener('abort', this.#abort);
  }

  #end(state: 'ended' | 'left'): void {
    this.#state = state;
    this.#source.signal?.removeEventListener('abort', this.#abort);
    this.#requests.abort();
  }
}

/** The records one by one. Not an async generator, because that costs three times as much for each record. */
class RecordIterator<T> implements AsyncIterableIterator<T> {
  readonly #pages: PageIterator<T>;
  readonly #signal: AbortSignal | undefined;
  #records: readonly T[] = [];
  #index = 0;
  /** The load of the next page; calls of `next` during the load wait for it. */
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

  /** Aborted in the middle of a page: the rest of it is not delivered. */
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

  /** Loads the next page; false at the end. */
  async #load(): Promise<boolean> {
    // Released before the wait: what is alive during a garbage collection costs time.
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
