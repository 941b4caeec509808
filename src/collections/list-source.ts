import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { given } from '../input/checks.ts';
import { withDefaults } from '../internal/options.ts';
import { byCursor, type CustomCursor } from '../pagination/by-cursor.ts';
import { byPage } from '../pagination/by-page.ts';
import { inOneResponse } from '../pagination/in-one-response.ts';
import { byKeyset } from '../pagination/keyset/keyset.ts';
import {
  checkParameters,
  type ListOptions,
  type ListParameters,
  listOptions,
  paginationOptions,
} from '../pagination/list-options.ts';
import type { FetchPage, ResponseTime } from '../pagination/page.ts';
import type { PaginatorSource } from '../pagination/paginator.ts';
import { decodeResumeToken, encodeResumeToken } from '../pagination/resume-token.ts';
import type { ReadList } from '../schemas/record-reader.ts';
import { type CallSettings, callSettings } from '../transport/call-options.ts';
import { clearStrings } from '../transport/redact.ts';
import type { ClientContext, CollectionContext } from './context.ts';
import { type CheckedQuery, listQuery, parameters } from './list-query.ts';

interface ListParts {
  readonly context: CollectionContext;
  readonly query: CheckedQuery;
  readonly options: ListOptions;
}

const ROWS_CAME_AGAIN =
  'rows came on two pages, so others may be missing: many records share what the list is sorted by, or one was added during the read.';

const ELSEWHERE = [{ names: listQuery, advice: 'Pass it in the first argument of list.' }];

export function checkedListOptions(options: ListOptions): ListOptions {
  return given(listOptions, options, { of: 'list', elsewhere: ELSEWHERE });
}

/** What one list reads from. What does not go together is rejected here, before anything is sent. */
export function listSource(parts: ListParts): PaginatorSource<{ id: string }> {
  const { context, query, options } = parts;
  const { segment } = context.definition;
  const { pagination, mayReadByPage, prefetch, afterLastPage, pageParameter } = checkPagination(
    context,
    query,
    options,
  );
  const serviceParameters = checkParameters(options.parameters, pageParameter);
  const scope = {
    baseUrl: context.baseUrl,
    collection: segment,
    filters: { ...Object.fromEntries(parameters(query, {}, pageParameter)), ...serviceParameters },
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
    start({ limit, isFirst }, signal) {
      const fetchPage = pageFetcher(parts, { query, pageParameter, serviceParameters, settings });
      const facts = { method: 'GET', path: `/${segment}`, attempts: 1, outcome: 'applied' } as const;
      const reading = { signal, prefetch, limit, facts, bounds: query.id };
      const pages = {
        afterLastPage,
        onRepeat: () => context.listeners.collectionWarning?.(segment, ROWS_CAME_AGAIN),
      };
      // Intervals of ids have an order of their own.
      const isInOrderOfService = isFirst && pagination === 'keyset' && resumeFrom === undefined;
      if (pagination === 'page' || isInOrderOfService) {
        return byPage(fetchPage, { ...reading, ...pages, start: query.page ?? 1 });
      }
      if (pagination === 'keyset') {
        return byKeyset(fetchPage, {
          ...reading,
          ...pages,
          resumeFrom,
          mayReadByPage,
          onlyChanges: query.updatedSince !== undefined,
          tokenOf: (position) => encodeResumeToken(scope, position),
        });
      }
      if (pagination === 'none') return inOneResponse(fetchPage, reading);
      return byCursor(fetchPage, pagination as CustomCursor<{ id: string }>, reading);
    },
  };
}

function checkPagination({ lists }: ClientContext, query: CheckedQuery, options: ListOptions) {
  const inherited = options.resumeFrom === undefined ? lists : { ...lists, pagination: 'keyset' as const };
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
  const mayReadByPage = chosen === undefined;
  return { ...pages, pagination, mayReadByPage };
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

/** Sends the requests of one read: the caller's filters and parameters, and what the pagination adds. */
function pageFetcher(
  { context, options }: ListParts,
  request: {
    readonly query: CheckedQuery;
    readonly pageParameter: string;
    readonly serviceParameters: ListParameters;
    readonly settings: CallSettings;
  },
): FetchPage<{ id: string }> {
  const { records, definition, transport } = context;
  const { segment } = definition;
  const { query, pageParameter, serviceParameters, settings } = request;
  const read = (body: unknown) => records.list(body);
  let first: ResponseTime | undefined;

  return async (own, signal) => {
    const added = parameters(query, own, pageParameter);
    const shown = added.filter(([name]) => name !== 'updatedSince');
    const { value, rateLimit, ...sent } = await transport.send<ReadList>({
      method: 'GET',
      path: [segment],
      template: `/${segment}`,
      query: [...added, ...Object.entries({ ...serviceParameters, ...own.parameters })],
      shownQuery: shown.map((pair) => pair.join('=')).join('&') || undefined,
      expected: { kind: 'json', read, cleared: withoutSecrets },
      priority: 'background',
      settings,
      options: { ...options, signal },
    });
    const { requestedAt, durationMs } = sent;
    const time = { serverTime: sent.serverTime(), requestedAt: new Date(requestedAt), durationMs };
    first ??= time;
    const invalid = value.invalid.map((row) => ({ collection: segment, ...row }));
    return { ...value, invalid, rateLimit, ...time, first };
  };
}

/** A list whose invalid rows show no key, which the service may echo. They are reported and logged. */
function withoutSecrets(list: ReadList, clear: (text: string) => string): ReadList {
  if (list.invalid.length === 0) return list;
  const cleared = (value: unknown) => (isChangedBy(value, clear) ? clearStrings(value, clear) : value);
  const invalid = list.invalid.map(({ id, issues, record, storable }) => ({
    id: id === undefined ? undefined : clear(id),
    issues: issues.map(clear),
    record: cleared(record),
    storable: cleared(storable) as typeof storable,
  }));
  return { ...list, invalid };
}

/** Whether `clear` changes a string of a JSON value. One that is nested too deep to be written is taken to contain it. */
function isChangedBy(value: unknown, clear: (text: string) => string): boolean {
  try {
    const text = JSON.stringify(value) ?? '';
    return clear(text) !== text;
  } catch {
    return true;
  }
}
