import { type AnyAccountingError, isAccountingError } from '../../errors/guards.ts';
import { CLEARED } from '../../internal/cleared.ts';
import { jsonText } from '../../internal/json-text.ts';
import { type Row, readListBody } from '../list-body.ts';
import type { ToolsClient } from '../tools-client.ts';

/** Records of one collection, from all over it. */
export interface Sample {
  readonly rows: readonly Row[];
  readonly requests: number;
  /** Why the collection could not be read, where not even its first page could. */
  readonly error: Refusal | undefined;
}

/** An error, or a 2xx that is no list. */
type Refusal = AnyAccountingError | 'no_list';

type Query = Readonly<Record<string, string>>;

interface Sampling {
  readonly size: number;
  readonly signal: AbortSignal | undefined;
}

/** Requests beyond those that bring records: to find the end. */
const SEARCH = 14;

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * About `size` records, spread: the first page, what changed in the last week, page 2, 4, 8 … to the end, then the
 * middle of the widest gap. The first pages alone would show what records looked like years ago.
 */
export async function sampleCollection(
  client: ToolsClient,
  segment: string,
  { size, signal }: Sampling,
): Promise<Sample> {
  const rows = new Map<string, Row>();
  let requests = 0;
  /** How many records a request has brought that were not there; an error where it brought none at all. */
  const add = async (query: Query): Promise<number | Refusal> => {
    requests += 1;
    const answer = await read(client, { segment, query }, signal);
    if (!Array.isArray(answer)) return answer;
    const before = rows.size;
    for (const row of answer) rows.set(keyOf(row), row);
    return rows.size - before;
  };

  const first = await add({ _page: '1' });
  if (typeof first !== 'number') return { rows: [], requests, error: first };
  const most = Math.ceil(size / Math.max(1, first)) + SEARCH;
  // Ignored or refused it brings nothing new, and costs no more than this one request.
  if (first > 0) await add({ updatedSince: secondsOf(Date.now() - WEEK_MS) });

  const pages = [1];
  let end = first === 0 ? 1 : Number.POSITIVE_INFINITY;
  while (rows.size < size && requests < most) {
    const page = nextPage(pages, end);
    if (page === 0) break;
    const fresh = await add({ _page: String(page) });
    const isError = typeof fresh !== 'number';
    if (isError && (fresh === 'no_list' || fresh.code !== 'not_found')) break;
    // Nothing new: past the end, or `_page` is ignored and there is only one.
    if (isError || fresh === 0) end = Math.min(end, page);
    else pages.push(page);
  }
  return { rows: [...rows.values()], requests, error: undefined };
}

/** By which a record that comes again is known; one without an id by all that it holds. */
function keyOf(row: Row): string {
  return typeof row.id === 'string' || typeof row.id === 'number' ? `id ${row.id}` : jsonText(row);
}

function secondsOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Twice the last page while the end is not known; then the middle of the widest gap; 0 where there is none. */
function nextPage(pages: readonly number[], end: number): number {
  if (end === Number.POSITIVE_INFINITY) return (pages.at(-1) ?? 1) * 2;

  const marks = [0, ...pages, end].sort((a, b) => a - b);
  const gaps = marks
    .slice(1)
    .map((mark, index) => ({ from: marks[index] ?? 0, width: mark - (marks[index] ?? 0) }));
  const widest = gaps.reduce((a, b) => (b.width > a.width ? b : a));
  return widest.width < 2 ? 0 : widest.from + Math.floor(widest.width / 2);
}

async function read(
  client: ToolsClient,
  { segment, query }: { segment: string; query: Query },
  signal: AbortSignal | undefined,
): Promise<Row[] | Refusal> {
  try {
    const body = await client.request({ path: [segment], query }, { signal, [CLEARED]: true });
    return readListBody(body)?.rows ?? 'no_list';
  } catch (error) {
    signal?.throwIfAborted();
    if (!isAccountingError(error)) throw error;
    return error;
  }
}
