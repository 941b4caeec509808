import { createClient } from 'accounting-data-sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { caught, thrown } from '../../support/caught.ts';
import { networkError } from '../../support/scripted-fetch.ts';

// http to this machine is allowed, because the key does not leave it. A proxy of the environment would see the key.

const clientFor = (baseUrl: string, more: object = {}) => createClient({ baseUrl, apiKey: 'k', ...more });

beforeEach(() => {
  for (const name of ['http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  vi.stubEnv('HTTP_PROXY', 'http://user:s3cret@proxy.example:3128');
});

test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:8080'])(
  'a client for %s is rejected if the environment sends it through a proxy',
  (baseUrl) => {
    const error = thrown(() => clientFor(baseUrl));
    expect(error).toMatchObject({
      code: 'invalid_input',
      argument: 'baseUrl',
      message: expect.stringMatching(/through the proxy proxy\.example:3128.*NO_PROXY.*allowInsecure/),
    });
    expect(String(error)).not.toContain('s3cret');
  },
);

test.each<[why: string, baseUrl: string, prepare: () => object | undefined]>([
  ['NO_PROXY covers the host', 'http://localhost:8080', () => void vi.stubEnv('NO_PROXY', 'localhost')],
  ['the runtime does not use the proxy', 'http://localhost', () => void vi.stubEnv('NODE_USE_ENV_PROXY', '')],
  ['allowInsecure permits it', 'http://localhost', () => ({ allowInsecure: true })],
  ['the caller brings a fetch', 'http://localhost', () => ({ fetch: async () => new Response() })],
  ['the base URL is https', 'https://books.example', () => undefined],
])('a client is created if %s', (_, baseUrl, prepare) => {
  expect(() => clientFor(baseUrl, prepare() ?? {})).not.toThrow();
});

test('an empty no_proxy takes precedence over NO_PROXY, as in Node', () => {
  vi.stubEnv('NO_PROXY', 'localhost');
  vi.stubEnv('no_proxy', '');
  expect(thrown(() => clientFor('http://localhost:8080'))).toMatchObject({ argument: 'baseUrl' });
});

// What Node 24 does with its own `fetch`.
test.each<[noProxy: string, baseUrl: string, isExcluded: boolean]>([
  ['books.example', 'https://books.example', true],
  ['BOOKS.example', 'https://books.EXAMPLE', true],
  ['books', 'https://books.example', false],
  ['example', 'https://books.example', true],
  ['books.example', 'https://eu.books.example', true],
  ['books.example', 'https://notbooks.example', false],
  ['books.example', 'https://books.example.net', false],
  ['.books.example', 'https://eu.books.example', true],
  ['.books.example', 'https://books.example', true],
  ['*.books.example', 'https://eu.books.example', true],
  ['*.books.example', 'https://notbooks.example', false],
  ['books.example:9999', 'https://books.example:9999', true],
  ['books.example:9999', 'https://books.example:8080', false],
  ['books.example:9999', 'https://books.example', false],
  ['books.example:443', 'https://books.example', true],
  ['books.example:80', 'http://books.example', true],
  ['books.example:80', 'https://books.example', false],
  ['*', 'https://books.example', true],
  ['a.example,books.example', 'https://books.example', true],
  ['a.example books.example', 'https://books.example', true],
  [' a.example ,\tbooks.example ', 'https://books.example', true],
  ['a.example,b.example', 'https://books.example', false],
  [' , ', 'https://books.example', false],
  ['[::1]', 'http://[::1]:9999', true],
  ['[::1]:9999', 'http://[::1]:9999', true],
  ['[::1]:8', 'http://[::1]:9999', false],
])('NO_PROXY=%j excludes %s from the proxy: %s', async (noProxy, baseUrl, isExcluded) => {
  vi.stubEnv('NO_PROXY', noProxy);
  vi.stubGlobal('fetch', () => Promise.reject(networkError('ECONNREFUSED')));
  const client = clientFor(baseUrl, { allowInsecure: true, retry: { maxAttempts: 1 } });
  const error = await caught(client.accounts.get('1'));
  expect(error).toMatchObject({ code: 'connection_failed' });
  expect(error).toHaveProperty('proxy', isExcluded ? undefined : 'proxy.example:3128');
});
