import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

/** `[GET /accounts]` is sent to the service, all others to `/_sandbox`. */
const SCRIPT: readonly (readonly [
  request: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
])[] = [
  ['GET '],
  ['HEAD /state'],
  ['GET /state'],
  ['GET /options'],
  ['GET /nothing'],
  ['PUT /state', {}],
  ['GET /records/%zz'],
  ['GET /state', undefined, { origin: 'https://evil.example' }],
  ['GET /state', undefined, { 'sec-fetch-site': 'cross-site' }],
  ['POST /reset', {}, { 'content-type': 'text/plain' }],
  ['POST /reset', '{"records":'],
  ['[GET /accounts?_page=2]'],
  ['[GET /accounts/9]'],
  ['[POST /products]', { name: 'Desk', productNumber: 'N1' }, { 'idempotency-key': 'k1' }],
  ['[PATCH /products/1]', { name: 'Desk 2' }],
  ['[DELETE /products/1]'],
  ['GET /requests'],
  ['GET /requests?after=2'],
  ['GET /requests?after=4&bodies=true'],
  ['GET /requests?after=x'],
  ['GET /requests?limit=1'],
  ['GET /requests/3'],
  ['GET /requests/99'],
  ['GET /requests/x'],
  ['GET /journal'],
  ['GET /journal?limit=1'],
  ['DELETE /requests', {}],
  ['GET /requests'],
  ['GET /journal'],
  ['POST /faults', { kind: 'status', status: 503, retryAfter: 2, times: 1 }],
  ['POST /faults', { kind: 'delay', ms: 5, times: 1, collection: 'accounts' }],
  ['POST /faults', { kind: 'lost-response', committed: true, method: 'POST', skip: 1 }],
  ['POST /faults', { kind: 'nothing' }],
  ['POST /faults', { kind: 'stall', after: 3 }],
  ['POST /faults', { kind: 'stall', when: 'x' }],
  ['[GET /accounts]'],
  ['[GET /accounts]'],
  ['GET /faults'],
  ['DELETE /faults/2', {}],
  ['DELETE /faults/99', {}],
  ['DELETE /faults', {}],
  ['GET /faults'],
  ['GET /records/accounts'],
  ['GET /records/accounts?offset=1&limit=1'],
  ['GET /records/accounts?company=other'],
  ['GET /records/accounts?company=x'],
  ['GET /records/accounts?search=MAPLE'],
  ['GET /records/nothing'],
  ['GET /records/accounts/1'],
  ['GET /records/accounts/99'],
  ['POST /records/accounts', { name: 'Pine' }],
  ['POST /records/accounts', { name: 7, nothing: 1 }],
  ['POST /records/accounts', { id: '1' }],
  ['PATCH /records/accounts/1', { name: 'Oak' }],
  ['PATCH /records/accounts/99', { name: 'Oak' }],
  ['DELETE /records/accounts/1', {}],
  ['DELETE /records/accounts/1', {}],
  ['POST /clock', { advanceMs: 60_000 }],
  ['POST /clock', { set: '2026-03-01T00:00:00Z' }],
  ['POST /clock', { advanceMs: 'x' }],
  ['POST /clock', {}],
  ['POST /keys', { collections: ['accounts'] }],
  ['POST /keys', { collections: ['nothing'] }],
  ['POST /quota', { limit: 2 }],
  ['POST /quota', { remaining: 0 }],
  ['POST /quota', { limit: 'x' }],
  ['[GET /accounts]'],
  ['DELETE /quota', {}],
  ['[GET /accounts]'],
  ['GET /state'],
  ['POST /reset', { pageSize: 1, records: { accounts: 2 } }],
  ['[GET /accounts]'],
  ['POST /reset', { pageSizes: 1 }],
  ['GET /state'],
  ['POST /reset'],
  ['GET /requests'],
];

/** Headers that each response has, or that the connection has. */
const QUIET = [
  'content-length',
  'connection',
  'keep-alive',
  'date',
  'transfer-encoding',
  'access-control-expose-headers',
];

test('each control of a listening sandbox sends what is recorded', async () => {
  await using sandbox = createSandbox({
    clock: '2026-01-31T12:00:00Z',
    pageSize: 2,
    records: { accounts: 3, products: 1 },
  });
  const { url } = await sandbox.listen({ control: true });
  const lines: string[] = [];
  for (const [request, body, headers] of SCRIPT) {
    const ofService = request.startsWith('[');
    const [method = '', path = ''] = request.replaceAll(/[[\]]/g, '').split(' ');
    const response = await fetch(`${url}${ofService ? '/api/public/v1' : '/_sandbox'}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(ofService && { 'x-auth-token': sandbox.keys.full }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const shown = [...response.headers].filter(([name]) => !QUIET.includes(name));
    const text = (await response.text())
      .replace(/<.*>/s, '(a page)')
      .replaceAll(/"(startedAt|durationMs)":[\d.e-]+/g, '"$1":0')
      .replaceAll(/"(version|instance)":"[^"]*"/g, '"$1":"…"');
    const sent = [body !== undefined && JSON.stringify(body), headers && JSON.stringify(headers)].filter(
      Boolean,
    );
    lines.push(
      [request, ...sent].join(' '),
      `  ${response.status}`,
      ...shown.map((header) => `  ${header.join(': ')}`),
      `  ${text.length > 700 ? `${text.slice(0, 700)} and ${text.length - 700} more` : text}`,
    );
  }
  const recorded = lines.join('\n').replaceAll(url, 'ORIGIN').replaceAll(new URL(url).host, 'HOST');
  await expect(`${recorded}\n`).toMatchFileSnapshot('./control.txt');
});
