import { checkTimestamp, resolved } from '../input/checks.ts';
import { group, is, type Named, type OptionInputs, optional } from '../internal/options.ts';
import type { Filters } from '../pagination/choose.ts';
import { listOptions } from '../pagination/list-options.ts';
import { type IdBounds, idBounds, idParameters } from '../pagination/page.ts';

export const listQuery = {
  /** The first page to read, from 1. The list is then read by page. Not with `resumeFrom` or another `pagination`. */
  page: optional(is.integerFrom(1)),
  /**
   * Only records modified at or after this time, which is included: a `Date`, an ISO 8601 date, or a timestamp
   * with its offset.
   */
  updatedSince: optional(is.verified<string | Date>(checkTimestamp)),
  /** Only records whose id lies within these bounds. */
  id: group<typeof idBounds, never, IdBounds>(idBounds),
};

/** The filters of a list (specification: Query parameters of every List operation). */
export interface ListQuery extends OptionInputs<typeof listQuery>, Named {}

/** What other clients have as options of a list. */
export const OF_PAGES = [
  {
    names: Object.fromEntries(
      ['pageSize', 'page_size', 'perPage', 'per_page', 'itemsPerPage'].map((name) => [name, 1]),
    ),
    advice:
      "The size of a page is a parameter of the service: { parameters: { itemsPerPage: '100' } } in the second argument of list, if it has one of that name.",
  },
  { names: { limit: 1 }, advice: 'Pass it to toArray: list().toArray({ limit: 10 }).' },
];

/** Options of the list are not filters. */
const ELSEWHERE = [{ names: listOptions, advice: 'Pass it in the second argument of list.' }, ...OF_PAGES];

/**
 * Checks a query before anything is sent. A service of this kind ignores a filter value that it cannot read, without
 * an error, and returns the whole collection, so a doubtful value must not be sent.
 */
export function checkedQuery(query: ListQuery): Filters {
  const of = 'the query of list, its first argument';
  const { page, updatedSince, id } = resolved(listQuery, query, {
    of,
    argument: 'query',
    elsewhere: ELSEWHERE,
  });
  return {
    page,
    updatedSince: updatedSince && checkTimestamp(updatedSince, 'updatedSince'),
    id: structuredClone(id),
  };
}

/** The query parameters of one request: the caller's filters as they are, and beside them what the pagination adds. */
export function parameters(
  query: Filters,
  own: { page?: number | undefined; id?: IdBounds | undefined },
  pageParameter: string,
) {
  const sent: [string, string][] = [];
  if (own.page !== undefined) sent.push([pageParameter, String(own.page)]);
  sent.push(...idParameters({ ...query.id, ...own.id }));
  if (query.updatedSince !== undefined) sent.push(['updatedSince', query.updatedSince]);
  return sent;
}
