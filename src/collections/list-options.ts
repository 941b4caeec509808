import type { CustomCursor } from '../paging/custom.ts';
import type { PastEnd } from '../paging/step-options.ts';
import type { RequestOptions } from '../transport/call-options.ts';

/** How a list is walked. */
export interface WalkOptions {
  /**
   * - `pages`: `_page=1, 2, …` to an empty page. The documented way and the cheapest; a deletion during the walk can
   *   hide a row. The default.
   * - `certified`: by intervals of ids, each delivered only once one answer showed it whole: nothing is hidden, and
   *   every page carries a `resumeToken`.
   * - a cursor of your own, for the day the service documents one.
   */
  walk?: 'pages' | 'certified' | CustomCursor<unknown> | undefined;
  /** Pages asked for ahead while the last one is worked on; `certified` takes at most 1. Default: 1. */
  prefetch?: number | undefined;
  /** How the service answers a page past the last one; not shown in the contract. Default: `empty`. */
  pastEnd?: PastEnd | undefined;
}

/** Options of a list; limits such as `deadlineMs` hold for each page anew. */
export interface ListOptions extends RequestOptions, WalkOptions {
  /** Go on where an earlier walk with the same filters stood: a page's or an error's `resumeToken`. Walks `certified`. */
  resumeFrom?: string | undefined;
  /** The longest page of an earlier walk: saves `certified` requests where little is to be read. */
  pageSizeHint?: number | undefined;
}
