import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createClient, type FetchFunction } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { type Dispatcher, EnvHttpProxyAgent, ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test, vi } from 'vitest';
import { startProxy } from '../../support/proxy.ts';

const run = promisify(execFile);

/** undici's own `fetch` through one of its dispatchers. Its types are its own: what goes over the wire is the same. */
function fetchThrough(dispatcher: Dispatcher): FetchFunction {
  const send = undiciFetch as unknown as (url: string, init: object) => Promise<Response>;
  return (url, init) => send(url, { ...init, dispatcher });
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

test('a client reports a proxy that cannot be reached as a connection that failed, without its password', async () => {
  const proxy = await startProxy();
  await proxy[Symbol.asyncDispose]();
  const dispatcher = new ProxyAgent(proxy.url.replace('://', '://user:s3cret@'));
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'key',
    fetch: fetchThrough(dispatcher),
    retry: { maxAttempts: 1 },
  });
  const error = await client.products.get('1').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'connection_failed', outcome: 'not_sent' });
  expect(JSON.stringify(error)).not.toContain('s3cret');
  await dispatcher.close();
});

test('a client takes the proxy from the environment with EnvHttpProxyAgent, and spares the hosts of NO_PROXY', async () => {
  await using sandbox = createSandbox({ records: { products: 1 } });
  await sandbox.listen();
  await using proxy = await startProxy();
  vi.stubEnv('HTTP_PROXY', proxy.url);
  for (const name of ['http_proxy', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined);
  const ask = async () => {
    const dispatcher = new EnvHttpProxyAgent();
    const client = createClient({ ...sandbox.clientOptions, fetch: fetchThrough(dispatcher) });
    await client.products.get('1');
    await dispatcher.close();
  };
  await ask();
  expect(proxy.targets).toHaveLength(1);

  vi.stubEnv('NO_PROXY', '127.0.0.1');
  await ask();
  expect(proxy.targets).toHaveLength(1);
});

test('a client goes through the proxy of the environment without any code if Node is set to use it', async () => {
  await using sandbox = createSandbox({ records: { products: 1 } });
  await sandbox.listen();
  await using proxy = await startProxy();
  const face = fileURLToPath(new URL('../../../src/index.ts', import.meta.url));
  const script = `
    const { createClient } = await import(${JSON.stringify(face)});
    process.stdout.write((await createClient({ allowInsecure: true }).products.get('1')).id);
  `;
  const env = {
    PATH: process.env.PATH,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxy.url,
    ACCOUNTING_BASE_URL: sandbox.baseUrl,
    ACCOUNTING_API_KEY: sandbox.keys.full,
  };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env });
  expect(stdout).toBe('1');
  expect(new Set(proxy.targets)).toEqual(new Set([new URL(sandbox.baseUrl).host]));
});
