import { execFile, execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeBundle, start } from '../tools/command/support/process.ts';
import { bodyOf, headerOf } from './support/raw.ts';

const run = promisify(execFile);

const isInstalled = (name: string) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

let command: ReturnType<typeof start>;
let origin: string;
let key: string;

/** The sandbox as a process of its own: what a developer starts beside a connector. */
beforeAll(async () => {
  command = start({}, ['sandbox', '--port', '0', '--records', '600', '--quiet']);
  let out = '';
  await new Promise<void>((resolve) => {
    command.stdout?.on('data', (text: Buffer) => {
      out += text;
      if (out.includes('ACCOUNTING_API_KEY_FOREIGN=')) resolve();
    });
  });
  origin = /^ACCOUNTING_BASE_URL=(.*)$/m.exec(out)?.[1] ?? '';
  key = /^ACCOUNTING_API_KEY=(.*)$/m.exec(out)?.[1] ?? '';
});
afterAll(async () => {
  command.kill('SIGTERM');
  await command.ended;
  removeBundle();
});

const api = (path: string) => `${origin}/api/public/v1${path}`;
const idOf = (text: string) => String(JSON.parse(text).id);

describe.skipIf(!isInstalled('curl'))('curl', () => {
  const curl = async (...args: string[]) =>
    (await run('curl', ['-sS', '-H', `X-AUTH-TOKEN: ${key}`, ...args])).stdout;

  test('reads pages, single records and headers, compressed and through a proxy', async () => {
    expect(JSON.parse(await curl(api('/accounts?_page=2')))[0].id).toBe('31');
    expect(idOf(await curl('--compressed', api('/accounts/7')))).toBe('7');
    expect(JSON.parse(await curl('--compressed', api('/accounts')))).toHaveLength(30);
    expect(await curl('-I', api('/accounts'))).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*X-RateLimit-Remaining: \d+/);
    expect(idOf(await curl('-x', origin, 'http://books.example.com/api/public/v1/accounts/7'))).toBe('7');
    expect(await curl('-o', '/dev/null', '-w', '%{http_code}', api('/accounts/987654'))).toBe('404');
  });

  test('creates, updates and deletes a product', async () => {
    const json = ['-H', 'Content-Type: application/json'];
    const expecting = ['-H', 'Idempotency-Key: curl-1', '-H', 'Expect: 100-continue'];
    const id = idOf(await curl(...json, ...expecting, '-d', '{"name":"Désk"}', api('/products')));
    const patched = await curl('-X', 'PATCH', ...json, '-d', '{"name":null}', api(`/products/${id}`));
    expect(JSON.parse(patched)).toMatchObject({ id, name: null });
    expect(await curl('-X', 'DELETE', '-w', '%{http_code}', api(`/products/${id}`))).toBe('204');
    expect(await curl('-X', 'FROB', '-w', '%{http_code}', '-o', '/dev/null', api('/products'))).toBe('501');
  });
});

describe.skipIf(!isInstalled('wget'))('wget', () => {
  const wget = async (...args: string[]) =>
    (await run('wget', ['-qO-', '--header', `X-AUTH-TOKEN: ${key}`, ...args])).stdout;

  test('reads a list and a record, and checks that one exists', async () => {
    expect(JSON.parse(await wget(api('/accounts')))).toHaveLength(30);
    expect(idOf(await wget(api('/accounts/7')))).toBe('7');
    await expect(wget('--spider', api('/accounts/7'))).resolves.toBe('');
    await expect(wget('--spider', api('/accounts/987654'))).rejects.toMatchObject({ code: 8 });
  });

  test('creates, updates and deletes a product', async () => {
    const json = ['--header', 'Content-Type: application/json'];
    const created = await wget(
      ...json,
      '--header',
      'Idempotency-Key: wget-1',
      '--post-data',
      '{"name":"Desk"}',
      api('/products'),
    );
    const id = idOf(created);
    const patched = await wget(
      ...json,
      '--method=PATCH',
      '--body-data={"name":null}',
      api(`/products/${id}`),
    );
    expect(JSON.parse(patched)).toMatchObject({ id, name: null });
    await expect(wget('--method=DELETE', api(`/products/${id}`))).resolves.toBe('');
    await expect(wget(api(`/products/${id}`))).rejects.toMatchObject({ code: 8 });
  });
});

describe('undici, pipelined', () => {
  test('gets ten responses in order over one connection', async () => {
    const client = new Client(origin, { pipelining: 10 });
    const headers = { 'x-auth-token': key, 'accept-encoding': 'gzip;q=0' };
    const ids = Array.from({ length: 10 }, (_, index) => String(index + 1));
    const bodies = await Promise.all(
      ids.map(async (id) => {
        const { body } = await client.request({
          method: 'GET',
          path: `/api/public/v1/accounts/${id}`,
          headers,
        });
        return body.text();
      }),
    );
    expect(bodies.map(idOf)).toEqual(ids);
    const { statusCode, body } = await client.request({
      method: 'HEAD',
      path: '/api/public/v1/accounts',
      headers,
    });
    expect([statusCode, await body.text()]).toEqual([200, '']);
    await client.close();
  });

  test('creates, updates and deletes a product', async () => {
    const client = new Client(origin, { pipelining: 10 });
    const headers = {
      'x-auth-token': key,
      'content-type': 'application/json',
      'idempotency-key': 'undici-1',
    };
    const created = await client.request({
      method: 'POST',
      path: '/api/public/v1/products',
      headers,
      body: '{"name":"Desk"}',
    });
    const id = idOf(await created.body.text());
    const path = `/api/public/v1/products/${id}`;
    const patched = await client.request({ method: 'PATCH', path, headers, body: '{"name":null}' });
    expect(JSON.parse(await patched.body.text())).toMatchObject({ id, name: null });
    const deleted = await client.request({ method: 'DELETE', path, headers });
    expect(deleted.statusCode).toBe(204);
    await client.close();
  });
});

/** What these clients send by default, byte for byte: they are not installed. */
const CLIENTS = {
  axios: [
    'Accept: application/json, text/plain, */*',
    'User-Agent: axios/1.7.9',
    'Accept-Encoding: gzip, compress, deflate, br',
  ],
  got: [
    'user-agent: got (https://github.com/sindresorhus/got)',
    'accept: application/json',
    'accept-encoding: gzip, deflate, br',
  ],
} as const;

/** The body of a response, decompressed. */
function contentOf(text: string): string {
  const bytes = Buffer.from(bodyOf(text), 'latin1');
  return String(headerOf(text, 'Content-Encoding') === 'gzip' ? gunzipSync(bytes) : bytes);
}

/** One request over a socket of its own; the head as text and the body as bytes. */
function exchange(lines: readonly string[], body = ''): Promise<string> {
  const { host, hostname, port } = new URL(origin);
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const [start = '', ...headers] = lines;
  const text = [start, `Host: ${host}`, ...headers, ...length, 'Connection: close', '', body].join('\r\n');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let response = '';
    socket.on('data', (bytes) => {
      response += bytes.toString('latin1');
    });
    socket.once('end', () => resolve(response)).once('error', reject);
  });
}

describe.each(Object.entries(CLIENTS))('what %s sends', (name, sends) => {
  const common = () => [...sends, `X-AUTH-TOKEN: ${key}`];

  test('reads a list gzipped, a record and a head', async () => {
    const list = await exchange(['GET /api/public/v1/accounts HTTP/1.1', ...common()]);
    expect([list.slice(9, 12), headerOf(list, 'Content-Encoding')]).toEqual(['200', 'gzip']);
    const one = await exchange(['GET /api/public/v1/accounts/7 HTTP/1.1', ...common()]);
    expect(idOf(bodyOf(one))).toBe('7');
    const head = await exchange(['HEAD /api/public/v1/accounts/7 HTTP/1.1', ...common()]);
    expect([head.slice(9, 12), bodyOf(head)]).toEqual(['200', '']);
  });

  test('reads through a proxy, to which axios and got send an absolute-form target', async () => {
    const one = await exchange([
      'GET http://books.example.com/api/public/v1/accounts/7 HTTP/1.1',
      ...common(),
    ]);
    expect(idOf(bodyOf(one))).toBe('7');
  });

  test('creates, updates and deletes a product', async () => {
    const json = [...common(), 'Content-Type: application/json', `Idempotency-Key: ${name}-1`];
    const created = await exchange(['POST /api/public/v1/products HTTP/1.1', ...json], '{"name":"Desk"}');
    const id = idOf(contentOf(created));
    const patched = await exchange(
      [`PATCH /api/public/v1/products/${id} HTTP/1.1`, ...json],
      '{"name":null}',
    );
    const deleted = await exchange([`DELETE /api/public/v1/products/${id} HTTP/1.1`, ...common()]);
    expect([created, patched, deleted].map((text) => text.slice(9, 12))).toEqual(['201', '200', '204']);
  });
});
