import {
  type ClientOptions,
  type CustomCursor,
  createClient,
  type IdBounds,
  type ListOptions,
  type ListQuery,
  type Page,
} from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';

/** A client of a sandbox that has accounts with these ids, and the query of each request. */
export function accountsOf(
  ids: readonly (string | number | bigint)[],
  options: SandboxOptions = {},
  clientOptions: ClientOptions = {},
) {
  const sandbox = createSandbox(options);
  for (const id of ids) sandbox.store.accounts.insert({ id: String(id) });
  const client = createClient({ ...sandbox.clientOptions, retry: { maxAttempts: 1 }, ...clientOptions });
  const queries = () =>
    sandbox.requests.map(({ query }) =>
      Object.entries(query)
        .map(([name, value]) => `${name}=${value}`)
        .join('&'),
    );
  return { sandbox, client, accounts: client.accounts, queries };
}

/** A service that documents a cursor: the last id of a page. */
export const byId: CustomCursor<unknown> = {
  first: {},
  next: ({ ids }) => (ids.length === 0 ? undefined : { id: { gt: ids.at(-1) } }),
};

/** No limit for toArray. */
export const everything = { limit: Number.POSITIVE_INFINITY };

/** The parameters of a list request. */
export interface Query {
  readonly page: number | undefined;
  readonly id: IdBounds;
  readonly parameters: URLSearchParams;
  /** Which request it is, from 1. */
  readonly count: number;
}

/** The rows of a page, or a whole response. */
export type Rows = readonly object[] | Response;

/** More than any read of these tests needs. */
const MOST_REQUESTS = 5_000;

/** A client of a service that responds as the function says, as long as a read can end. */
export function serviceOf(
  respond: (query: Query, signal: AbortSignal | null | undefined) => Rows | Promise<Rows>,
  options: ClientOptions = {},
) {
  const queries: string[] = [];
  const fetch = scriptedFetch(async ({ url, init }) => {
    const { searchParams: parameters } = url;
    if (queries.length === MOST_REQUESTS) throw new Error('The read sends requests without end.');
    queries.push(decodeURIComponent(url.search.slice(1)));
    const page = parameters.get('_page');
    const bounds = [...parameters].flatMap(([name, value]) => {
      const operator = /^id\[(\w+)\]$/.exec(name)?.[1];
      return operator === undefined ? [] : [[operator, value]];
    });
    const query = {
      page: page === null ? undefined : Number(page),
      id: Object.fromEntries(bounds) as IdBounds,
      parameters,
      count: queries.length,
    };
    const response = await respond(query, init.signal);
    return response instanceof Response ? response : jsonResponse(response);
  });
  const client = scriptedClient(fetch, { rateLimiter: false, retry: { maxAttempts: 1 }, ...options });
  const { accounts } = client;
  return {
    accounts,
    /** The query of each request so far. */
    queries,
    pages: (query?: ListQuery, listOptions?: ListOptions) => accounts.list(query, listOptions).pages(),
  };
}

export const rowsOf = (ids: readonly (string | number)[]) => ids.map((id) => ({ id: String(id) }));

export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Rows within bounds, compared as numbers. */
export function inside(ids: readonly number[], bounds: IdBounds): number[] {
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = bounds;
  const [above, from, below, to] = [Number(gt), Number(gte), Number(lt), Number(lte)];
  return ids.filter((id) => id > above && id >= from && id < below && id <= to);
}

/** A service that lists these ids in this order, as documented. */
export const listing = (ids: readonly number[], pageSize: number, options?: ClientOptions) =>
  serviceOf(({ page = 1, id }) => {
    const from = (page - 1) * pageSize;
    return rowsOf(inside(ids, id).slice(from, from + pageSize));
  }, options);

export const notFound = () => problemResponse(404, { type: 'not_found' });

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

export async function idsOf(items: AsyncIterable<{ id: string }>): Promise<string[]> {
  return (await all(items)).map(({ id }) => id);
}

export type AccountPage = Page<{ id: string }>;
