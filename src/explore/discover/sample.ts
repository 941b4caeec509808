import { type AnyAccountingError, isAccountingError } from '../../errors/guards.ts';
import { type NextLink, nextLink } from '../../schemas/list-statement.ts';
import type { ResponseMeta } from '../../transport/call-options.ts';
import { type ExploreClient, failsEverywhere, listSettings } from '../explore-client.ts';
import { type Row, readListBody } from '../rows.ts';

/** Records from all over one collection. */
interface Sample {
  readonly rows: readonly Row[];
  /** Retries included. */
  readonly requests: number;
  /** Why the collection could not be read. */
  readonly error: ListError | undefined;
}

/** An error, or a 2xx that is not a list. */
type ListError = AnyAccountingError | 'no_list';

type Query = Readonly<Record<string, string>>;

/** Requests beyond those that bring records: they find the last page. */
const SEARCH = 15;

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Reads about `size` records: the first page, what changed in the last week, pages 2, 4, 8 … to the end, then the middle
 * of the widest gap; without page numbers one page after the other. The first pages alone may show what records looked like years ago.
 */
export async function sampleCollection(
  client: ExploreClient,
  segment: string,
  { size, signal }: { readonly size: number; readonly signal: AbortSignal | undefined },
): Promise<Sample> {
  const rows = new Map<string, Row>();
  const { parameters, pageParameter } = listSettings(client);
  let requests = 0;
  let pagesRead = 0;
  let next: NextLink | undefined;
  /** How many new records a request brought, or its error. */
  const read = async (added: Query): Promise<number | ListError> => {
    pagesRead += 1;
    const query = { ...parameters, ...added };
    const page = await requestPage(client, { segment, query, signal });
    requests += page.attempts;
    if (!('rows' in page)) return page.error;
    ({ next } = page);
    const before = rows.size;
    for (const row of page.rows) rows.set(identityOf(row), row);
    return rows.size - before;
  };

  const first = await read({ [pageParameter]: '1' });
  if (typeof first !== 'number') return { rows: [], requests, error: first };
  const maxRequests = Math.ceil(size / Math.max(1, first)) + SEARCH;
  const second = next;
  // If the service ignores or rejects the filter, this one request is wasted.
  if (first > 0)
    await read({ updatedSince: new Date(Date.now() - WEEK_MS).toISOString().replace(/\.\d+/, '') });

  const pages = [1];
  const [...names] = new Set([pageParameter, '_page', 'page']);
  let parameter = names.shift() ?? pageParameter;
  let end = first === 0 ? 1 : Number.POSITIVE_INFINITY;
  while (rows.size < size && pagesRead < maxRequests) {
    const page = nextPage(pages, end);
    if (page === undefined) break;
    let found = await read({ [parameter]: String(page) });
    // Some services read another name, and ignore this one.
    while (found === 0 && page === 2 && names.length > 0) {
      parameter = names.shift() ?? parameter;
      found = await read({ [parameter]: '2' });
    }
    const error = typeof found === 'number' ? undefined : found;
    if (isUnfinished(error)) return { rows: [], requests, error };
    if (error === 'no_list' || (error !== undefined && error.code !== 'not_found')) break;
    // Nothing new: after the last page, or the service ignores all names.
    if (error !== undefined || found === 0) end = Math.min(end, page);
    else pages.push(page);
  }
  if (pages.length === 1) {
    // A service that links its pages instead.
    next = second;
    while (next !== undefined && rows.size < size && pagesRead < maxRequests) {
      const found = await read(Object.fromEntries(next.query));
      if (typeof found === 'number') continue;
      if (isUnfinished(found)) return { rows: [], requests, error: found };
      break;
    }
  }
  return { rows: [...rows.values()], requests, error: undefined };
}

/** Whether an error leaves a part of a collection that a later run may read. Others are how the service ends a list. */
function isUnfinished(error: ListError | undefined): boolean {
  return typeof error === 'object' && (error.retryable || failsEverywhere(error.code));
}

/** What identifies a record: its id, or all that it holds. */
function identityOf(row: Row): string {
  return typeof row.id === 'string' || typeof row.id === 'number' ? `id ${row.id}` : JSON.stringify(row);
}

/** Twice the last page while the end is unknown; then the middle of the widest gap, if there is one. */
function nextPage(pages: readonly number[], end: number): number | undefined {
  if (end === Number.POSITIVE_INFINITY) return (pages.at(-1) ?? 1) * 2;

  const marks = [0, ...pages, end].sort((a, b) => a - b);
  const gaps = marks
    .slice(1)
    .map((mark, index) => ({ from: marks[index] ?? 0, width: mark - (marks[index] ?? 0) }));
  const widest = gaps.reduce((a, b) => (b.width > a.width ? b : a));
  return widest.width < 2 ? undefined : widest.from + Math.floor(widest.width / 2);
}

async function requestPage(
  client: ExploreClient,
  { segment, query, signal }: { segment: string; query: Query; signal: AbortSignal | undefined },
): Promise<
  { readonly attempts: number } & (
    | { readonly rows: readonly Row[]; readonly next: NextLink | undefined }
    | { readonly error: ListError }
  )
> {
  let link: string | undefined;
  let attempts = 0;
  const onResponse = (meta: ResponseMeta) => {
    link = meta.headers.link;
    attempts = meta.attempts;
  };
  try {
    const body = await client.request({ path: [segment], query, redactKey: true }, { signal, onResponse });
    const list = readListBody(body);
    if (list === undefined) return { attempts, error: 'no_list' };
    return { attempts, rows: list.rows, next: nextLink(body, link) };
  } catch (error) {
    signal?.throwIfAborted();
    if (!isAccountingError(error)) throw error;
    return { attempts: error.attempts, error };
  }
}
