import { checkOneOf, checkOptionNames, checkWhole } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { guardOf } from '../internal/request-guard.ts';
import { byCursor, type CustomCursor, checkPaginationKind } from '../pagination/by-cursor.ts';
import { byPage } from '../pagination/by-page.ts';
import { byKeyset } from '../pagination/keyset/keyset.ts';
import { type FetchPage, isListHint, type PageResponse, type ResponseTime } from '../pagination/page.ts';
import type { PaginatorSource } from '../pagination/paginator.ts';
import { decodeResumeToken, encodeResumeToken } from '../pagination/resume-token.ts';
import { type ReadList, type RecordReader, withoutSecrets } from '../schemas/record-reader.ts';
import {
  type CallSettings,
  callSettings,
  checkRequestOptions,
  type RequestOptions,
} from '../transport/call-options.ts';
import type { ApiResponse } from '../transport/request.ts';

import type { CollectionContext } from './context.ts';
import { LIST_OPTIONS, type ListOptions } from './list-options.ts';
import { type CheckedQuery, checkQuery, LIST_QUERY, type ListQuery, parameters } from './list-query.ts';

/** What a list is made of. */
export interface ListParts<T extends { id: string }> {
  readonly context: CollectionContext;
  readonly segment: string;
  readonly reader: RecordReader<T>;
  readonly query: ListQuery;
  readonly options: ListOptions;
}

const ELSEWHERE = [{ names: LIST_QUERY, advice: 'Pass it in the first argument of list.' }];

/** What one list reads from. Everything invalid in query and options is rejected here, before anything is sent. */
export function listSource<T extends { id: string }>(parts: ListParts<T>): PaginatorSource<T> {
  const { context, segment, options } = parts;
  checkRequestOptions(options);
  checkOptionNames(options, LIST_OPTIONS, { of: 'list', elsewhere: ELSEWHERE });
  const query = checkQuery(parts.query);
  const { pagination, prefetch, afterLastPage } = checkPagination(context, query, options);
  const scope = {
    baseUrl: context.baseUrl,
    collection: segment,
    filters: Object.fromEntries(parameters(query, {})),
  };
  const settings = callSettings(context.settings, options);
  const resumeFrom =
    options.resumeFrom === undefined ? undefined : decodeResumeToken(options.resumeFrom, scope);

  return {
    signal: options.signal,
    // Not when a response arrives: keyset pagination requests an interval again that a response did not show whole.
    onInvalid: (rows) => {
      for (const row of rows) context.listeners.invalidRecord?.(row);
    },
    resumeFrom: options.resumeFrom,
    start(limit, signal) {
      const fetchPage = pageFetcher(parts, query, settings);
      const facts = { method: 'GET', path: `/${segment}`, attempts: 1, outcome: 'applied' } as const;
      const reading = { signal, prefetch, limit, facts, bounds: query.id };
      if (pagination === 'page') {
        return byPage(fetchPage, { ...reading, afterLastPage, start: query.page ?? 1 });
      }
      if (pagination === 'keyset') {
        return byKeyset(fetchPage, {
          ...reading,
          afterLastPage,
          resumeFrom,
          hint: options.hint,
          onlyChanges: query.updatedSince !== undefined,
          tokenOf: (position) => encodeResumeToken(scope, position),
        });
      }
      return byCursor(fetchPage, pagination as CustomCursor<T>, reading);
    },
  };
}

function checkPagination({ lists }: CollectionContext, query: CheckedQuery, options: ListOptions) {
  const pagination = options.pagination ?? (options.resumeFrom === undefined ? lists.pagination : 'keyset');
  const { prefetch = lists.prefetch, afterLastPage = lists.afterLastPage } = options;
  checkPaginationKind(pagination);
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
  checkWhole(prefetch, 'prefetch', 0);
  checkOneOf(afterLastPage, 'afterLastPage', ['empty', 'not_found']);
  if (options.hint !== undefined && !isListHint(options.hint)) {
    throw new InvalidInputError('hint', 'must be the hint of a page');
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

/** Sends the requests of one read: the caller's filters, and what the pagination adds. */
function pageFetcher<T extends { id: string }>(
  { context, segment, reader, options }: ListParts<T>,
  query: CheckedQuery,
  settings: CallSettings,
): FetchPage<T> {
  const read = (body: unknown) => reader.list(body);
  const guard = guardOf(options);
  let first: ResponseTime | undefined;

  return async (own, signal) => {
    const send = (onWait: RequestOptions['onWait']) =>
      context.transport.send<ReadList<T>>({
        method: 'GET',
        path: [segment],
        template: `/${segment}`,
        query: [...parameters(query, own), ...Object.entries(own.parameters ?? {})],
        expected: { kind: 'json', read, cleared: withoutSecrets },
        priority: 'background',
        settings,
        options: { ...options, signal, onWait },
      });
    const waits = { signal, onWait: options.onWait, maxWaitMs: settings.maxWaitMs };
    const response = await (guard === undefined ? send(options.onWait) : guard.run(send, waits));
    const time = timeOf(response);
    first ??= time;
    return { ...pageOf(response, segment), ...time, first };
  };
}

function timeOf({ serverTime, requestedAt, durationMs }: ApiResponse<unknown>): ResponseTime {
  return { serverTime: serverTime(), requestedAt: new Date(requestedAt), durationMs };
}

function pageOf<T>({ value, rateLimit }: ApiResponse<ReadList<T>>, collection: string) {
  const invalid = value.invalid.map((row) => ({ collection, ...row }));
  return { ...value, invalid, rateLimit } satisfies Partial<PageResponse<T>>;
}
