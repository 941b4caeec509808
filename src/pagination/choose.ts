import type { CallFacts } from '../errors/accounting-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { withDefaults } from '../internal/options.ts';
import { byCursor, type CustomCursor, customFollower, type PaginationChoice } from './by-cursor.ts';
import { linkFollower } from './by-link.ts';
import { byPage } from './by-page.ts';
import { inOneResponse } from './in-one-response.ts';
import { byKeyset } from './keyset/keyset.ts';
import {
  isPaginationTable,
  type ListDefaults,
  type ListOptions,
  type PaginationSettings,
  paginationOptions,
} from './list-options.ts';
import type { FetchPage, FetchWhole, IdBounds, Pages, ResumePosition } from './page.ts';
import type { Wanted } from './paginator.ts';

const ROWS_CAME_AGAIN =
  'rows came twice, so others may be missing: many records share what the list is sorted by, or one was added during the read.';

const OTHER_ORDER =
  "the service does not list by ascending id, so records may be missing: leave out listOrder: 'id', and read again.";

/** The caller's filters, checked: values as they go over the wire. */
export interface Filters {
  readonly page: number | undefined;
  readonly updatedSince: string | undefined;
  readonly id: IdBounds;
}

/** How one list is read. */
export interface ChosenPagination extends PaginationSettings {
  readonly pagination: PaginationChoice;
  /** Whether keyset pagination may continue by page: if the caller did not choose it by name. */
  readonly mayReadByPage: boolean;
}

/** What a client says of the lists of a collection. */
export function paginationOf(
  { pagination }: Pick<ListDefaults, 'pagination'>,
  collection: string,
): PaginationChoice | undefined {
  return isPaginationTable(pagination) ? pagination[collection] : pagination;
}

/** Chooses the pagination of a list. What does not go together is rejected here, before anything is sent. */
export function choosePagination(
  query: Filters,
  options: ListOptions,
  ofClient: PaginationSettings,
): ChosenPagination {
  const isResumed = options.resumeFrom !== undefined;
  const inherited = isResumed ? { ...ofClient, pagination: 'keyset' as const } : ofClient;
  const { pagination: chosen, ...settings } = withDefaults(paginationOptions, options, inherited);
  const needsPages = query.page !== undefined || isSideTaken(query);
  const pagination = chosen ?? (needsPages ? 'page' : 'keyset');
  if (isResumed && pagination !== 'keyset') {
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
  return { ...settings, pagination, mayReadByPage: chosen === undefined };
}

/**
 * Keyset pagination sends the caller's operators unchanged and bounds its intervals with the others, so each side must
 * leave it one. `between` is sent beside them and takes none.
 */
function isSideTaken({ id }: Filters): boolean {
  return (id.gt !== undefined && id.gte !== undefined) || (id.lt !== undefined && id.lte !== undefined);
}

interface Read extends Wanted {
  readonly query: Filters;
  readonly signal: AbortSignal;
  readonly facts: CallFacts;
  /** The position that the caller resumes from. */
  readonly resumeFrom: ResumePosition | undefined;
  readonly tokenOf: (position: ResumePosition) => string;
  /** Writes a warning about the collection to the logger of the client. */
  readonly warn: (text: string) => void;
}

/** The pages of a list, read as chosen. */
export function readPages<T>(
  fetchWhole: FetchWhole<T>,
  { pagination, mayReadByPage, prefetch, listOrder }: ChosenPagination,
  { query, isFirst, warn, resumeFrom, tokenOf, ...read }: Read,
): Pages<T> {
  const onlyChanges = query.updatedSince !== undefined;
  // Changes are usually few.
  const reading = { ...read, bounds: query.id, prefetch: onlyChanges ? Math.min(prefetch, 1) : prefetch };
  const fetchPage: FetchPage<T> = async (added) => (await fetchWhole(added)).page;
  if (pagination === 'none') return inOneResponse(fetchPage, reading);

  const byNumber = {
    ...reading,
    checksEnd: !onlyChanges && isFirst !== true,
    onRepeat: () => warn(ROWS_CAME_AGAIN),
  };
  // Intervals of ids have an order of their own.
  const isInOrderOfService = isFirst === true && pagination === 'keyset' && resumeFrom === undefined;
  if (pagination === 'page' || isInOrderOfService) {
    return byPage(fetchPage, { ...byNumber, start: query.page ?? 1 });
  }
  if (pagination === 'link') return byCursor(fetchWhole, linkFollower<T>(read.facts), reading);
  if (pagination !== 'keyset')
    return byCursor(fetchWhole, customFollower(pagination as CustomCursor<T>), reading);

  return byKeyset(fetchPage, {
    ...byNumber,
    resumeFrom,
    mayReadByPage,
    onlyChanges,
    listOrder,
    onOtherOrder: () => warn(OTHER_ORDER),
    tokenOf,
  });
}
