import { checkObject, checkOneOf, checkText, checkWhole } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { REQUEST_OPTIONS, type RequestOptions } from '../transport/call-options.ts';
import { type CustomCursor, checkPaginationKind } from './by-cursor.ts';
import type { AfterLastPage } from './page.ts';

/** How a list is paginated. */
export interface PaginationOptions {
  /**
   * - `keyset`: by intervals of ids. No deletion and no write hides a record, every page carries a `resumeToken`, and
   *   `page.complete` says whether anything can be missing in the order of the service. It needs one free operator for each
   *   side of `id`: not both `gt` and `gte`, nor both `lt` and `lte`.
   * - `page`: `_page=1, 2, …` until an empty page, if the order of the service or the fewest requests matter. A record that
   *   is deleted during the read can hide another one, and so can an order in which many records are equal.
   * - `none`: one request is the whole list, for a service without pagination. It has nothing to resume.
   * - a cursor of your own, for a service that documents one.
   *
   * Default: `keyset`. It becomes `page` for a query with `page` or with both operators of one side of `id`; also if ids are not integers, and, unless you name `keyset`, if the service ignores or rejects its
   * bounds before a record was delivered. `first()` reads by page.
   */
  pagination?: 'keyset' | 'page' | 'none' | CustomCursor<unknown> | undefined;
  /**
   * Pages requested ahead while you work on the last one. 4 is good for a read of everything. A cursor takes at most 1, and
   * so does `keyset` in a list of changes or in another order than that of ids. Default: 1.
   */
  prefetch?: number | undefined;
  /** How the service responds to a page after the last one; the API documentation does not say. Default: `empty`. */
  afterLastPage?: AfterLastPage | undefined;
  /**
   * The name of the parameter with the page number, for a service that ignores the documented one, such as API Platform's
   * `page`. Default: `_page`.
   */
  pageParameter?: string | undefined;
}

export const PAGINATION_OPTIONS: OptionNames<PaginationOptions> = {
  pagination: true,
  prefetch: true,
  afterLastPage: true,
  pageParameter: true,
};

/** PaginationOptions with every default applied. Each list decides for itself if no pagination was chosen. */
export type PaginationSettings = Required<{
  readonly [Name in Exclude<keyof PaginationOptions, 'pagination'>]: NonNullable<PaginationOptions[Name]>;
}> & { readonly pagination: PaginationOptions['pagination'] };

/** The options of a client or of one list over other settings. */
export function paginationSettings(
  settings: PaginationSettings,
  options: PaginationOptions,
): PaginationSettings {
  const {
    pagination = settings.pagination,
    prefetch = settings.prefetch,
    afterLastPage = settings.afterLastPage,
    pageParameter = settings.pageParameter,
  } = options;
  if (pagination !== undefined) checkPaginationKind(pagination);
  return {
    pagination,
    prefetch: checkWhole(prefetch, 'prefetch', 0),
    afterLastPage: checkOneOf(afterLastPage, 'afterLastPage', ['empty', 'not_found']),
    pageParameter: checkText(pageParameter, 'pageParameter'),
  };
}

/** Options of a list; times such as `deadlineMs` apply to each page. */
export interface ListOptions extends RequestOptions, PaginationOptions {
  /** Resume an earlier list with the same filters: the `resumeToken` of a page or an error. Implies `keyset`. */
  resumeFrom?: string | undefined;
  /**
   * Query parameters of the service's own, such as `{ itemsPerPage: '100' }`, sent with each request of the list. A
   * `resumeToken` belongs to them, as to the filters. Names that the client sets itself are rejected.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Query parameters of the service's own, by name. */
export type ListParameters = Readonly<Record<string, string>>;

/** Checks the option `parameters`: none of them may be one that the client sets itself. */
export function checkParameters(
  parameters: ListParameters | undefined,
  pageParameter = '_page',
): ListParameters {
  if (parameters === undefined) return {};
  checkObject(parameters, 'parameters');
  for (const [name, value] of Object.entries(parameters)) {
    const isOwn = ['_page', pageParameter, 'updatedSince', 'id'].includes(name) || name.startsWith('id[');
    if (name === '' || isOwn) {
      throw new InvalidInputError(
        `parameters.${name}`,
        'is set by the client: pass it in the first argument of list, or as pageParameter',
      );
    }
    checkText(value, `parameters.${name}`);
  }
  return { ...parameters };
}

export const LIST_OPTIONS: OptionNames<ListOptions> = {
  ...REQUEST_OPTIONS,
  ...PAGINATION_OPTIONS,
  resumeFrom: true,
  // Names of the service.
  parameters: true,
};
