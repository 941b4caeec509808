import { NotFoundError } from '../../../src/errors/not-found-error.ts';
import type {
  FetchPage,
  IdBounds,
  Page,
  PageQuery,
  PageResponse,
  Pages,
} from '../../../src/pagination/page.ts';

export interface Row {
  readonly id: string;
}

/** An answer with these ids, and rows that did not fit their schema. */
export function answerOf(
  ids: readonly string[],
  invalid: readonly (string | undefined)[] = [],
): PageResponse<Row> {
  return {
    rows: ids.map((id) => ({ id })),
    records: ids.map((id) => ({ id })),
    ids,
    invalid: invalid.map((id, index) => ({ collection: 'accounts', id, issues: [], record: { id, index } })),
    rateLimit: undefined,
    serverTime: undefined,
    requestedAt: 0,
    durationMs: 0,
  };
}

export interface Service {
  readonly fetchPage: FetchPage<Row>;
  /** What was asked for, in order. */
  readonly asked: PageQuery[];
}

/** A service that answers as the function says, and remembers what it was asked. */
export function service(
  answer: (query: PageQuery, count: number) => PageResponse<Row> | Promise<PageResponse<Row>>,
): Service {
  const asked: PageQuery[] = [];
  return {
    asked,
    fetchPage: async (query, signal) => {
      signal?.throwIfAborted();
      asked.push(query);
      return await answer(query, asked.length);
    },
  };
}

/** A service that does what the contract says, with rows in the order given. */
export function listing(ids: readonly (string | number)[], pageSize: number): Service {
  const rows = ids.map(String);
  return service(({ page = 1, id }) => {
    const inside = rows.filter((row) => isInside(row, id));
    return answerOf(inside.slice((page - 1) * pageSize, page * pageSize));
  });
}

export function isInside(row: string, { gt, gte, lt, lte }: IdBounds = {}): boolean {
  const id = BigInt(row);
  return (
    (gt === undefined || id > BigInt(gt)) &&
    (gte === undefined || id >= BigInt(gte)) &&
    (lt === undefined || id < BigInt(lt)) &&
    (lte === undefined || id <= BigInt(lte))
  );
}

/** The ids from `from` to `to`. */
export function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
}

export async function pagesOf<T>(pages: Pages<T>): Promise<Page<T>[]> {
  const all: Page<T>[] = [];
  for await (const page of pages) all.push(page);
  return all;
}

/** The ids that a read delivers. */
export async function delivered(pages: Pages<Row>): Promise<string[]> {
  return (await pagesOf(pages)).flatMap((page) => page.records.map((record) => record.id));
}

/** Lets everything that is ready run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** A promise that is settled from outside. */
export function deferred<V>() {
  let resolve: (value: V) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<V>((onValue, onReason) => {
    resolve = onValue;
    reject = onReason;
  });
  return { promise, resolve, reject };
}

/** A 404 as the transport throws it. */
export function notFound(): NotFoundError {
  const problem = { type: 'not_found', violations: [], extensions: {} };
  const absent = { requestId: undefined, rateLimit: undefined, retryAfterMs: undefined, headers: {} };
  const answer = { status: 404, problem, ...absent } as unknown as ConstructorParameters<
    typeof NotFoundError
  >[2];
  return new NotFoundError('GET /accounts: not found', { method: 'GET', path: '/accounts' }, answer);
}
