import type { CustomCursor } from '../pagination/custom.ts';
import type { AfterLastPage } from '../pagination/step-options.ts';
import type { RequestOptions } from '../transport/call-options.ts';

/** How a list is walked. */
export interface PaginationOptions {
  /**
   * - `page`: `_page=1, 2, …` to an empty page. The documented way and the cheapest; a deletion during the walk can
   *   hide a row. The default.
   * - `keyset`: by intervals of ids, each delivered only once one answer showed it whole: nothing is hidden, and
   *   every page carries a `resumeToken`.
   * - a cursor of your own, for the day the service documents one.
   */
  pagination?: 'page' | 'keyset' | CustomCursor<unknown> | undefined;
  /** Pages asked for ahead while the last one is worked on; `keyset` takes at most 1. Default: 1. */
  prefetch?: number | undefined;
  /** How the service answers a page past the last one; not shown in the contract. Default: `empty`. */
  afterLastPage?: AfterLastPage | undefined;
}

/** Options of a list; limits such as `deadlineMs` hold for each page anew. */
export interface ListOptions extends RequestOptions, PaginationOptions {
  /** Go on where an earlier walk with the same filters stood: a page's or an error's `resumeToken`. Walks `keyset`. */
  resumeFrom?: string | undefined;
  /** The longest page of an earlier walk: saves `keyset` requests where little is to be read. */
  pageSizeHint?: number | undefined;
}
