import { begin, type Core } from '../exchange.ts';
import type { Delivery } from '../faults/delivery.ts';
import type { ServiceRequest } from '../service/message.ts';
import { wait } from '../wait.ts';
import { unknownHost } from './network-error.ts';
import { toResponse } from './to-response.ts';

/** The sandbox as a `fetch`. */
export type SandboxFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** How many redirects are followed, as in browsers. */
const MAX_REDIRECTS = 20;

/** A Request as the service sees it. */
export async function toServiceRequest(request: Request): Promise<ServiceRequest> {
  const { pathname, search } = new URL(request.url);
  const body = request.body === null ? new Uint8Array() : new Uint8Array(await request.arrayBuffer());
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    headers: Object.fromEntries(request.headers),
    body,
  };
}

/** The response to a HEAD has no body. */
function withoutBody(delivery: Delivery): Delivery {
  const { reply } = delivery;
  return reply === undefined ? delivery : { ...delivery, reply: { ...reply, body: undefined } };
}

/** Takes a Request through the service and its faults. The commit happens even if the caller has gone meanwhile. */
export async function answerRequest(core: Core, request: Request): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  const exchange = begin(core, await toServiceRequest(request));
  const deliver = () => (request.method === 'HEAD' ? withoutBody(exchange.deliver()) : exchange.deliver());
  if (exchange.waitMs === 0) return toResponse(deliver(), signal);

  const delivered = wait(exchange.waitMs).then(deliver);
  const gone = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: gone.signal });
  });
  try {
    return await toResponse(await Promise.race([delivered, aborted]), signal);
  } finally {
    gone.abort();
  }
}

function redirectTarget(request: Request, response: Response): URL | undefined {
  const location = response.headers.get('Location');
  const redirects = [301, 302, 303, 307, 308].includes(response.status);
  return redirects && location !== null ? new URL(location, request.url) : undefined;
}

/** The request that a redirect makes of another, by the rules of fetch. */
async function redirected(request: Request, status: number, to: URL): Promise<Request> {
  const keeps = status === 307 || status === 308 || (status !== 303 && request.method !== 'POST');
  const { method, headers, signal } = request;
  if (!keeps && method !== 'GET') return new Request(to, { headers, signal });
  const body = method === 'GET' ? null : await request.clone().arrayBuffer();
  return new Request(to, { method, headers, signal, body });
}

/** A Response that was made says nothing of where it is from; one that was fetched does. */
function placed(response: Response, url: string, redirected: boolean): Response {
  // Interceptors put their own address in place of this one, so that it stays open to change.
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
  });
}

/** `sandbox.fetch`. `serves` says which origins are the sandbox's; any other cannot be reached through it. */
export function createFetch(core: Core, serves: (origin: string) => boolean): SandboxFetch {
  return async (input, init) => {
    let request = new Request(input, init);
    const mode = request.redirect;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const { origin, host } = new URL(request.url);
      if (!serves(origin)) throw unknownHost(host);

      // A copy is kept for a redirect that sends the body again; only then is one needed.
      const response = await answerRequest(
        core,
        mode === 'follow' && request.body !== null ? request.clone() : request,
      );
      const target = redirectTarget(request, response);
      if (target === undefined || mode === 'manual') return placed(response, request.url, hops > 0);
      if (mode === 'error') throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
      request = await redirected(request, response.status, target);
    }
    throw new TypeError('fetch failed', { cause: new Error('redirect count exceeded') });
  };
}
