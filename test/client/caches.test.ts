import { createClient, type FetchFunction } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';

/** A `fetch` that caches as the one of Next.js 13 and 14 does in a route: every method, unless the request says otherwise. */
function cachingFetch(fetch: FetchFunction) {
  const kept = new Map<string, Response>();
  return async (input: string | Request, init: RequestInit = {}): Promise<Response> => {
    const request = new Request(input, init);
    const body = await request.clone().text();
    const { method, url, headers, signal } = request;
    const send = () =>
      fetch(url, {
        method,
        headers: Object.fromEntries(headers),
        signal,
        ...(body === '' ? {} : { body }),
      });
    if ((init.cache ?? request.cache) === 'no-store') return send();
    const key = `${method} ${url} ${body}`;
    const response = kept.get(key) ?? (await send());
    kept.set(key, response.clone());
    return response;
  };
}

afterEach(() => void vi.unstubAllGlobals());

test.each(['the global fetch', 'the option fetch'])(
  'no cache of %s responds in place of the service',
  async (which) => {
    const sandbox = createSandbox({ records: { products: 1 } });
    const { baseUrl, apiKey } = sandbox.clientOptions;
    const fetch = cachingFetch(sandbox.fetch);
    if (which === 'the global fetch') vi.stubGlobal('fetch', fetch);
    const client = createClient({ baseUrl, apiKey, ...(which === 'the option fetch' ? { fetch } : {}) });

    const names = [];
    for (const name of ['Desk', 'Chair', 'Desk']) {
      await client.products.update('1', { name });
      names.push((await client.products.get('1')).name);
    }
    expect(names).toEqual(['Desk', 'Chair', 'Desk']);
  },
);

test('what Next.js throws to make a route dynamic reaches it unchanged', async () => {
  const signal = Object.assign(new Error('Dynamic server usage: no-store fetch'), {
    digest: 'DYNAMIC_SERVER_USAGE',
  });
  const fetch = () => Promise.reject(signal);
  const client = createClient({ baseUrl: 'https://books.example.com', apiKey: 'key', fetch });
  expect(await caught(client.accounts.get('1'))).toBe(signal);
  vi.stubGlobal('fetch', () => Promise.reject(signal));
  const ofGlobal = createClient({ baseUrl: 'https://books.example.com', apiKey: 'key' });
  expect(await caught(ofGlobal.products.update('1', { name: 'Desk' }))).toBe(signal);
});
