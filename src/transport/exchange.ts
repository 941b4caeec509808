import ky from 'ky';
import { networkFailure } from './network-failure.ts';

/** `fetch`, as this package calls it: a URL and an init, never a Request. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** One HTTP exchange. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  readonly fetch: FetchFunction | undefined;
}

/**
 * Sends one request and resolves with the head of its answer. Redirects come back as answers: `fetch` would carry the
 * key to wherever they point. Rejects with a Failure.
 */
export async function exchange({ url, method, headers, body, signal, fetch }: Exchange): Promise<Response> {
  const init: RequestInit = {
    method,
    headers,
    signal,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  };
  try {
    return await ky(url, {
      method,
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      // Not ky's Request: a `fetch` of another implementation refuses it. So ky is given no header, body or signal to
      // make one of. Looked up now, so that a test double which was started after the client is not bypassed.
      fetch: () => (fetch ?? globalThis.fetch)(url, init),
    });
  } catch (error) {
    throw networkFailure(error);
  }
}
