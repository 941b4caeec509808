import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkObject, checkText, text } from '../input/checks.ts';
import {
  type Check,
  is,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
} from '../internal/options.ts';
import { type RequestOptions, requestOptions } from '../transport/call-options.ts';
import { paginationKind } from './by-cursor.ts';

export const paginationOptions = {
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
  pagination: optional(paginationKind),
  /**
   * Pages requested ahead while you work on the last one. 4 is good for a read of everything. A cursor takes at most 1, and
   * so does a list of changes. Default: 1.
   */
  prefetch: option(is.integerFrom(0), 1),
  /**
   * In which order the service lists. `id`: by ascending id, so a full page shows every record up to its last one. With sparse
   * ids that saves a third of the requests of `keyset`, but none are sent ahead. If the service uses another order, records
   * can be missing; a page that shows it is read as with `any`, and so are the first pages if they can be sorted by date.
   * Default: `any`.
   */
  listOrder: option(is.oneOf('any', 'id'), 'any'),
  /** How the service responds to a page after the last one; the API documentation does not say. Default: `empty`. */
  afterLastPage: option(is.oneOf('empty', 'not_found'), 'empty'),
  /**
   * The name of the parameter with the page number, for a service that ignores the documented one, such as API Platform's
   * `page`. Default: `_page`.
   */
  pageParameter: option(text, '_page'),
};

/** How a list is paginated. */
export interface PaginationOptions extends OptionInputs<typeof paginationOptions> {}

/** PaginationOptions with every default applied. Each list decides for itself if no pagination was chosen. */
export type PaginationSettings = ResolvedOptions<typeof paginationOptions>;

const ownOptions = {
  /** Resume an earlier list with the same filters: the `resumeToken` of a page or an error. Implies `keyset`. */
  resumeFrom: optional(is.string),
  /**
   * Query parameters of the service's own, such as `{ itemsPerPage: '100' }`, sent with each request of the list. A
   * `resumeToken` belongs to them, as to the filters. Names that the client sets itself are rejected.
   */
  parameters: optional(is.object as Check<ListParameters>),
};

export const listOptions = { ...requestOptions, ...paginationOptions, ...ownOptions };

/** Options of a list; times such as `deadlineMs` apply to each page. */
export interface ListOptions extends RequestOptions, PaginationOptions, OptionInputs<typeof ownOptions> {}

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
