import { type Named, type OptionInputs, option } from '../internal/options.ts';
import { API_PATH } from '../schemas/service-forms.ts';
import type { SandboxFetch } from './adapters/fetch.ts';
import { fetchResponse } from './adapters/fetch-response.ts';
import { is, resolved, shown } from './checks.ts';
import { createState } from './create-state.ts';
import type { FaultMatch } from './faults/conditions.ts';
import { applyFaults, type Fault } from './faults/fault.ts';
import { FaultRules } from './faults/fault-rules.ts';
import type { ServiceRequest, ServiceResponse } from './message.ts';
import { resolveSandboxOptions } from './options.ts';
import { wait } from './wait.ts';

/** A fault, and the conditions under which a request meets it. */
export interface FaultyFetchRule extends FaultMatch {
  readonly fault: Fault;
}

const faultyFetchOptions = {
  /** Decides which requests meet a fault with a `probability`. Default: 1. */
  seed: option(is.integer, 1),
};

/** Options of {@link faultyFetch}. */
export interface FaultyFetchOptions extends OptionInputs<typeof faultyFetchOptions>, Named {}

/**
 * A `fetch` that puts the faults of a sandbox around a real service, for the last test in staging:
 *
 * ```ts
 * const client = createClient({
 *   fetch: faultyFetch(fetch, [
 *     { fault: { kind: 'lost-response', committed: true }, method: 'POST', probability: 0.05 },
 *     { fault: { kind: 'status', status: 503 }, collection: 'products', skip: 3, times: 2 },
 *   ]),
 * });
 * ```
 * The rules and their conditions are those of `sandbox.faults.add`. A fault that is `committed` sends the request to the
 * service. The marker of `lost-response` has no effect, because the service keeps its own idempotency keys.
 *
 * Throws a TypeError for a fault, a field or a condition that does not exist.
 */
export function faultyFetch(
  fetch: SandboxFetch,
  rules: readonly FaultyFetchRule[],
  options: FaultyFetchOptions = {},
): SandboxFetch {
  const { seed } = resolved(faultyFetchOptions, options, 'faultyFetch');
  const faults = new FaultRules(seed);
  if (!Array.isArray(rules))
    throw new TypeError(
      `faultyFetch got ${shown(rules)} instead of rules. Pass an array such as [{ fault }].`,
    );
  for (const { fault, ...match } of rules as readonly FaultyFetchRule[]) faults.add(fault, match);
  const state = createState(resolveSandboxOptions({ seed }));

  return async (input, init) => {
    const request = new Request(input, init);
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
    const { method, headers, redirect, signal, url } = request;
    // Not the Request: an implementation of fetch rejects that of another one.
    const send = () =>
      fetch(url, {
        ...init,
        method,
        headers,
        redirect,
        signal,
        ...(body !== undefined && { body: body as BodyInit }),
      });
    const served = serviceRequest(request, body ?? new Uint8Array());
    const met = faults.pick(served).map(({ fault }) => fault);
    if (met.length === 0) return await send();

    const respond = async () => serviceResponse(await send());
    const delivery = await applyFaults(met, {
      request: served,
      state,
      respond,
      async respondWith(response, committed) {
        const real = committed ? (await respond()).headers : { Date: new Date().toUTCString() };
        // Names from fetch are in lower case.
        const own = Object.fromEntries(new Headers(response.headers));
        return { ...response, headers: { ...real, ...own } };
      },
      async wait(ms) {
        await wait(ms, signal);
        signal.throwIfAborted();
      },
    });
    return await fetchResponse(request, delivery);
  };
}

/** A request as the conditions of a fault see it: without a prefix of the base URL. */
function serviceRequest({ method, headers, url }: Request, body: Uint8Array): ServiceRequest {
  const { pathname, search } = new URL(url);
  const start = Math.max(0, pathname.indexOf(`${API_PATH}/`));
  return {
    method,
    path: pathname.slice(start),
    query: search.slice(1),
    headers: Object.fromEntries(headers),
    body,
  };
}

/** fetch has decompressed the body. */
const OF_THE_BODY = ['content-encoding', 'content-length', 'transfer-encoding'];

async function serviceResponse(response: Response): Promise<ServiceResponse> {
  const headers = [...response.headers].filter(([name]) => !OF_THE_BODY.includes(name));
  const body = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    body: body.length === 0 ? undefined : body,
  };
}
