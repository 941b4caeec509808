import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { FetchFunction } from 'accounting-data-sdk';
import { ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { closedPort } from '../../support/scripted-server.ts';

const run = promisify(execFile);

/** A proxy that responds to every CONNECT with a status. */
async function rejectingProxy(status: number) {
  const targets: (string | undefined)[] = [];
  const server = createServer();
  server.on('connect', (request, socket) => {
    targets.push(request.url);
    socket.end(`HTTP/1.1 ${status} Rejected\r\ncontent-length: 0\r\n\r\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each([
  [407, 1],
  [403, 1],
  [502, 5],
  [503, 5],
] as const)(
  'a create through a proxy that rejects CONNECT with %i is not sent; attempts: %i',
  async (status, attempts) => {
    await using proxy = await rejectingProxy(status);
    const dispatcher = new ProxyAgent(`http://user:s3cret-pass@127.0.0.1:${proxy.port}`);
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
      message: expect.stringContaining(
        `(the proxy rejected the connection to books.example.com:443 with ${status}). Nothing was sent:`,
      ),
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
  await using proxy = await rejectingProxy(407);
  const env = {
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: `http://user:s3cret-pass@127.0.0.1:${proxy.port}`,
    ACCOUNTING_BASE_URL: 'https://books.example.com',
  };
  expect(await failureWith(env)).toMatchObject({
    proxy: `127.0.0.1:${proxy.port}`,
    proxyStatus: 407,
    outcome: 'not_sent',
    message: `GET /products/1 got no response (the proxy 127.0.0.1:${proxy.port} rejected the connection to books.example.com:443 with 407). Nothing was sent: give the proxy its user name and password.`,
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
    message: `GET /products/1 got no response (ECONNREFUSED books.example.com:443 through the proxy 127.0.0.1:${port}). Nothing was sent: check baseUrl and the network.`,
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
      message: `GET /products/1 got no response (ECONNREFUSED 127.0.0.1:${port}). Nothing was sent: check baseUrl and the network.`,
    });
  }
});
