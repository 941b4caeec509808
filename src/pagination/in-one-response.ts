import { evidenceOf, verdictOf } from '../reports/evidence.ts';
import { boundsGuard } from './id-bounds.ts';
import { type FetchPage, keepRecords, type Pages, type ReaderOptions } from './page.ts';

/** Requests a list once: for a service without pagination, whose response is the whole list and one state of the data. */
export async function* inOneResponse<T>(
  fetchPage: FetchPage<T>,
  { signal, bounds, facts }: ReaderOptions,
): Pages<T> {
  const response = await fetchPage({}, signal);
  signal.throwIfAborted();
  boundsGuard(bounds, facts)(response);
  const left = new Set(response.ids);
  const page = left.size === response.ids.length ? response : keepRecords(response, (id) => left.delete(id));
  yield {
    ...page,
    pagination: 'none',
    ...verdictOf(evidenceOf({ one_response: true })),
    repeated: 0,
    restarted: false,
    resumeToken: undefined,
  };
}
