import { checkOptionNames } from '../errors/check-option-names.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { InvalidRecord } from '../events.ts';
import { OUTAGE, type OutageGuard } from '../internal/outage.ts';
import { OWN_INSTANT } from '../internal/own-instant.ts';
import { byPage } from '../pagination/by-page.ts';
import { byCursor, type CustomCursor } from '../pagination/custom.ts';
import { byKeyset } from '../pagination/keyset/keyset.ts';
import type { FetchPage, PageResponse } from '../pagination/page.ts';
import type { PaginatorSource } from '../pagination/paginator.ts';
import type { ReadOptions } from '../pagination/read-options.ts';
import { decodeResumeToken, encodeResumeToken } from '../pagination/resume-token.ts';
import { type ReadList, type RecordReader, withClearedMisfits } from '../schemas/record-reader.ts';
import { callSettings, checkRequestOptions } from '../transport/call-options.ts';
import type { ApiResponse } from '../transport/request.ts';
import type { Binding } from './binding.ts';
import { LIST_OPTIONS, type ListOptions } from './list-options.ts';
import { type CheckedQuery, checkQuery, LIST_QUERY, type ListQuery, parameters } from './list-query.ts';

/** What a list is made of. */
export interface ListParts<T extends { id: string }> {
  readonly binding: Binding;
  readonly reader: RecordReader<T>;
  readonly query: ListQuery;
  readonly options: ListOptions;
}

const ELSEWHERE = [{ names: LIST_QUERY, advice: 'Pass it in the first argument of list.' }];

/** What one list reads from. Everything invalid in query and options is rejected here, before anything is sent. */
export function listSource<T extends { id: string }>(
  segment: string,
  parts: ListParts<T>,
): PaginatorSource<T> {
  const { binding, options } = parts;
  checkRequestOptions(options);
  checkOptionNames(options, LIST_OPTIONS, { of: 'list', elsewhere: ELSEWHERE });
  const query = checkQuery(parts.query);
  if (!(OWN_INSTANT in options)) binding.serverClock.refuseFuture(query.updatedSince, 'updatedSince');
  const { pagination, prefetch, afterLastPage } = checkPagination(binding, query, options);
  const scope = {
    baseUrl: binding.baseUrl,
    collection: segment,
    filters: Object.fromEntries(parameters(query, {})),
  };
  const resumeFrom =
    options.resumeFrom === undefined ? undefined : decodeResumeToken(options.resumeFrom, scope);
  const shownIds = new WeakMap<InvalidRecord, string>();
  const fetchPage = pageFetcher(segment, parts, { query, shownIds });

  return {
    signal: options.signal,
    // Not when a response arrives: keyset pagination requests an interval again that a response did not show whole.
    onInvalid: (rows) => {
      for (const row of rows) {
        binding.listeners.invalidRecord?.({ ...row, id: shownIds.get(row) ?? row.id });
      }
    },
    resumeFrom: options.resumeFrom,
    start(limit) {
      const reading: ReadOptions = {
        signal: options.signal,
        prefetch,
        limit,
        facts: { method: 'GET', path: `/${segment}`, attempts: 1, outcome: 'applied' },
        bounds: query.id,
        tokenOf: (at) => encodeResumeToken(scope, at),
      };
      if (pagination === 'page') {
        return byPage(fetchPage, { ...reading, afterLastPage, start: query.page ?? 1 });
      }
      if (pagination === 'keyset') {
        const { pageSizeHint } = options;
        // A list of changes is usually empty: its end is looked behind only if the service is known to hide rows.
        const checkEnd = query.updatedSince === undefined || pageSizeHint === 0;
        return byKeyset(fetchPage, { ...reading, afterLastPage, resumeFrom, pageSizeHint, checkEnd });
      }
      return byCursor(fetchPage, pagination as CustomCursor<T>, reading);
    },
  };
}

function checkPagination({ lists }: Binding, query: CheckedQuery, options: ListOptions) {
  const pagination = options.pagination ?? (options.resumeFrom === undefined ? lists.pagination : 'keyset');
  const { prefetch = lists.prefetch, afterLastPage = lists.afterLastPage } = options;
  if (pagination !== 'page' && pagination !== 'keyset' && typeof pagination?.next !== 'function') {
    throw new InvalidInputError('pagination', "must be 'page', 'keyset' or a cursor { first, next }");
  }
  if (options.resumeFrom !== undefined && pagination !== 'keyset') {
    throw new InvalidInputError(
      'resumeFrom',
      "requires pagination: 'keyset', because no other kind can be resumed",
    );
  }
  if (query.page !== undefined && pagination !== 'page') {
    throw new InvalidInputError(
      'page',
      "requires pagination: 'page', and cannot be combined with resumeFrom",
    );
  }
  if (pagination === 'keyset') checkFreeOperators(query);
  if (!Number.isInteger(prefetch) || prefetch < 0) {
    throw new InvalidInputError('prefetch', 'must be a whole number from 0');
  }
  if (afterLastPage !== 'empty' && afterLastPage !== 'not_found') {
    throw new InvalidInputError('afterLastPage', "must be 'empty' or 'not_found'");
  }
  return { pagination, afterLastPage, prefetch: pagination === 'page' ? prefetch : Math.min(prefetch, 1) };
}

/**
 * Keyset pagination sends the caller's operators unchanged and bounds its intervals with the others, so each side must
 * leave it one. `between` is sent beside them and takes none.
 */
function checkFreeOperators({ id }: CheckedQuery): void {
  const isTaken =
    (id.gt !== undefined && id.gte !== undefined) || (id.lt !== undefined && id.lte !== undefined);
  if (!isTaken) return;
  throw new InvalidInputError(
    'id',
    "must not use both gt and gte, or both lt and lte, with pagination: 'keyset', which needs the other one",
  );
}

/** Sends one request of a list: the caller's filters, and what the pagination adds. */
function pageFetcher<T extends { id: string }>(
  segment: string,
  { binding, reader, options }: ListParts<T>,
  { query, shownIds }: { query: CheckedQuery; shownIds: WeakMap<InvalidRecord, string> },
): FetchPage<T> {
  const settings = callSettings(binding.settings, options);
  const read = (body: unknown) => reader.list(body);
  const outage = (options as { readonly [OUTAGE]?: OutageGuard })[OUTAGE];

  return async (own, signal) => {
    const send = () =>
      binding.transport.send<ReadList<T>>({
        method: 'GET',
        path: [segment],
        template: `/${segment}`,
        query: [...parameters(query, own), ...Object.entries(own.parameters ?? {})],
        expected: { kind: 'json', read, cleared: withClearedMisfits },
        priority: 'background',
        settings,
        options: { ...options, signal },
      });
    const waits = { signal, onWait: options.onWait, maxWaitMs: settings.maxWaitMs };
    const answer = await (outage === undefined ? send() : outage.run(send, waits));
    binding.serverClock.saw(answer.serverTime);
    return pageResponse(answer, segment, shownIds);
  };
}

function pageResponse<T>(
  { value, meta, serverTime, requestedAt, durationMs }: ApiResponse<ReadList<T>>,
  segment: string,
  shownIds: WeakMap<InvalidRecord, string>,
): PageResponse<T> {
  const invalid = value.misfits.map(({ shownId, ...misfit }): InvalidRecord => {
    const row = { collection: segment, ...misfit };
    if (shownId !== undefined) shownIds.set(row, shownId);
    return row;
  });
  const { rows, records, ids } = value;
  return { rows, records, ids, invalid, rateLimit: meta.rateLimit, serverTime, requestedAt, durationMs };
}
