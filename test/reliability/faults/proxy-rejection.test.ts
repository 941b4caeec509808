import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FetchFunction } from 'accounting-data-sdk';
import { ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test } from 'vitest';
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

/** What a call says that fails in a process with this environment. */
async function failureWith(env: Record<string, string>): Promise<string> {
  const entry = fileURLToPath(new URL('../../../src/index.ts', import.meta.url));
  const script = `
    const { createClient } = await import(${JSON.stringify(entry)});
    const client = createClient({ apiKey: 'key-of-the-company', retry: { maxAttempts: 1 } });
    const error = await client.products.get('1').catch((reason) => reason);
    process.stdout.write(JSON.stringify({ ...error, message: error.message }));
  `;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: process.env.PATH, ...env },
  });
  expect(stdout).not.toContain('s3cret');
  return JSON.parse(stdout);
}

test('a proxy of the environment that rejects a connection is named, without its password', async () => {
  await using proxy = await startProxy({ connectStatus: 407 });
  const env = {
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: `http://user:s3cret-pass@${proxy.host}`,
    ACCOUNTING_BASE_URL: 'https://books.example.com',
  };
  expect(await failureWith(env)).toMatchObject({
    proxy: `${proxy.host}`,
    proxyStatus: 407,
    outcome: 'not_sent',
    message: expect.stringContaining(`(the proxy ${proxy.host} rejected the connection`),
  });
});

test('a proxy of the environment that cannot be reached is named beside host and port', async () => {
  const port = await closedPort();
  const env = {
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: `http://user:s3cret-pass@127.0.0.1:${port}`,
    ACCOUNTING_BASE_URL: 'https://books.example.com',
  };
  expect(await failureWith(env)).toMatchObject({
    reason: 'ECONNREFUSED',
    host: 'books.example.com',
    port: 443,
    proxy: `127.0.0.1:${port}`,
    message: expect.stringContaining(`books.example.com:443 through the proxy 127.0.0.1:${port})`),
  });
});

test('the error does not name a proxy that NO_PROXY excludes or that Node does not use', async () => {
  const port = await closedPort();
  const env = {
    HTTP_PROXY: 'http://127.0.0.1:1',
    ACCOUNTING_BASE_URL: `http://127.0.0.1:${port}`,
  };
  for (const more of [{}, { NODE_USE_ENV_PROXY: '1', NO_PROXY: 'internal.example.com, 127.0.0.1' }]) {
    const error = await failureWith({ ...env, ...more });
    expect(error).not.toHaveProperty('proxy');
    expect(error).toMatchObject({
      host: '127.0.0.1',
      port,
      message: expect.stringContaining(`(ECONNREFUSED 127.0.0.1:${port})`),
    });
  }
});
