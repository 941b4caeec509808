import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient, type FetchFunction } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { type Dispatcher, EnvHttpProxyAgent, ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test, vi } from 'vitest';
import { caught, thrown } from '../support/caught.ts';
import { callWith, quickClient } from '../support/four-methods.ts';
import { startProxy } from '../support/proxy.ts';
import { networkError } from '../support/scripted-fetch.ts';
import { closedPort } from '../support/scripted-server.ts';

/** undici's own `fetch` through one of its dispatchers. Its types are its own: what goes over the wire is the same. */
function fetchThrough(dispatcher: Dispatcher): FetchFunction {
  const send = undiciFetch as unknown as (url: string, init: object) => Promise<Response>;
  return (url, init) => send(url, { ...init, dispatcher });
}

/** Runs a program in a process of its own, because Node reads the environment when it starts. Returns its output. */
async function outputOf(program: string, env: Readonly<Record<string, string>>): Promise<string> {
  const entry = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
  const script = `const { createClient } = await import(${JSON.stringify(entry)}); ${program}`;
  const args = ['--input-type=module', '--eval', script];
  const all = { PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1', ...env };
  return (await promisify(execFile)(process.execPath, args, { env: all })).stdout;
}

const NAMES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];

/** Sets the variables of proxies to these, and no other. */
function stubProxies(env: Readonly<Record<string, string>>): void {
  for (const name of [...NAMES, 'NODE_USE_ENV_PROXY']) vi.stubEnv(name, env[name]);
}

const PROXY = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://user:s3cret@proxy.example:3128' };

test('a client goes through a proxy with the fetch and the ProxyAgent of undici', async () => {
  await using sandbox = createSandbox({ records: { products: 40 } });
  await sandbox.listen();
  await using proxy = await startProxy();
  const dispatcher = new ProxyAgent({ uri: proxy.url, token: 'Basic dXNlcjpwYXNz', proxyTunnel: true });
  const client = createClient({ ...sandbox.clientOptions, fetch: fetchThrough(dispatcher) });

  expect(await client.products.list().toArray({ limit: 100 })).toHaveLength(40);
  expect(new Set(proxy.targets)).toEqual(new Set([new URL(sandbox.baseUrl).host]));
  expect(proxy.authorizations).toContain('Basic dXNlcjpwYXNz');
  await dispatcher.close();
});

test('a client takes the proxy from the environment with EnvHttpProxyAgent, and spares the hosts of NO_PROXY', async () => {
  await using sandbox = createSandbox({ records: { products: 1 } });
  await sandbox.listen();
  await using proxy = await startProxy();
  for (const env of [{ HTTP_PROXY: proxy.url }, { HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' }]) {
    stubProxies(env);
    const dispatcher = new EnvHttpProxyAgent();
    const client = createClient({ ...sandbox.clientOptions, fetch: fetchThrough(dispatcher) });
    await client.products.get('1');
    await dispatcher.close();
  }
  expect(proxy.targets).toHaveLength(1);
});

test('a client goes through the proxy of the environment without any code if Node is set to use it', async () => {
  await using sandbox = createSandbox({ records: { products: 1 } });
  await sandbox.listen();
  await using proxy = await startProxy();
  const program = "process.stdout.write((await createClient({ allowInsecure: true }).products.get('1')).id);";
  const { baseUrl, keys } = sandbox;
  const env = { HTTP_PROXY: proxy.url, ACCOUNTING_BASE_URL: baseUrl, ACCOUNTING_API_KEY: keys.full };
  expect(await outputOf(program, env)).toBe('1');
  expect(new Set(proxy.targets)).toEqual(new Set([new URL(baseUrl).host]));
});

test.each([
  [407, 1],
  [403, 1],
  [502, 5],
  [503, 5],
] as const)(
  'a create through a proxy that rejects CONNECT with %i is not sent; attempts: %i',
  async (status, attempts) => {
    await using proxy = await startProxy({ connectStatus: status });
    const dispatcher = new ProxyAgent(`http://user:s3cret-pass@${proxy.host}`);
    const fetch = fetchThrough(dispatcher);
    const client = quickClient('https://books.example.com', { fetch, rateLimiter: false });
    const error = await caught(callWith(client, 'POST'));
    expect(error).toMatchObject({
      code: 'connection_failed',
      outcome: 'not_sent',
      attempts,
      retryable: status >= 500,
      host: 'books.example.com',
      port: 443,
      proxyStatus: status,
    });
    expect(JSON.stringify(error)).not.toContain('s3cret');
    expect(proxy.targets).toEqual(Array.from({ length: attempts }, () => 'books.example.com:443'));
    await dispatcher.destroy();
  },
);

test('a proxy of the environment that rejects a connection or cannot be reached is named, without its password', async () => {
  await using proxy = await startProxy({ connectStatus: 407 });
  const closed = `127.0.0.1:${await closedPort()}`;
  const program = `
    const failure = async (baseUrl) => {
      const client = createClient({ baseUrl, apiKey: 'k', allowInsecure: true, retry: { maxAttempts: 1 } });
      const error = await client.products.get('1').catch((reason) => reason);
      return { ...error, message: error.message };
    };
    const failures = [await failure('https://books.example.com'), await failure('http://books.example.com')];
    process.stdout.write(JSON.stringify(failures));
  `;
  const output = await outputOf(program, {
    HTTPS_PROXY: `http://user:s3cret-pass@${proxy.host}`,
    HTTP_PROXY: `http://user:s3cret-pass@${closed}`,
  });
  expect(output).not.toContain('s3cret');
  const failed = { code: 'connection_failed', outcome: 'not_sent', host: 'books.example.com' };
  const [rejected, refused] = JSON.parse(output);
  expect(rejected).toMatchObject({ ...failed, port: 443, proxy: proxy.host, proxyStatus: 407 });
  expect(rejected.message).toContain(`the proxy ${proxy.host} rejected`);
  expect(refused).toMatchObject({ ...failed, port: 80, proxy: closed, reason: 'ECONNREFUSED' });
  expect(refused.message).toContain(`through the proxy ${closed}`);
});

test.each([
  ['that Node does not use', {}],
  ['that NO_PROXY excludes', { NODE_USE_ENV_PROXY: '1', NO_PROXY: 'internal.example.com, 127.0.0.1' }],
])('the error of a refused connection does not name a proxy %s', async (_, env) => {
  stubProxies({ HTTP_PROXY: 'http://127.0.0.1:1', ...env });
  const port = await closedPort();
  const client = quickClient(`http://127.0.0.1:${port}`, { retry: { maxAttempts: 1 } });
  const error = await caught(client.products.get('1'));
  expect(error).toMatchObject({ host: '127.0.0.1', port, proxy: undefined });
  expect((error as Error).message).toContain(`(ECONNREFUSED 127.0.0.1:${port})`);
});

// http to this machine is allowed, because the key does not leave it. A proxy of the environment would see the key.
test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:8080'])(
  'a client for %s is rejected if the environment sends it through a proxy',
  (baseUrl) => {
    stubProxies(PROXY);
    const error = thrown(() => createClient({ baseUrl, apiKey: 'k' }));
    expect(error).toMatchObject({
      code: 'invalid_input',
      argument: 'baseUrl',
      message: expect.stringMatching(/through the proxy proxy\.example:3128.*NO_PROXY.*allowInsecure/),
    });
    expect(String(error)).not.toContain('s3cret');
  },
);

test.each<[why: string, options: object, env: Readonly<Record<string, string>>]>([
  ['NO_PROXY covers the host', {}, { ...PROXY, NO_PROXY: 'localhost' }],
  ['the runtime does not use the proxy', {}, { ...PROXY, NODE_USE_ENV_PROXY: '' }],
  ['allowInsecure permits it', { allowInsecure: true }, PROXY],
  ['the caller brings a fetch', { fetch: async () => new Response() }, PROXY],
  ['the base URL is https', { baseUrl: 'https://books.example' }, PROXY],
])('a client is created if %s', (_, options, env) => {
  stubProxies(env);
  expect(() => createClient({ baseUrl: 'http://localhost:8080', apiKey: 'k', ...options })).not.toThrow();
});

test('an empty no_proxy takes precedence over NO_PROXY, as in Node', () => {
  stubProxies({ ...PROXY, NO_PROXY: 'localhost', no_proxy: '' });
  const error = thrown(() => createClient({ baseUrl: 'http://localhost:8080', apiKey: 'k' }));
  expect(error).toMatchObject({ argument: 'baseUrl' });
});

// What Node 24 does with its own `fetch`.
test.each<[noProxy: string, baseUrl: string, isExcluded: boolean]>([
  ['BOOKS.example', 'https://books.EXAMPLE', true],
  ['books', 'https://books.example', false],
  ['example', 'https://books.example', true],
  ['books.example', 'https://notbooks.example', false],
  ['books.example', 'https://books.example.net', false],
  ['.books.example', 'https://eu.books.example', true],
  ['.books.example', 'https://books.example', true],
  ['*.books.example', 'https://eu.books.example', true],
  ['*.books.example', 'https://notbooks.example', false],
  ['books.example:9999', 'https://books.example:9999', true],
  ['books.example:9999', 'https://books.example', false],
  ['books.example:443', 'https://books.example', true],
  ['books.example:80', 'http://books.example', true],
  ['*', 'https://books.example', true],
  ['a.example books.example', 'https://books.example', true],
  [' a.example ,\tbooks.example ', 'https://books.example', true],
  ['a.example,b.example', 'https://books.example', false],
  [' , ', 'https://books.example', false],
  ['[::1]', 'http://[::1]:9999', true],
  ['[::1]:8', 'http://[::1]:9999', false],
])('NO_PROXY=%j excludes %s from the proxy: %s', async (noProxy, baseUrl, isExcluded) => {
  stubProxies({ ...PROXY, NO_PROXY: noProxy });
  vi.stubGlobal('fetch', () => Promise.reject(networkError('ECONNREFUSED')));
  const client = createClient({ baseUrl, apiKey: 'k', allowInsecure: true, retry: { maxAttempts: 1 } });
  const error = await caught(client.accounts.get('1'));
  expect(error).toMatchObject({ code: 'connection_failed' });
  expect(error).toHaveProperty('proxy', isExcluded ? undefined : 'proxy.example:3128');
});
