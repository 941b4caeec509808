import { AccountingError } from '../errors/accounting-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
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
  /** Throws: a list cannot be awaited. Its type makes the compiler say so, and what to write instead. */
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
      'a whole number of at least 0, or Infinity',
      (limit) => limit === Number.POSITIVE_INFINITY || is.integerFrom(0).allows(limit),
    ),
  ),
};

export function createPaginator<T>(source: PaginatorSource<T>): Paginator<T> {
  return {
    [Symbol.asyncIterator]: () => recordsOf(source),
    pages: () => pagesOf(source, {}),
    async toArray(options) {
      // From JavaScript they may be missing, or only the number.
      if (typeof options === 'number')
        throw new InvalidInputError('options', `must be an object: toArray({ limit: ${options} })`);
      const { limit } = resolved(toArrayOptions, options ?? {}, { of: 'toArray' });
      return limit === 0 ? [] : collect(source, { limit });
    },
    async first() {
      const [record] = await collect(source, { limit: 1, isFirst: true });
      return record;
    },
    // What `await` calls. Without it, `await client.accounts.list()` is the paginator, and looks like an empty array.
    // biome-ignore lint/suspicious/noThenProperty: it is there for `await` alone.
    then() {
      throw new InvalidInputError(
        'list',
        'cannot be awaited: write for await (const record of list), or await list.toArray({ limit: 100 })',
      );
    },
  };
}

async function collect<T>(
  source: PaginatorSource<T>,
  wanted: Wanted & { readonly limit: number },
): Promise<T[]> {
  const records: T[] = [];
  try {
    for await (const page of pagesOf(source, wanted)) {
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
 * The pages of a read. The caller's signal stops its requests, and so does leaving the loop. An error carries the token to
 * resume from.
 */
async function* pagesOf<T>(source: PaginatorSource<T>, wanted: Wanted): Pages<T> {
  const { signal } = source;
  let last: Page<T> | undefined;
  const requests = new AbortController();
  const abort = () => requests.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  try {
    for await (const page of source.start(wanted, requests.signal)) {
      last = page;
      source.onInvalid(page.invalid);
      yield page;
    }
  } catch (error) {
    const { resumeToken } = last ?? { resumeToken: source.resumeFrom };
    if (error instanceof AccountingError) error.resumeToken ??= resumeToken;
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
    requests.abort();
  }
}

async function* recordsOf<T>(source: PaginatorSource<T>): AsyncGenerator<T, void, undefined> {
  for await (const { records } of pagesOf(source, {})) {
    for (const record of records) {
      // Aborted in the middle of a page: the rest of it is not delivered.
      source.signal?.throwIfAborted();
      yield record;
    }
  }
}
