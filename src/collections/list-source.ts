import { given } from '../input/checks.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import { choosePagination, type Filters, paginationOf, readPages } from '../pagination/choose.ts';
import { checkParameters, type ListOptions, listOptions } from '../pagination/list-options.ts';
import type { FetchWhole, ResponseTime, ResumePosition } from '../pagination/page.ts';
import type { PaginatorSource } from '../pagination/paginator.ts';
import { decodeResumeToken, encodeResumeToken } from '../pagination/resume-token.ts';
import { checkedSince } from '../pagination/since-check.ts';
import { collectionName } from '../reading/state.ts';
import { statementOf, withLinks } from '../schemas/list-statement.ts';
import type { ReadFor, ReadList } from '../schemas/record-reader.ts';
import { callSettings, type RunCallOptions } from '../transport/call-options.ts';
import { cleared } from '../transport/redact.ts';
import type { ApiRequest } from '../transport/request.ts';
import type { CollectionContext } from './context.ts';
import { listQuery, OF_PAGES, parameters } from './list-query.ts';

const ELSEWHERE = [{ names: listQuery, advice: 'Pass it in the first argument of list.' }, ...OF_PAGES];

export function checkedListOptions(options: ListOptions): ListOptions {
  return given(listOptions, options, { of: 'list', elsewhere: ELSEWHERE });
}

export function listSource(
  context: CollectionContext,
  query: Filters,
  options: ListOptions & Pick<RunCallOptions, 'admission'> & Pick<ApiRequest<unknown>, 'isResult'>,
  readFor: ReadFor = 'caller',
): PaginatorSource<{ id: string }> {
  const { segment } = context.definition;
  const chosen = choosePagination(query, options, {
    ...context.lists,
    pagination: chosenPagination(context),
  });
  const { pageParameter, afterLastPage } = chosen;
  const own = checkParameters(chosen.parameters, pageParameter);
  const filters = { ...Object.fromEntries(parameters(query, {}, pageParameter)), ...own };
  const scope = { baseUrl: context.baseUrl, collection: segment, filters };
  const resumeFrom =
    options.resumeFrom === undefined ? undefined : decodeResumeToken(options.resumeFrom, scope);
  const request = {
    method: 'GET',
    path: [segment],
    template: `/${segment}`,
    settings: callSettings(context.settings, options),
    isResult: options.isResult,
  } as const;

  return {
    signal: options.signal,
    // Not when a response arrives: keyset pagination requests an interval again that a response did not show whole.
    onInvalid: (rows) => {
      for (const row of rows) context.listeners.invalidRecord?.(row);
    },
    resumeFrom: options.resumeFrom,
    start(wanted, signal) {
      let first: ResponseTime | undefined;
      const requestOptions = { ...options, signal };
      // The caller's filters and parameters, and what the pagination adds.
      const fetchWhole: FetchWhole<{ id: string }> = async (added) => {
        const replaced = added.parameters ?? {};
        const filters = parameters(query, added, pageParameter);
        const kept = filters.filter(([name]) => !Object.hasOwn(replaced, name));
        // Of a list that nothing was seen of, a page of a proxy says nothing.
        const emptyIf404 = afterLastPage === 'empty' ? undefined : first === undefined ? 'json' : 'any';
        let body: unknown;
        const sent = await context.transport.send<ReadList>({
          ...request,
          expected: {
            kind: 'json',
            read: (json) => {
              body = json;
              return context.records.list(json, readFor);
            },
            cleared: withoutSecrets,
            emptyIf404,
          },
          query: [...kept, ...Object.entries({ ...own, ...replaced })],
          shownQuery: shownOf(kept),
          options: requestOptions,
        });
        const { value, rateLimit, requestedAt, durationMs } = sent;
        const time = { serverTime: sent.serverTime(), requestedAt: new Date(requestedAt), durationMs };
        first ??= time;
        const { rows, records, ids, sent: asSent } = value;
        options.admission?.saw(segment, rows);
        const invalid = value.invalid.map((row) => ({ collection: segment, ...row }));
        const stated = withLinks(statementOf(body), sent.header('link'));
        const page = { rows, records, ids, sent: asSent, invalid, stated, rateLimit, ...time, first };
        return { page, headers: sent.headers, body };
      };
      const { updatedSince } = query;
      const facts = { method: 'GET', path: `/${segment}`, attempts: 1, outcome: 'applied' } as const;
      const warn = (text: string) => context.listeners.collectionWarning?.(segment, text);
      const tokenOf = (position: ResumePosition) => encodeResumeToken(scope, position);
      const pages = readPages(fetchWhole, chosen, {
        ...wanted,
        query,
        signal,
        facts,
        resumeFrom,
        tokenOf,
        warn,
      });
      if (updatedSince === undefined || wanted.isFirst) return pages;
      return checkedSince(pages, { updatedSince, facts, warn, continues: readFor !== 'caller' });
    },
  };
}

/** What the client says of the lists of a collection. */
export function chosenPagination({ lists, definition }: CollectionContext): PaginationChoice | undefined {
  return paginationOf(lists, collectionName(definition.segment));
}

/** What errors and events show of a request: the page or the bounds. */
function shownOf(filters: readonly (readonly [string, string])[]): string | undefined {
  let shown = '';
  for (const [name, value] of filters)
    if (name !== 'updatedSince') shown += `${shown === '' ? '' : '&'}${name}=${value}`;
  return shown === '' ? undefined : shown;
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
