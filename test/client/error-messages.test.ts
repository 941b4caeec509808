import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  type ClientOptions,
  changes,
  createClient,
  type FetchFunction,
  idempotencyKeyFor,
  memoryStore,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { Agent, type Dispatcher, ProxyAgent, fetch as undiciFetch } from 'undici';
import { expect, test } from 'vitest';
import { caught, thrown } from '../support/caught.ts';
import { empty, html, json, misbehave, problem, respond } from '../support/responses.ts';
import { closedPort, type ScriptedResponse, scriptedServer } from '../support/scripted-server.ts';

const KEY = 'secret-key-of-the-company';

const clientOf = (baseUrl: string, options: ClientOptions = {}) =>
  createClient({ baseUrl, apiKey: KEY, retry: { maxAttempts: 1 }, rateLimiter: false, ...options });

/** What a read fails with against a server that responds so. */
const read =
  (response: ScriptedResponse, options: ClientOptions = {}) =>
  async () => {
    await using server = await scriptedServer(response);
    return await caught(clientOf(server.url, options).accounts.get('1'));
  };

/** What a read fails with through a dispatcher of undici. */
async function through(dispatcher: Dispatcher, baseUrl: string): Promise<unknown> {
  const send = undiciFetch as unknown as (url: string, init: object) => Promise<Response>;
  const fetch: FetchFunction = (url, init) => send(url, { ...init, dispatcher });
  const error = await caught(clientOf(baseUrl, { fetch }).accounts.get('1'));
  await dispatcher.destroy();
  return error;
}

const never = () => new Promise<never>(() => {});

const fails = (message: string) => () => {
  throw new TypeError(message);
};

/** What goes wrong, and the words from which an operator knows it. */
const failures: readonly (readonly [what: string, provoke: () => Promise<unknown>, ...words: string[]])[] = [
  [
    'a base URL without the API',
    async () => {
      await using server = await scriptedServer(html(404));
      return await caught(clientOf(server.url).accounts.list().toArray({ limit: 1 }));
    },
    'returned 404',
    'Check baseUrl',
    '"accounts"',
  ],
  [
    'a service that is down',
    async () => caught(clientOf(`http://127.0.0.1:${await closedPort()}`).accounts.get('1')),
    'ECONNREFUSED 127.0.0.1:',
    'check baseUrl and the network',
  ],
  [
    'a host name that does not exist',
    async () => {
      const notFound = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' });
      const lookup = (_: string, __: object, done: (error: Error, address: string) => void) =>
        done(notFound, '');
      return through(new Agent({ connect: { lookup: lookup as never } }), 'https://boks.example.com');
    },
    'ENOTFOUND boks.example.com:443',
    'check baseUrl',
  ],
  ['a 404 page', read(html(404)), 'returned 404', 'not a problem document', 'check baseUrl'],
  [
    'rejected fields',
    async () => {
      const violations = [
        { propertyPath: 'name', message: 'is blank' },
        { propertyPath: 'salePrice', message: 'is negative' },
        { propertyPath: '', message: 'is a duplicate' },
      ];
      await using server = await scriptedServer(problem(422, { type: 'validation_failed', violations }));
      return await caught(clientOf(server.url).products.create({ name: '' }));
    },
    'POST /products returned 422',
    '[name: is blank; salePrice: is negative; is a duplicate]',
  ],
  [
    'a page of a firewall',
    read(html(403)),
    'returned 403',
    'check what a proxy or firewall on the way allows',
  ],
  [
    'a 429 that names no wait',
    read(problem(429, { type: 'rate_limited' }), { maxWaitMs: 50 }),
    'returned 429 (rate_limited)',
    'Try again later',
    'maxWaitMs',
  ],
  [
    'a quota that is used up',
    async () => {
      const quota = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '0', 'retry-after': '900' };
      await using server = await scriptedServer(problem(429, { type: 'rate_limited' }, quota));
      const client = clientOf(server.url, { rateLimiter: 'client', maxWaitMs: 50 });
      await caught(client.accounts.get('1'));
      return await caught(client.accounts.get('1'));
    },
    'was not sent',
    'quota of the key is used up',
    'maxWaitMs',
  ],
  [
    'a service that does not respond',
    read(misbehave.stall, { timeoutMs: 20 }),
    'within timeoutMs (20 ms)',
    'raise timeoutMs',
  ],
  [
    'a deadline that ends first',
    read(misbehave.stall, { timeoutMs: 60_000, deadlineMs: 20 }),
    'within deadlineMs (20 ms)',
    'raise deadlineMs',
  ],
  [
    'a proxy that requires a password',
    async () => {
      const server = createServer().on('connect', (_, socket) => {
        socket.end('HTTP/1.1 407 Rejected\r\ncontent-length: 0\r\n\r\n');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const proxy = new ProxyAgent(`http://user:s3cret-pass@127.0.0.1:${port}`);
      const error = await through(proxy, 'https://books.example.com');
      await new Promise((resolve) => server.close(resolve));
      return error;
    },
    'the proxy rejected the connection to books.example.com:443 with 407',
    'user name and password',
  ],
  [
    'a certificate that is not trusted',
    async () => {
      const pem = readFileSync(new URL('../support/self-signed.pem', import.meta.url), 'utf8');
      const server = createTlsServer({ key: pem, cert: pem });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const error = await caught(clientOf(`https://localhost:${port}`).accounts.get('1'));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      return error;
    },
    'SELF_SIGNED_CERT localhost:',
    'certificate of baseUrl',
  ],
  [
    'a sign-in page',
    read(html()),
    'returned 200',
    'its body is not the expected JSON',
    'Check that baseUrl points at the service',
  ],
  ['a body that is cut', read(misbehave.closeInBody), 'its body ended early', 'Try again'],
  ['a response without a body', read(empty(200)), 'its body is empty'],
  [
    'a body that is not UTF-8',
    read(respond(200, { 'content-type': 'application/json' }, Buffer.from([0x22, 0xff, 0x22]))),
    'its body is not UTF-8',
    'Ask the operator of the service',
  ],
  [
    'a body that is too large',
    read(json({ id: '1', note: 'x'.repeat(2_000) }), { maxBodyBytes: 1_000 }),
    'larger than maxBodyBytes',
    'Raise maxBodyBytes',
  ],
  ['a deployment', read(html(503)), 'GET /accounts/1 returned 503', 'Try again later'],
  [
    'a schema of the caller that throws',
    async () => {
      const validate = fails('rates are not loaded');
      const schema = { '~standard': { version: 1 as const, vendor: 'own', validate } };
      await using server = await scriptedServer(json({ id: '1' }));
      return await caught(clientOf(server.url, { schemas: { accounts: schema as never } }).accounts.get('1'));
    },
    'the schema that you passed',
    'TypeError: rates are not loaded',
    'Correct the schema',
  ],
  [
    'a fetch function of the caller that throws',
    read(json({ id: '1' }), { fetch: fails('the pool is empty') }),
    'the function given as fetch threw TypeError: the pool is empty',
  ],
  [
    'an apiKey function that never returns',
    read(json({ id: '1' }), { apiKey: never, timeoutMs: 20 }),
    'was not sent',
    'apiKey returned no key within timeoutMs (20 ms)',
  ],
  [
    'a store that throws',
    async () => {
      await using sandbox = createSandbox();
      const store = { ...memoryStore(), get: fails('Redis is loading') };
      const run = changes(createClient(sandbox.clientOptions).accounts, { store, tenant: 'acme' });
      return await caught(run[Symbol.asyncIterator]().next() as Promise<unknown>);
    },
    'under accounting-data-sdk:acme:',
    'could not be read: the store threw TypeError: Redis is loading',
    'Check the store',
  ],
  ['no argument at all', async () => thrown(() => idempotencyKeyFor()), 'parts: must not be empty.'],
];

const cases = failures.map(([what, provoke, ...words]) => ({ what, provoke, words }));

test.each(cases)('one line names $what', async ({ provoke, words }) => {
  const error = await provoke();
  const line = String(error);
  expect(line).toMatch(/^\w+Error: [^\n]*[^\s.!?:;,][.!?]$/);
  for (const word of words) expect(line).toContain(word);
  expect(line).not.toMatch(/ [Ss]ee cause|undefined|\[object/);
  expect(line).not.toContain(KEY);
  expect(line).not.toContain('s3cret');
  if ((error as { method?: string }).method === 'GET') expect(line).not.toMatch(/outcome/);
});
