import { createSandbox, type Fault, type ListenOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { rawCall } from '../support/raw.ts';

interface Step {
  /** The method and the path behind the base path, or a whole path. */
  readonly send: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly fault?: Fault;
  /** Instead of the full key. */
  readonly key?: string | null;
}

const JSON_BODY = 'Content-Type: application/json';
const FOREIGN = 'Origin: https://shop.example';

const STEPS: readonly Step[] = [
  { send: 'GET /accounts' },
  { send: 'HEAD /accounts' },
  { send: 'GET /accounts/9' },
  { send: 'HEAD /accounts/9' },
  { send: 'GET /accounts?a=1?b=2&_page=2' },
  { send: 'GET /accounts/1', headers: [FOREIGN] },
  { send: 'GET /accounts/1', key: null, headers: ['x-auth-token: KEY'] },
  { send: 'GET /accounts/1', key: null },
  { send: 'OPTIONS /accounts/1', key: null },
  { send: 'OPTIONS /products', key: null, headers: [FOREIGN, 'Access-Control-Request-Method: POST'] },
  {
    send: 'OPTIONS /products',
    key: null,
    headers: [
      ...[FOREIGN, 'Access-Control-Request-Method: PATCH', 'Access-Control-Request-Headers: x-a, x-b'],
      'Access-Control-Request-Private-Network: true',
    ],
  },
  { send: 'GET /products/large', headers: ['Accept-Encoding: gzip, br'] },
  { send: 'HEAD /products/large', headers: ['Accept-Encoding: GZIP'] },
  { send: 'GET /products/large', headers: ['Accept-Encoding: br'] },
  { send: 'POST /products', headers: [JSON_BODY, 'Idempotency-Key: k'], body: '{"name":"Ünï"}' },
  { send: 'POST /products', headers: [JSON_BODY, 'Idempotency-Key: k2', 'Expect: 100-continue'], body: '{}' },
  { send: 'PATCH /products/2', headers: [JSON_BODY], body: '{"name":' },
  { send: 'DELETE /products/2' },
  { send: 'TRACE /products/2' },
  { send: 'GET /other' },
  { send: 'GET http://elsewhere.example/x' },
  { send: 'GET /_sandbox/state' },
  { send: 'GET /accounts', fault: { kind: 'status', status: 429, retryAfter: '1.5' } },
  { send: 'GET /accounts', fault: { kind: 'status', status: 999, body: '<h1>Away</h1>' } },
  { send: 'GET /accounts', fault: { kind: 'status', status: 503, body: { a: 1 }, committed: true } },
  { send: 'GET /accounts', fault: { kind: 'rewrite', headers: { Date: null, 'X-Made': 'yes' }, body: 'né' } },
  {
    send: 'GET /accounts',
    fault: { kind: 'rewrite', status: 302, headers: { Location: '/x' }, committed: false },
  },
  { send: 'GET /accounts', fault: { kind: 'disconnect', in: 'headers', atByte: 30 } },
  { send: 'GET /accounts', fault: { kind: 'disconnect', in: 'headers', reset: true } },
  { send: 'GET /accounts/1', fault: { kind: 'disconnect', in: 'body', atByte: 10 } },
  { send: 'GET /accounts/1', fault: { kind: 'disconnect', in: 'body', reset: true } },
  {
    send: 'GET /products/large',
    headers: ['Accept-Encoding: gzip'],
    fault: { kind: 'disconnect', in: 'body', atByte: 5 },
  },
  { send: 'GET /accounts/1', fault: { kind: 'slow-body', bytes: 100, everyMs: 1 } },
  { send: 'HEAD /accounts/1', fault: { kind: 'slow-body', bytes: 100, everyMs: 1 } },
  { send: 'DELETE /accounts/1', fault: { kind: 'slow-body', bytes: 100, everyMs: 1 } },
  { send: 'GET /accounts', fault: { kind: 'lost-response', committed: true } },
  { send: 'GET /accounts', headers: [FOREIGN], fault: { kind: 'delay', ms: 1 } },
];

const LISTENING: Readonly<Record<string, ListenOptions>> = {
  'every default': {},
  'without CORS, for one host': { cors: false, hosts: ['sandbox'] },
};

/** What the second port sends differently is enough of it. */
const SHORT: readonly Step[] = [
  { send: 'GET /accounts/1', headers: [FOREIGN] },
  { send: 'OPTIONS /products', key: null, headers: [FOREIGN, 'Access-Control-Request-Method: POST'] },
  { send: 'GET /accounts/1', headers: ['Host: elsewhere:80'] },
  { send: 'POST /products', headers: ['Host: elsewhere', JSON_BODY], body: '{}' },
  { send: 'GET /accounts/1', headers: ['Host: SANDBOX:4010'] },
];

test('a port sends the bytes that are recorded', async () => {
  const lines: string[] = [];
  let first: readonly string[] | undefined;
  for (const [title, options] of Object.entries(LISTENING)) {
    await using sandbox = createSandbox({
      clock: '2026-01-31T12:00:00Z',
      records: { accounts: 1, products: 2 },
      pageSize: 2,
    });
    sandbox.store.products.insert({ id: 'large', description: 'x'.repeat(20_000) });
    const listening = await sandbox.listen(options);
    lines.push(`# ${title}`);
    for (const { send, headers = [], body, fault, key = sandbox.keys.full } of lines.length > 1
      ? SHORT
      : STEPS) {
      if (fault !== undefined) sandbox.faults.next(fault);
      const [method = '', path = ''] = send.split(' ');
      const isWhole = path.startsWith('/_') || path.startsWith('/other') || path.startsWith('http');
      const bytes = Buffer.from(body ?? '');
      const head = [
        `${method} ${isWhole ? '' : '/api/public/v1'}${path} HTTP/1.1`,
        ...(headers.some((header) => header.startsWith('Host')) ? [] : ['Host: sandbox']),
        ...(key === null ? [] : [`X-AUTH-TOKEN: ${key}`]),
        ...headers.map((header) => header.replace('KEY', sandbox.keys.full)),
        ...(body === undefined ? [] : [`Content-Length: ${bytes.byteLength}`]),
        'Connection: close',
      ];
      const { text, end } = await rawCall(listening, `${head.join('\r\n')}\r\n\r\n${bytes}`).response;
      lines.push('', [send, ...headers, body, fault && JSON.stringify(fault)].filter(Boolean).join(' | '));
      const response = shown(text);
      first ??= response;
      const written = first === response ? response : unlike(first, response);
      lines.push(...[...written, end].map((line) => `  ${line}`));
    }
    lines.push('');
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./wire.txt');
});

/** The lines of a response, a long body and one that is compressed by its beginning. */
function shown(text: string): string[] {
  const parts = text.split('\r\n\r\n');
  const heads = parts.splice(0, text.startsWith('HTTP/1.1 100') ? 2 : 1);
  const body = Buffer.from(parts.join('\r\n\r\n'), 'latin1');
  const isPlain = !heads.some((head) => head.includes('Content-Encoding'));
  const start = isPlain ? body.toString().slice(0, 100) : `compressed ${body.subarray(0, 3).toString('hex')}`;
  const more = body.byteLength > 100 && isPlain ? ` of ${body.byteLength} bytes` : '';
  const lines = heads
    .flatMap((head) => head.split('\r\n'))
    .map((line) => {
      // A preflight has the time of the machine, and how well a machine compresses differs.
      if (line.startsWith('Date: ') && !line.includes('31 Jan 2026')) return 'Date: now';
      return line.startsWith('Content-Length') && !isPlain ? 'Content-Length: …' : line;
    });
  return [...lines, ...(body.byteLength === 0 ? [] : [`${start}${more}`])].filter(Boolean);
}

/** Of a later response, what the first one did not have, and the headers that it lacks. */
function unlike(first: readonly string[], lines: readonly string[]): string[] {
  const names = new Set(lines.map((line) => line.split(':')[0]));
  const gone = first.filter((line) => /^[\w-]+: /.test(line) && !names.has(line.split(':')[0]));
  return [...lines.filter((line) => !first.includes(line)), ...gone.map((line) => `- ${line.split(':')[0]}`)];
}
