import {
  checkObject,
  checkOptionNames,
  checkText,
  checkTimestamp,
  checkWhole,
} from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { LIST_OPTIONS } from '../pagination/list-options.ts';
import { ID_BOUNDS, type IdBounds, idParameters } from '../pagination/page.ts';

/** The filters of a list (specification: Query parameters of every List operation). */
export interface ListQuery {
  /** The first page to read, from 1. The list is then read by page. Not with `resumeFrom` or another `pagination`. */
  page?: number | undefined;
  /**
   * Only records modified at or after this time, which is included: a `Date`, an ISO 8601 date, or a timestamp
   * with its offset.
   */
  updatedSince?: string | Date | undefined;
  /** Only records whose id lies within these bounds. */
  id?: IdBounds | undefined;
}

export const LIST_QUERY: OptionNames<ListQuery> = { page: true, updatedSince: true, id: ID_BOUNDS };

/** Options of the list are not filters. */
const ELSEWHERE = [{ names: LIST_OPTIONS, advice: 'Pass it in the second argument of list.' }];

/** A ListQuery that was checked: values as they go over the wire. */
export interface CheckedQuery {
  readonly page: number | undefined;
  readonly updatedSince: string | undefined;
  readonly id: IdBounds;
}

const BOUNDS = ['gt', 'gte', 'lt', 'lte'] as const;

/**
 * Checks a query before anything is sent. A service of this kind ignores a filter value that it cannot read, without
 * an error, and returns the whole collection, so a doubtful value must not be sent.
 */
export function checkQuery(query: ListQuery): CheckedQuery {
  checkObject(query, 'query');
  checkOptionNames(query, LIST_QUERY, { of: 'the query of list, its first argument', elsewhere: ELSEWHERE });
  return {
    page: query.page === undefined ? undefined : checkWhole(query.page, 'page', 1),
    updatedSince:
      query.updatedSince === undefined ? undefined : checkTimestamp(query.updatedSince, 'updatedSince'),
    id: checkIds(query.id),
  };
}

function checkIds(id: IdBounds | undefined): IdBounds {
  if (id === undefined) return {};

  checkObject(id, 'id');
  const bounds: Record<string, unknown> = {};
  for (const name of BOUNDS) {
    if (id[name] !== undefined) bounds[name] = checkText(id[name], `id.${name}`);
  }
  const { between } = id;
  if (Array.isArray(between)) {
    if (between.length !== 2) throw new InvalidInputError('id.between', 'must be a pair of bounds');
    bounds.between = between.map((end) => checkText(end, 'id.between'));
    // 'A.' and 'B' would be sent as 'A...B', which a service can split in two ways.
    if (between.some((end: string) => end.includes('..') || end.startsWith('.') || end.endsWith('.'))) {
      throw new InvalidInputError(
        'id.between',
        'bounds must not contain "..", or begin or end with ".", because ".." separates them in the request',
      );
    }
  } else if (between !== undefined) {
    bounds.between = checkText(between, 'id.between');
  }
  return bounds;
}

/** The query parameters of one request: the caller's filters as they are, and beside them what the pagination adds. */
export function parameters(
  query: CheckedQuery,
  own: { page?: number | undefined; id?: IdBounds | undefined },
  pageParameter: string,
) {
  const sent: [string, string][] = [];
  if (own.page !== undefined) sent.push([pageParameter, String(own.page)]);
  sent.push(...idParameters({ ...query.id, ...own.id }));
  if (query.updatedSince !== undefined) sent.push(['updatedSince', query.updatedSince]);
  return sent;
}
