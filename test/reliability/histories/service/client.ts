import { setImmediate } from 'node:timers/promises';
import { createClient, type IdBounds, type ListOptions, type Page } from 'accounting-data-sdk';
import { InternalError, type SimRecord, type SimResponse, type SimServer } from './server.ts';

type Accounts = ReturnType<typeof clientOf>['accounts'];
export type SimPage = Page<SimRecord>;

let services = 0;

interface SimClientOptions {
  /** Turns of the event loop, before a request arrives and before its response does. */
  readonly latency?: () => number;
  /** Called with each request: how many are in flight, with that one. */
  readonly onSent?: (inFlight: number) => void;
}

/** A client of the model of the service, without HTTP and without retries. */
export function clientOf(
  server: SimServer,
  { latency = () => 0, onSent = () => undefined }: SimClientOptions = {},
) {
  const underway = new Set<AbortSignal>();
  return createClient({
    baseUrl: `https://simulated-${++services}.example.com`,
    apiKey: 'key-of-the-company',
    fetch: async (url, init) => {
      const { signal } = init;
      if (signal) underway.add(signal);
      onSent([...underway].filter(({ aborted }) => !aborted).length);
      try {
        await turns(latency());
        signal?.throwIfAborted();
        const response = await respond(server, new URL(url));
        await turns(latency());
        signal?.throwIfAborted();
        return response;
      } finally {
        if (signal) underway.delete(signal);
      }
    },
    rateLimiter: false,
    timeoutMs: Number.POSITIVE_INFINITY,
    deadlineMs: Number.POSITIVE_INFINITY,
    retry: { maxAttempts: 1 },
  });
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

async function respond(server: SimServer, { searchParams }: URL): Promise<Response> {
  try {
    const { records, serverTime } = await listed(server, searchParams);
    const rows = server.options.bare ? records.map(({ id, version }) => ({ id, version })) : records;
    return json(200, rows, { date: serverTime.toUTCString() });
  } catch (error) {
    if (error instanceof InternalError) return json(500, { title: error.message });
    throw error;
  }
}

/** The response to a list request with these query parameters. */
export function listed(
  server: SimServer,
  parameters: Iterable<readonly [string, string]>,
): Promise<SimResponse> {
  const { updatedSince, _page: page, ...filters } = Object.fromEntries(parameters);
  const id = Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name.replace(/^id\[(\w+)\]$/, '$1'), value]),
  );
  const since = updatedSince === undefined ? undefined : new Date(updatedSince);
  return server.fetchPage(since)({ id, ...(page === undefined ? {} : { page: Number(page) }) });
}

function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export interface SimListOptions {
  readonly prefetch?: number;
  readonly listOrder?: 'any' | 'id';
  readonly updatedSince?: Date | undefined;
  readonly id?: IdBounds | undefined;
  readonly resumeFrom?: string | undefined;
}

/** The pages of a list of the model's records, by keyset. */
export function listPages(
  accounts: Accounts,
  { updatedSince, id, ...options }: SimListOptions = {},
): AsyncIterableIterator<SimPage> {
  const listOptions: ListOptions = { pagination: 'keyset', ...options };
  const pages = accounts.list({ updatedSince, id }, listOptions).pages();
  return pages as unknown as AsyncIterableIterator<SimPage>;
}
