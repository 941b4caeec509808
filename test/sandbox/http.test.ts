import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { createSandbox, type Listening, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, createProduct } from './support/call.ts';
import { bodyOf, headerOf, rawCall, rawRequest } from './support/raw.ts';

let sandbox: Sandbox;
let listening: Listening;

beforeEach(async () => {
  sandbox = createSandbox({ records: 500 });
  listening = await sandbox.listen();
});
afterEach(() => sandbox.close());

const url = (path: string) => `${listening.url}/api/public/v1${path}`;

describe('HTTP/1.1', () => {
  test('keeps a connection for many requests', async () => {
    const { socket, response } = rawCall(listening, '');
    for (let i = 1; i <= 3; i += 1) {
      const seen = new Promise((resolve) => socket.once('data', resolve));
      socket.write(rawRequest(`/accounts/${i}`, sandbox.keys.full));
      expect(String(await seen)).toMatch(/^HTTP\/1\.1 200 OK/);
    }
    socket.end();
    expect((await response).text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
  });

  test('responds to pipelined requests in order', async () => {
    const paths = ['/accounts/1', '/accounts/2', '/accounts/3'];
    const requests = paths.map((path, i) =>
      rawRequest(path, sandbox.keys.full, i === 2 ? ['Connection: close'] : []),
    );
    const { text } = await rawCall(listening, requests.join('')).response;
    expect([...text.matchAll(/"id":"(\d)"/g)].map(([, id]) => id)).toEqual(['1', '2', '3']);
  });

  test('accepts a body in chunks, without a length', async () => {
    const response = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const sent = request(url('/products'), {
        method: 'POST',
        headers: {
          'X-AUTH-TOKEN': sandbox.keys.full,
          'Idempotency-Key': 'k',
          'Content-Type': 'application/json',
        },
      });
      sent.on('error', reject);
      sent.on('response', async (response) => {
        let text = '';
        for await (const piece of response) text += piece;
        resolve({ status: response.statusCode, text });
      });
      sent.write('{"name":"Dé');
      sent.end('sk"}');
    });
    expect([response.status, JSON.parse(response.text).name]).toEqual([201, 'Désk']);
  });

  test('a client that disconnects in the middle of its body leaves no record', async () => {
    const text = 'POST /api/public/v1/products HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"name"';
    const { socket } = rawCall(listening, text);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.destroy();
    expect((await createProduct(sandbox, { name: 'Desk' })).status).toBe(201);
    expect(sandbox.journal).toHaveLength(1);
  });

  test('two tokens in one request are invalid', async () => {
    const { text } = await rawCall(
      listening,
      rawRequest('/accounts', sandbox.keys.full, [`X-AUTH-TOKEN: ${sandbox.keys.full}`, 'Connection: close']),
    ).response;
    expect(text).toMatch(/^HTTP\/1\.1 401/);
  });

  test('listens on the host and port given', async () => {
    const other = createSandbox();
    const port = listening.port;
    await expect(other.listen({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await sandbox.close();
    expect((await other.listen({ port })).url).toBe(`http://127.0.0.1:${port}`);
    await other.close();
  });

  test('reports an error of a condition to the client', async () => {
    const thrown = () => {
      throw new Error('typo in the predicate');
    };
    sandbox.faults.add({ kind: 'connection-reset' }, { when: thrown });
    const response = await call(sandbox, '/accounts');
    expect([response.status, response.record.detail]).toEqual([
      500,
      'The sandbox itself failed: typo in the predicate',
    ]);
  });
});

describe('gzip', () => {
  const gzipped = ['Accept-Encoding: br, gzip', 'Connection: close'];

  test('compresses a page only for a client that accepts gzip', async () => {
    const plain = await rawCall(listening, rawRequest('/accounts', sandbox.keys.full, ['Connection: close']))
      .response;
    const { text } = await rawCall(listening, rawRequest('/accounts', sandbox.keys.full, gzipped)).response;
    expect([headerOf(plain.text, 'Content-Encoding'), headerOf(plain.text, 'Vary')]).toEqual([
      undefined,
      'Accept-Encoding',
    ]);
    expect(headerOf(text, 'Content-Encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(bodyOf(text), 'latin1')).toString('latin1')).toBe(bodyOf(plain.text));
    expect(bodyOf(text).length).toBeLessThan(bodyOf(plain.text).length / 2);
  });

  test('does not compress small responses, or any with gzip: false', async () => {
    const small = await rawCall(listening, rawRequest('/accounts/1', sandbox.keys.full, gzipped)).response;
    expect(headerOf(small.text, 'Content-Encoding')).toBeUndefined();

    const other = createSandbox({ records: 500 });
    const port = await other.listen({ gzip: false });
    const plain = await rawCall(port, rawRequest('/accounts', other.keys.full, gzipped)).response;
    expect(headerOf(plain.text, 'Content-Encoding')).toBeUndefined();
    await other.close();
  });
});

describe('CORS', () => {
  const preflight = {
    method: 'OPTIONS',
    headers: {
      Origin: 'https://shop.example',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'x-auth-token,content-type',
    },
  };

  test('responds to a preflight without a key and does not count it', async () => {
    const response = await fetch(url('/products/1'), preflight);
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect(response.headers.get('access-control-allow-headers')).toBe('x-auth-token,content-type');
    expect(sandbox.count()).toBe(0);
  });

  test('lets a page read the response, its quota and its errors', async () => {
    for (const key of [sandbox.keys.full, 'unknown']) {
      const response = await fetch(url('/accounts'), {
        headers: { 'X-AUTH-TOKEN': key, Origin: 'https://shop.example' },
      });
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      // Whatever a client of this service reads is in the list: a browser hides the rest.
      expect(response.headers.get('access-control-expose-headers')?.split(', ').sort()).toEqual([
        'Date',
        'Location',
        'Retry-After',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
      ]);
      await response.arrayBuffer();
    }
  });

  test('permits a page on a public host to call this machine', async () => {
    const headers = { ...preflight.headers, 'Access-Control-Request-Private-Network': 'true' };
    const response = await fetch(url('/accounts'), { ...preflight, headers });
    expect(response.headers.get('access-control-allow-private-network')).toBe('true');
  });

  test('sends no CORS headers with cors: false', async () => {
    const other = createSandbox();
    const { url: at } = await other.listen({ cors: false });
    const responses = [
      await fetch(`${at}/api/public/v1/accounts`, preflight),
      await call(other, '/accounts'),
    ];
    expect(
      responses.map(({ status, headers }) => [status, headers.get('access-control-allow-origin')]),
    ).toEqual([
      [401, null],
      [200, null],
    ]);
    await other.close();
  });
});

test('await using closes the port', async () => {
  let port: Listening;
  {
    await using used = createSandbox();
    port = await used.listen();
    expect(
      (await rawCall(port, rawRequest('/accounts', used.keys.full, ['Connection: close'])).response).end,
    ).toBe('closed');
  }
  expect((await rawCall(port, '').response).end).toBe('ECONNREFUSED');
});
