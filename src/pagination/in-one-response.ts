import { evidenceOf, verdictOf } from '../reports/evidence.ts';
import { boundsGuard } from './id-bounds.ts';
import { incompleteList } from './incomplete-list.ts';
import { type FetchPage, keepRecords, type Pages, type ReaderOptions } from './page.ts';

/** Lengths that a first page often has. A list that is as long may be one. */
const USUAL_LENGTHS = [10, 20, 25, 30, 50, 100, 200, 250, 500, 1_000];

const HINT = "Use another pagination for this collection, such as 'keyset', 'page' or 'link'.";

/** Requests a list once: for a service without pagination, whose response is the whole list and one state of the data. */
export async function* inOneResponse<T>(
  fetchPage: FetchPage<T>,
  { signal, bounds, facts }: ReaderOptions,
): Pages<T> {
  const response = await fetchPage({});
  signal.throwIfAborted();
  boundsGuard(bounds, facts)(response);
  const { length } = response.rows;
  const { total, hasNext } = response.stated;
  if (hasNext === true || (total ?? 0) > length)
    throw incompleteList(response, facts, { but: "although pagination is 'none'", hint: HINT });
  const isStated = hasNext === false || total !== undefined;
  const evidence = evidenceOf(
    {
      stated_end: isStated,
      one_response: !isStated,
      usual_length: !isStated && USUAL_LENGTHS.includes(length),
    },
    length,
  );
  const left = new Set(response.ids);
  const page = left.size === response.ids.length ? response : keepRecords(response, (id) => left.delete(id));
  yield {
    ...page,
    pagination: 'none',
    ...verdictOf(evidence),
    repeated: 0,
    restarted: false,
    resumeToken: undefined,
  };
}
