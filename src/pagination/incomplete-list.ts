import type { CallFacts } from '../errors/accounting-error.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import type { PageResponse } from './page.ts';

/** The error of a response that says itself that it is not the whole rest of the list. */
export function incompleteList(
  { rows, stated: { total } }: Pick<PageResponse<unknown>, 'rows' | 'stated'>,
  facts: CallFacts,
  { but, hint }: { readonly but: string; readonly hint: string },
): UnexpectedResponseError {
  const what =
    total === undefined
      ? `${rows.length} records, and says that another page follows`
      : `${rows.length} of ${total} records`;
  return new UnexpectedResponseError(
    `${facts.method} ${facts.path} returned ${what}, ${but}.`,
    { ...facts, hint },
    { status: 200, reason: 'incomplete_list' },
  );
}

/** The error of a service that showed records and then none of them, as while it rebuilds an index. */
export function rowsThenNone(what: string, facts: CallFacts, isResumed: boolean): UnexpectedResponseError {
  const hint = isResumed
    ? "Read again later. If they were really deleted, read from the start: leave resumeFrom out, or run the sync in mode 'full' until it succeeds."
    : 'Read again later.';
  return new UnexpectedResponseError(
    `${facts.method} ${facts.path} returned ${what}.`,
    { ...facts, retryable: true, hint },
    { status: 200, reason: 'incomplete_list' },
  );
}
