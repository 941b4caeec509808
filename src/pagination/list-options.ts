import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkText, text } from '../input/checks.ts';
import {
  type Check,
  is,
  type Named,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
} from '../internal/options.ts';
import { type RequestOptions, requestOptions } from '../transport/call-options.ts';
import { type PaginationChoice, paginationKind } from './by-cursor.ts';

export const paginationOptions = {
  /**
   * How the list is read: `keyset`, `page`, `none`, `link` or a cursor of your own; see the same option of the client. Default: the
   * client's.
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
  /**
   * How the service responds to a page after the last one, and to any other list without records: `not_found` is a 404 or
   * 410. The first response of a list must also be JSON: a page of a proxy does not show that a list is empty. Later, a
   * 404 of a gateway reads as a response without records, which is checked. Default: `empty`.
   */
  afterLastPage: option(is.oneOf('empty', 'not_found'), 'empty'),
  /**
   * The name of the parameter with the page number, for a service that ignores the documented one, such as API Platform's
   * `page`. Default: `_page`.
   */
  pageParameter: option(text, '_page'),
  /**
   * Query parameters of the service's own, such as `{ itemsPerPage: '100' }`, sent with each request of a list. Those of a
   * list replace the client's. A `resumeToken` and the state of a sync belong to them: to change them, run once in mode
   * `full`. They are not for filters, because for a sync a record that is not listed is deleted, and a push creates it again.
   */
  parameters: optional(is.object as Check<ListParameters>),
};

/** How a list is paginated. */
export interface PaginationOptions extends OptionInputs<typeof paginationOptions>, Named {}

/** PaginationOptions with every default applied. Each list decides for itself if no pagination was chosen. */
export type PaginationSettings = ResolvedOptions<typeof paginationOptions>;

/** A kind of pagination for each collection that is named. */
export type PaginationTable = { readonly [collection: string]: PaginationChoice | undefined };

/** What a client says of every list. */
export interface ListDefaults extends Omit<PaginationSettings, 'pagination'> {
  readonly pagination: PaginationChoice | PaginationTable | undefined;
}

/** A cursor is an object too. */
export function isPaginationTable(pagination: ListDefaults['pagination']): pagination is PaginationTable {
  return typeof pagination === 'object' && !('next' in pagination);
}

const ownOptions = {
  /** Resume an earlier list with the same filters: the `resumeToken` of a page or an error. Implies `keyset`. */
  resumeFrom: optional(is.string),
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
