import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { collections } from '../../../../src/collections/index.ts';
import {
  ExactNumber,
  type Json,
  jsonText,
  parseExactly,
  type Request,
} from '../../../../src/testing/window/api.ts';
import {
  collectionOf,
  curlOf,
  literal,
  ruleCode,
  ruleCurl,
  ruleFlag,
  testOf,
} from '../../../../src/testing/window/code.ts';

const KNOWN = { conditions: [] as string[], collections: Object.keys(collections) };
const CONDITIONS = ['method', 'path', 'collection', 'skip', 'times', 'forMs', 'probability'];

function request(more: Partial<Request>): Request {
  return {
    number: 1,
    method: 'GET',
    url: '/api/public/v1/accounts',
    path: '/api/public/v1/accounts',
    query: {},
    headers: { host: '127.0.0.1:4010', accept: '*/*', 'user-agent': 'curl' },
    key: 'full',
    idempotencyKey: null,
    status: 200,
    error: null,
    records: 0,
    fault: null,
    faults: [],
    startedAt: 0,
    durationMs: 1,
    body: null,
    bodyBytes: 0,
    quota: null,
    response: null,
    ...more,
  };
}

/** The words of a command, as a shell passes them on. */
const argumentsOf = (command: string) =>
  execFileSync('bash', ['-c', `curl() { printf '%s\\0' "$@"; }; npx() { curl "$@"; }\n${command}`], {
    encoding: 'utf8',
  })
    .split('\0')
    .slice(0, -1);

describe('a request as curl', () => {
  const to = { origin: 'http://127.0.0.1:4010', key: "sandbox-it's" };

  test('has its address, its key and the headers that it chose', () => {
    const url = '/api/public/v1/accounts?id[gt]=5&updatedSince=2026-01-01';
    const headers = { accept: 'application/json', 'sec-fetch-mode': 'cors', 'content-length': '9' };
    expect(argumentsOf(curlOf(request({ url, headers }), to))).toEqual([
      '-g',
      `http://127.0.0.1:4010${url}`,
      '-H',
      "X-AUTH-TOKEN: sandbox-it's",
      '-H',
      'accept: application/json',
    ]);
  });

  test.each([
    ['{"name":"It\'s a $HOME `desk` \\\\ \\u0041 \\n","n":12345678901234567.89}'],
    ['not JSON: \n %&'],
    ['null'],
  ])('sends the body %j with the digits that it had', (text) => {
    const isJson = !text.startsWith('not');
    const body = isJson ? parseExactly(text) : text;
    const sent = request({ method: 'POST', body, bodyBytes: 1, headers: { 'idempotency-key': 'k 1' } });
    const words = argumentsOf(curlOf(sent, { ...to, key: undefined }));
    expect(words.slice(0, 2)).toEqual(['-X', 'POST']);
    expect(words).toContain('X-AUTH-TOKEN: YOUR_KEY');
    expect(words).toContain('idempotency-key: k 1');
    const data = words[words.indexOf('--data-raw') + 1] ?? '';
    expect(isJson ? parseExactly(data) : data).toEqual(body);
  });
});

describe('a fault as code', () => {
  const rules: readonly Json[] = [
    { kind: 'lost-response', committed: true, times: 1 },
    { kind: 'status', status: 503, retryAfter: "it's 5", collection: 'boms', times: 2, skip: 1 },
    { kind: 'status', status: 404, body: { 'a-b': null, c: [1, 'x'] } },
    { kind: 'status', status: 503, collection: 'boms', times: 1 },
    { kind: 'stall' },
  ];

  test.each(rules)('%j is what a test adds', (rule) => {
    const added: object[] = [];
    const faults = {
      add: (fault: object, match = {}) => added.push({ ...fault, ...match }),
      next: (fault: object) => added.push({ ...fault, times: 1 }),
    };
    new Function('sandbox', ruleCode(rule, CONDITIONS))({ faults });
    expect(added).toEqual([rule]);
  });

  test.each(rules)('%j is what a request and a flag add', (rule) => {
    const flag = argumentsOf(ruleFlag(rule));
    expect([flag.slice(0, 3), JSON.parse(flag[3] ?? '')]).toEqual([
      ['accounting-data-sdk', 'sandbox', '--fault'],
      rule,
    ]);
    expect(JSON.parse(argumentsOf(ruleCurl(rule, 'http://localhost')).at(-1) ?? '')).toEqual(rule);
  });
});

test.each<[more: Partial<Request>, call: string]>([
  [{}, 'await client.accounts.list().toArray({ limit: 100 });'],
  [
    { query: { 'id[gt]': '5', 'id[lte]': '9', updatedSince: '2026-01-01', _page: '2' } },
    "await client.accounts.list({ updatedSince: '2026-01-01', id: { gt: '5', lte: '9' } }).toArray({ limit: 100 });",
  ],
  [{ path: '/api/public/v1/bom-lines/a%20b' }, "await client.bomLines.get('a b');"],
  [{ path: '/api/public/v1/boms/%E0%A4%A' }, "await client.boms.get('%E0%A4%A');"],
  [
    { method: 'POST', path: '/api/public/v1/products', body: { name: "It's" }, idempotencyKey: 'k' },
    "await client.products.create({ name: 'It\\'s' }, { idempotencyKey: 'k' });",
  ],
  [
    { method: 'PATCH', path: '/api/public/v1/products/7', body: { n: null } },
    "await client.products.update('7', { n: null });",
  ],
  [{ method: 'DELETE', path: '/api/public/v1/products/7' }, "await client.products.delete('7');"],
  [
    { path: '/api/public/v1/products/7/lines', query: { a: '1' } },
    "await client.request({ method: 'GET', path: '/products/7/lines', query: { a: '1' } });",
  ],
  [
    { method: 'POST', path: '/api/public/v1/products/7', body: { a: 1 }, bodyBytes: 7, idempotencyKey: 'k' },
    "await client.request({ method: 'POST', path: '/products/7', body: { a: 1 }, idempotencyKey: 'k' });",
  ],
  [
    { method: 'DELETE', path: '/api/public/v1/products' },
    "await client.request({ method: 'DELETE', path: '/products' });",
  ],
  [
    { method: 'DELETE', path: '/api/public/v1/boms/7' },
    "await client.request({ method: 'DELETE', path: '/boms/7' });",
  ],
  [
    { method: 'POST', path: '/api/public/v1/boms', body: {}, bodyBytes: 2 },
    "await client.request({ method: 'POST', path: '/boms', body: {} });",
  ],
  [{ path: '/api/public/v1/nothing' }, "await client.request({ method: 'GET', path: '/nothing' });"],
  [
    { method: 'POST', path: '/api/public/v1/products', body: [1], bodyBytes: 3 },
    "await client.request({ method: 'POST', path: '/products', body: [1] });",
  ],
  // A client sends requests to the service alone, and no other bodies than JSON.
  [
    { path: '/other', url: '/other?a=1' },
    "await sandbox.fetch(sandbox.baseUrl + '/other?a=1', { headers: { 'X-AUTH-TOKEN': sandbox.keys.full } });",
  ],
  [
    { method: 'PUT', url: '/api/public/v1/boms/1', path: '/api/public/v1/boms/1', key: null },
    "await sandbox.fetch(sandbox.baseUrl + '/api/public/v1/boms/1', { method: 'PUT' });",
  ],
  [
    {
      ...{
        method: 'PATCH',
        url: '/api/public/v1/products/1',
        path: '/api/public/v1/products/1',
        key: 'key-7',
      },
      ...{ body: 'name = x', bodyBytes: 8, headers: { accept: '*/*', 'content-type': 'text/plain' } },
    },
    "await sandbox.fetch(sandbox.baseUrl + '/api/public/v1/products/1', { method: 'PATCH', headers: { 'content-type': 'text/plain' }, body: 'name = x' });",
  ],
])('the request %j as a test is %s', (more, call) => {
  expect(testOf(request(more), [], KNOWN)).toBe(call);
});

test('a test begins with the faults that the request met', () => {
  const rules = [
    { kind: 'delay', ms: 5, method: 'GET' },
    { kind: 'stall', times: 1 },
  ];
  const known = { ...KNOWN, conditions: CONDITIONS };
  expect(testOf(request({}), rules, known).split('\n').slice(0, 2)).toEqual([
    "sandbox.faults.add({ kind: 'delay', ms: 5 }, { method: 'GET' });",
    "sandbox.faults.next({ kind: 'stall' });",
  ]);
});

test('every collection is found by the segment of its path', () => {
  for (const [name, { segment }] of Object.entries(collections)) expect(collectionOf(segment)).toBe(name);
});

test('values keep their digits, and strings their characters', () => {
  const value = parseExactly('{"a":1.10,"b":[1,12345678901234567890],"c":"\\"\'\\n\\\\"}');
  expect(value).toEqual({
    a: new ExactNumber('1.10'),
    b: [1, new ExactNumber('12345678901234567890')],
    c: '"\'\n\\',
  });
  expect(jsonText(value)).toBe('{"a":1.10,"b":[1,12345678901234567890],"c":"\\"\'\\n\\\\"}');
  const { c } = new Function(`return ${literal(value)}`)() as { c: string };
  expect(c).toBe('"\'\n\\');
});
