import type { LoggedRequest, Sandbox, SandboxFetch } from 'accounting-data-sdk/testing';
import type { Entry } from '../../../testing/window/timeline/entry.ts';

/** Where the requests are shown. */
let show: (entry: Entry) => void = () => {};
export function showOn(listener: typeof show): void {
  show = listener;
}

let count = 0;
/** Finds the request of a `fetch` in the log of the sandbox, which does not keep it. */
const MARK = 'x-playground';

/** Not that of the program, which may replace it. */
const soon = globalThis.setTimeout.bind(globalThis);

/**
 * A sandbox that shows the requests to its `fetch`, and to that of its `clientOptions`. With `isSlow` a delay is how the
 * service is, and not shown as a fault.
 */
export function observed(sandbox: Sandbox, { isSlow = false } = {}): Sandbox {
  const logged = new Map<string, LoggedRequest>();
  sandbox.onRequest((request) => {
    const headers = request.headers as Record<string, string>;
    logged.set(
      headers[MARK] ?? '',
      isSlow && request.fault === 'delay' ? { ...request, fault: undefined } : request,
    );
    delete headers[MARK];
  });
  const fetch: SandboxFetch = (input, init) => follow(new Request(input, init), logged, sandbox);
  return Object.create(sandbox, {
    fetch: { value: fetch, enumerable: true },
    clientOptions: { get: () => ({ ...sandbox.clientOptions, fetch }), enumerable: true },
  }) as Sandbox;
}

async function follow(
  request: Request,
  logged: Map<string, LoggedRequest>,
  sandbox: Sandbox,
): Promise<Response> {
  count += 1;
  const number = count;
  const startedAt = now();
  const url = new URL(request.url);
  const marked = new Request(request, {
    headers: { ...Object.fromEntries(request.headers), [MARK]: String(number) },
  });
  const { method, signal } = request;
  const names = Object.entries(sandbox.keys);
  const entryOf = (more: Pick<Entry, 'durationMs' | 'response'>): Entry => {
    const { status, error, records, fault, key } = logged.get(String(number)) ?? {};
    const { headers = {} } = more.response ?? {};
    const limit = Number(headers['x-ratelimit-limit'] ?? 0);
    return {
      number,
      method,
      url: url.pathname + url.search,
      path: url.pathname,
      key: key ?? names.find(([, value]) => value === request.headers.get('x-auth-token'))?.[0] ?? null,
      idempotencyKey: request.headers.get('idempotency-key'),
      status: status ?? null,
      error: error ?? null,
      records: records ?? null,
      fault: fault ?? null,
      startedAt,
      bodyBytes: 0,
      // Without a limit the sandbox reports a million.
      quota:
        limit === 0 || limit >= 1_000_000
          ? null
          : { limit, remaining: Number(headers['x-ratelimit-remaining']) },
      ...more,
    };
  };
  let isEnded = false;
  const end = (
    sent: NonNullable<Entry['response']>['sent'],
    headers: Record<string, string> = {},
    bodyBytes = 0,
  ) => {
    isEnded = true;
    show(entryOf({ durationMs: now() - startedAt, response: { sent, headers, bodyBytes } }));
  };
  // After the end of the request before, which the program may not have awaited.
  soon(() => {
    if (!isEnded) show(entryOf({ durationMs: null, response: null }));
  });
  try {
    const response = await sandbox.fetch(marked);
    const headers = Object.fromEntries(response.headers);
    if (response.body === null) end('whole', headers);
    else
      response
        .clone()
        .arrayBuffer()
        .then(
          ({ byteLength }) => end('whole', headers, byteLength),
          () => end(signal.aborted ? 'aborted' : 'partly', headers),
        );
    return response;
  } catch (error) {
    end(signal.aborted ? 'aborted' : 'nothing');
    throw error;
  }
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
