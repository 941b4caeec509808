import { type Core, exchange } from '../exchange.ts';
import type { ServiceRequest } from '../message.ts';
import { untilAborted } from '../wait.ts';
import { fetchResponse, unknownHost } from './fetch-response.ts';

/** The sandbox as a `fetch`. */
export type SandboxFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** As in browsers. */
const MAX_REDIRECTS = 20;

/** `sandbox.fetch`. `serves` says which origins are the sandbox's; any other is an unknown host. */
export function createFetch(core: Core, serves: (origin: string) => boolean): SandboxFetch {
  return async (input, init) => {
    let request = new Request(input, init);
    const mode = request.redirect;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { origin, host } = new URL(request.url);
      if (!serves(origin)) throw unknownHost(host);

      // A redirect may send the body again.
      const keepsBody = mode === 'follow' && request.body !== null;
      const response = await respond(core, keepsBody ? request.clone() : request);
      const target = redirectTarget(request, response);
      if (target === undefined || mode === 'manual') return withUrl(response, request.url, redirects > 0);
      if (mode === 'error') throw new TypeError('fetch failed', { cause: new Error('unexpected redirect') });
      request = await redirectedRequest(request, response.status, target);
    }
    throw new TypeError('fetch failed', { cause: new Error('redirect count exceeded') });
  };
}

/** Takes a Request through the service and its faults. The request is processed even if the caller aborts meanwhile. */
async function respond(core: Core, request: Request): Promise<Response> {
  const { signal } = request;
  signal.throwIfAborted();
  let ended: (isWhole: boolean) => void = () => {};
  const onEnd = (listener: typeof ended) => {
    ended = listener;
  };
  const served = toServiceRequest(request).then((serviceRequest) =>
    exchange(core, serviceRequest, { onEnd }),
  );
  const aborted = untilAborted(signal).then(() => Promise.reject(signal.reason));
  try {
    return await fetchResponse(request, await Promise.race([served, aborted]), (isWhole) => ended(isWhole));
  } catch (error) {
    ended(false);
    throw error;
  }
}

async function toServiceRequest(request: Request): Promise<ServiceRequest> {
  const { pathname, search } = new URL(request.url);
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    headers: Object.fromEntries(request.headers),
    body: request.body === null ? new Uint8Array() : new Uint8Array(await request.arrayBuffer()),
  };
}

function redirectTarget(request: Request, response: Response): URL | undefined {
  const location = response.headers.get('Location');
  const redirects = [301, 302, 303, 307, 308].includes(response.status);
  return redirects && location !== null ? new URL(location, request.url) : undefined;
}

/** The request after a redirect, by the rules of fetch. */
async function redirectedRequest(request: Request, status: number, to: URL): Promise<Request> {
  const { method, headers, signal } = request;
  const isRead = method === 'GET' || method === 'HEAD';
  const becomesGet = status === 303 ? !isRead : status < 303 && method === 'POST';
  if (becomesGet) return new Request(to, { headers, signal });
  const body = isRead ? null : await request.clone().arrayBuffer();
  return new Request(to, { method, headers, signal, body });
}

/** A Response that was constructed has no URL; one that was fetched has. */
function withUrl(response: Response, url: string, redirected: boolean): Response {
  // Configurable, because interceptors such as msw set their own.
  return Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
  });
}
