import { createClient, type IdBounds, type ListHint, type ListOptions, type Page } from 'accounting-data-sdk';
import type { SimRecord } from './chronicle.ts';
import { InternalError, type SimServer } from './server.ts';

type Accounts = ReturnType<typeof clientOf>['accounts'];
export type SimPage = Page<SimRecord>;

let services = 0;

/** A client of the model of the service, without HTTP and without retries. */
export function clientOf(server: SimServer) {
  return createClient({
    baseUrl: `https://simulated-${++services}.example.com`,
    apiKey: 'key-of-the-company',
    fetch: async (url, init) => {
      init.signal?.throwIfAborted();
      return respond(server, new URL(url));
    },
    rateLimiter: false,
    timeoutMs: Number.POSITIVE_INFINITY,
    deadlineMs: Number.POSITIVE_INFINITY,
    retry: { maxAttempts: 1 },
  });
}

async function respond(server: SimServer, { searchParams }: URL): Promise<Response> {
  const since = searchParams.get('updatedSince');
  const page = searchParams.get('_page');
  const id: Record<string, string> = {};
  for (const [name, value] of searchParams) {
    const operator = /^id\[(\w+)\]$/.exec(name)?.[1];
    if (operator !== undefined) id[operator] = value;
  }
  try {
    const fetchPage = server.fetchPage({ updatedSince: since === null ? undefined : new Date(since) });
    const { records, serverTime } = await fetchPage({ id, ...(page === null ? {} : { page: Number(page) }) });
    return json(200, records, { date: serverTime.toUTCString() });
  } catch (error) {
    if (error instanceof InternalError) return json(500, { title: error.message });
    throw error;
  }
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export interface SimListOptions {
  readonly pagination?: 'page' | 'keyset';
  readonly prefetch?: number;
  readonly updatedSince?: Date | undefined;
  readonly id?: IdBounds | undefined;
  readonly hint?: ListHint | undefined;
  readonly resumeFrom?: string | undefined;
}

/** The pages of a list of the model's records. */
export function listPages(
  accounts: Accounts,
  { updatedSince, id, pagination = 'keyset', ...options }: SimListOptions = {},
): AsyncIterableIterator<SimPage> {
  const listOptions: ListOptions = { pagination, ...options };
  const pages = accounts.list({ updatedSince, id }, listOptions).pages();
  return pages as unknown as AsyncIterableIterator<SimPage>;
}
