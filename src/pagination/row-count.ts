import type { PageResponse } from './page.ts';

/** All rows of an answer, also those that did not fit their schema: they fill a page all the same. */
export function rowCount(answer: PageResponse<unknown>): number {
  return answer.ids.length + answer.invalid.length;
}
