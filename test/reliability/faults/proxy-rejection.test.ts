import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FetchFunction } from 'accounting-data-sdk';
import { ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { startProxy } from '../../support/proxy.ts';
import { closedPort } from '../../support/scripted-server.ts';

const run = promisify(execFile);

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
    const send = undiciFetch as unknown as (url: string, init: object) => Promise<Response>;
    const fetch: FetchFunction = (url, init) => send(url, { ...init, dispatcher });
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
  const port = await closedPort();
  const entry = fileURLToPath(new URL('../../../src/index.ts', import.meta.url));
  // Node reads the environment when it starts.
  const script = `
    const { createClient } = await import(${JSON.stringify(entry)});
    const failure = async (baseUrl) => {
      const client = createClient({ baseUrl, apiKey: 'k', allowInsecure: true, retry: { maxAttempts: 1 } });
      const error = await client.products.get('1').catch((reason) => reason);
      return { ...error, message: error.message };
    };
    const failures = [await failure('https://books.example.com'), await failure('http://books.example.com')];
    process.stdout.write(JSON.stringify(failures));
  `;
  const env = {
    PATH: process.env.PATH,
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: `http://user:s3cret-pass@${proxy.host}`,
    HTTP_PROXY: `http://user:s3cret-pass@127.0.0.1:${port}`,
  };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env });
  expect(stdout).not.toContain('s3cret');
  const host = 'books.example.com';
  const failed = { code: 'connection_failed', outcome: 'not_sent', host };
  expect(JSON.parse(stdout)).toMatchObject([
    {
      ...failed,
      port: 443,
      proxy: proxy.host,
      proxyStatus: 407,
      message: expect.stringContaining(`the proxy ${proxy.host} rejected`),
    },
    {
      ...failed,
      port: 80,
      proxy: `127.0.0.1:${port}`,
      reason: 'ECONNREFUSED',
      message: expect.stringContaining(`through the proxy 127.0.0.1:${port}`),
    },
  ]);
});

test.each([
  ['that Node does not use', {}],
  ['that NO_PROXY excludes', { NODE_USE_ENV_PROXY: '1', NO_PROXY: 'internal.example.com, 127.0.0.1' }],
])('the error of a refused connection does not name a proxy %s', async (_, env) => {
  for (const name of ['http_proxy', 'no_proxy']) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries({ HTTP_PROXY: 'http://127.0.0.1:1', ...env }))
    vi.stubEnv(name, value);
  const port = await closedPort();
  const client = quickClient(`http://127.0.0.1:${port}`, { retry: { maxAttempts: 1 } });
  const error = await caught(client.products.get('1'));
  expect(error).toMatchObject({ host: '127.0.0.1', port, proxy: undefined });
  expect((error as Error).message).toContain(`(ECONNREFUSED 127.0.0.1:${port})`);
});
