import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient, type FetchFunction } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { type Dispatcher, ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { callWith, quickClient } from '../support/four-methods.ts';
import { startProxy } from '../support/proxy.ts';
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

test.each([
  [407, 1],
  [500, 5],
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

test('a proxy of the environment that rejects a connection or cannot be reached fails the call, without its password', async () => {
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
  expect(rejected).toMatchObject({ ...failed, port: 443, proxyStatus: 407 });
  expect(refused).toMatchObject({ ...failed, port: 80, reason: 'ECONNREFUSED' });
});
