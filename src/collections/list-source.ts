import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { given } from '../input/checks.ts';
import { withDefaults } from '../internal/options.ts';
import { byCursor, type CustomCursor, type PaginationChoice } from '../pagination/by-cursor.ts';
import { byPage } from '../pagination/by-page.ts';
import { inOneResponse } from '../pagination/in-one-response.ts';
import { byKeyset } from '../pagination/keyset/keyset.ts';
import {
  checkParameters,
  isPaginationTable,
  type ListOptions,
  listOptions,
  paginationOptions,
} from '../pagination/list-options.ts';
import type { FetchPage, ResponseTime } from '../pagination/page.ts';
import type { PaginatorSource } from '../pagination/paginator.ts';
import { decodeResumeToken, encodeResumeToken } from '../pagination/resume-token.ts';
import { collectionName } from '../reading/state.ts';
import type { ReadList } from '../schemas/record-reader.ts';
import { callSettings } from '../transport/call-options.ts';
import { cleared } from '../transport/redact.ts';
import type { CollectionContext } from './context.ts';
import { type CheckedQuery, listQuery, parameters } from './list-query.ts';

const ROWS_CAME_AGAIN =
  'rows came on two pages, so others may be missing: many records share what the list is sorted by, or one was added during the read.';

const OTHER_ORDER =
  "the service does not list by ascending id, so records may be missing: leave out listOrder: 'id', and read again.";

const ELSEWHERE = [{ names: listQuery, advice: 'Pass it in the first argument of list.' }];

export function checkedListOptions(options: ListOptions): ListOptions {
  return given(listOptions, options, { of: 'list', elsewhere: ELSEWHERE });
}

/** What one list reads from. What does not go together is rejected here, before anything is sent. */
export function listSource(
  context: CollectionContext,
  query: CheckedQuery,
  options: ListOptions,
): PaginatorSource<{ id: string }> {
  const { segment } = context.definition;
  const { pagination, mayReadByPage, prefetch, ...pages } = checkPagination(context, query, options);
  const own = checkParameters(pages.parameters, pages.pageParameter);
  const filters = { ...Object.fromEntries(parameters(query, {}, pages.pageParameter)), ...own };
  const scope = { baseUrl: context.baseUrl, collection: segment, filters };
  const resumeFrom =
    options.resumeFrom === undefined ? undefined : decodeResumeToken(options.resumeFrom, scope);
  const request = {
    method: 'GET',
    path: [segment],
    template: `/${segment}`,
    isList: true,
    settings: callSettings(context.settings, options),
  } as const;

  return {
    signal: options.signal,
    // Not when a response arrives: keyset pagination requests an interval again that a response did not show whole.
    onInvalid: (rows) => {
      for (const row of rows) context.listeners.invalidRecord?.(row);
    },
    resumeFrom: options.resumeFrom,
    start({ limit, isFirst }, signal) {
      let first: ResponseTime | undefined;
      // The caller's filters and parameters, and what the pagination adds.
      const fetchPage: FetchPage<{ id: string }> = async (added, signal) => {
        const filters = parameters(query, added, pages.pageParameter);
        const shown = filters.filter(([name]) => name !== 'updatedSince');
        // Of a list that nothing was seen of, a page of a proxy says nothing.
        const emptyIf404 = pages.afterLastPage === 'empty' ? undefined : first === undefined ? 'json' : 'any';
        const { value, rateLimit, ...sent } = await context.transport.send<ReadList>({
          ...request,
          expected: {
            kind: 'json',
            read: (body) => context.records.list(body),
            cleared: withoutSecrets,
            emptyIf404,
          },
          query: [...filters, ...Object.entries({ ...own, ...added.parameters })],
          shownQuery: shown.map((pair) => pair.join('=')).join('&') || undefined,
          options: { ...options, signal },
        });
        const { requestedAt, durationMs } = sent;
        const time = { serverTime: sent.serverTime(), requestedAt: new Date(requestedAt), durationMs };
        first ??= time;
        const invalid = value.invalid.map((row) => ({ collection: segment, ...row }));
        return { ...value, invalid, rateLimit, ...time, first };
      };
      const facts = { method: 'GET', path: `/${segment}`, attempts: 1, outcome: 'applied' } as const;
      const onlyChanges = query.updatedSince !== undefined;
      // Changes are usually few.
      const ahead = onlyChanges ? Math.min(prefetch, 1) : prefetch;
      const reading = { signal, prefetch: ahead, limit, facts, bounds: query.id };
      const onRepeat = () => context.listeners.collectionWarning?.(segment, ROWS_CAME_AGAIN);
      const byNumber = { ...reading, onRepeat };
      // Intervals of ids have an order of their own.
      const isInOrderOfService = isFirst && pagination === 'keyset' && resumeFrom === undefined;
      if (pagination === 'page' || isInOrderOfService) {
        return byPage(fetchPage, { ...byNumber, start: query.page ?? 1 });
      }
      if (pagination === 'keyset') {
        return byKeyset(fetchPage, {
          ...byNumber,
          resumeFrom,
          mayReadByPage,
          onlyChanges,
          listOrder: pages.listOrder,
          onOtherOrder: () => context.listeners.collectionWarning?.(segment, OTHER_ORDER),
          tokenOf: (position) => encodeResumeToken(scope, position),
        });
      }
      if (pagination === 'none') return inOneResponse(fetchPage, reading);
      return byCursor(fetchPage, pagination as CustomCursor<{ id: string }>, reading);
    },
  };
}

/** What the client says of the lists of a collection. */
export function chosenPagination({ lists, definition }: CollectionContext): PaginationChoice | undefined {
  const { pagination } = lists;
  return isPaginationTable(pagination) ? pagination[collectionName(definition.segment)] : pagination;
}

function checkPagination(context: CollectionContext, query: CheckedQuery, options: ListOptions) {
  const inherited = {
    ...context.lists,
    pagination: options.resumeFrom === undefined ? chosenPagination(context) : ('keyset' as const),
  };
  const { pagination: chosen, ...pages } = withDefaults(paginationOptions, options, inherited);
  const pagination = chosen ?? (needsPages(query) ? 'page' : 'keyset');
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
  if (pagination === 'keyset' && isSideTaken(query)) {
    throw new InvalidInputError(
      'id',
      "must not use both gt and gte, or both lt and lte, with pagination: 'keyset', which needs the other one",
    );
  }
  return { ...pages, pagination, mayReadByPage: chosen === undefined };
}

function needsPages(query: CheckedQuery): boolean {
  return query.page !== undefined || isSideTaken(query);
}

/**
 * Keyset pagination sends the caller's operators unchanged and bounds its intervals with the others, so each side must
 * leave it one. `between` is sent beside them and takes none.
 */
function isSideTaken({ id }: CheckedQuery): boolean {
  return (id.gt !== undefined && id.gte !== undefined) || (id.lt !== undefined && id.lte !== undefined);
}

/** A list whose invalid rows show no key, which the service may echo. They are reported and logged. */
function withoutSecrets(list: ReadList, clear: (text: string) => string): ReadList {
  if (list.invalid.length === 0) return list;
  const invalid = list.invalid.map(({ id, issues, record, storable }) => ({
    id: id === undefined ? undefined : clear(id),
    issues: issues.map(clear),
    record: cleared(record, clear),
    storable: cleared(storable, clear) as typeof storable,
  }));
  return { ...list, invalid };
}
