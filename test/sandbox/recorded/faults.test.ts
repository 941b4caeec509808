import {
  createSandbox,
  type Fault,
  type FaultMatch,
  faultyFetch,
  type Sandbox,
} from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

type Case = readonly [fault: Fault, match?: FaultMatch];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  'a lost response': [[{ kind: 'lost-response', committed: true }]],
  'a lost request': [[{ kind: 'lost-response', committed: false }]],
  'a marked key': [
    [
      { kind: 'lost-response', committed: false, marker: true },
      { method: 'POST', times: 1 },
    ],
  ],
  'a disconnect in the headers': [[{ kind: 'disconnect' }]],
  'a disconnect in the body': [[{ kind: 'disconnect', in: 'body', atByte: 5, reset: true }]],
  'a disconnect before the commit': [[{ kind: 'disconnect', committed: false }]],
  'no connection': [[{ kind: 'connection-refused' }]],
  'a late response': [[{ kind: 'delay', ms: 2_500 }]],
  'a late commit': [[{ kind: 'delay', ms: 2_500, before: 'commit' }]],
  'two delays and a status': [
    [{ kind: 'delay', ms: 1_000 }],
    [{ kind: 'delay', ms: 500, before: 'commit' }, { method: 'POST' }],
    [{ kind: 'status', status: 503 }, { collection: 'products' }],
  ],
  'no response': [[{ kind: 'stall' }]],
  'a body that stops': [[{ kind: 'stall', in: 'body', atByte: 3 }]],
  'a stall before the commit': [[{ kind: 'stall', committed: false }]],
  'a slow body': [[{ kind: 'slow-body', bytes: 40, everyMs: 300 }]],
  'a status of each kind': [
    400, 401, 403, 404, 405, 406, 409, 412, 415, 422, 428, 429, 500, 502, 503, 504,
  ].map((status) => [{ kind: 'status', status, ...(status === 429 && { retryAfter: 3 }) }, { times: 1 }]),
  'a status that was committed': [[{ kind: 'status', status: 500, committed: true, body: '<h1>Oops</h1>' }]],
  'a status with a type and a date': [
    [
      {
        kind: 'status',
        status: 409,
        type: 'request_in_progress',
        retryAfter: 'Sat, 31 Jan 2026 12:01:00 GMT',
      },
    ],
  ],
  'a status with a JSON body': [[{ kind: 'status', status: 404, body: { message: 'Not Found' } }]],
  'another response': [
    [
      {
        kind: 'rewrite',
        status: 302,
        headers: { location: '/login', date: null },
        body: (body) => body.slice(0, 4),
      },
    ],
  ],
  'a rewrite before the commit': [[{ kind: 'rewrite', committed: false, body: '[]' }]],
  'the second and third request to a path': [
    [
      { kind: 'status', status: 500 },
      { path: '/api/public/v1/accounts', skip: 1, times: 2 },
    ],
  ],
  'any other condition': [
    [{ kind: 'status', status: 500 }, { when: ({ query }) => query.includes('_page=2') }],
  ],
  'for two seconds': [[{ kind: 'status', status: 503 }, { forMs: 2_000 }]],
  'half of the requests': [[{ kind: 'status', status: 503 }, { probability: 0.5 }]],
};

const REQUESTS = [
  'GET accounts',
  'GET accounts?_page=2',
  'GET accounts/1',
  'POST products k1',
  'POST products k1',
  'PATCH products/1',
  'DELETE products/1',
  'GET accounts',
];

/** What a request ends with, and after how many ms. One that has not ended after a minute is aborted. */
async function ended(sandbox: Sandbox, fetch: Sandbox['fetch'], sent: string): Promise<string> {
  const [method = '', path, key] = sent.split(' ');
  const startedAt = Date.now();
  const after = () => `after ${Date.now() - startedAt} ms`;
  const body = method === 'POST' || method === 'PATCH' ? { body: '{"name":"Desk"}' } : {};
  const controller = new AbortController();
  const limit = setTimeout(() => controller.abort(), 60_000);
  try {
    const response = await fetch(`${sandbox.baseUrl}/api/public/v1/${path}`, {
      method,
      ...body,
      redirect: 'manual',
      headers: {
        'x-auth-token': sandbox.keys.full,
        'content-type': 'application/json',
        ...(key && { 'idempotency-key': key }),
      },
      signal: controller.signal,
    });
    const headers = [...response.headers].filter(([name]) => !name.startsWith('x-ratelimit'));
    const head = `${response.status} ${after()} ${JSON.stringify(Object.fromEntries(headers))}`;
    try {
      const text = await response.text();
      return `${head}\n    ${text.length} characters ${after()}: ${text.slice(0, 60)}`;
    } catch (error) {
      return `${head}\n    body: ${reason(error)} ${after()}`;
    }
  } catch (error) {
    return `${reason(error)} ${after()}`;
  } finally {
    clearTimeout(limit);
  }
}

function reason(error: unknown): string {
  const { name, message, code, cause } = error as Error & { readonly code?: unknown };
  const text = `${name}: ${message}${typeof code === 'string' ? ` (${code})` : ''}`;
  return cause === undefined ? text : `${text} < ${reason(cause)}`;
}

const service = () =>
  createSandbox({ origin: 'https://service.example', records: { accounts: 3, products: 1 }, pageSize: 2 });

/** The requests one after another: what each ends with, and what has become of the service and of the faults. */
async function play(cases: readonly Case[], around: boolean): Promise<string> {
  startEvenClock();
  const sandbox = service();
  if (!around) for (const [fault, match] of cases) sandbox.faults.add(fault, match);
  const fetch = around
    ? faultyFetch(
        sandbox.fetch,
        cases.map(([fault, match]) => ({ fault, ...match })),
      )
    : sandbox.fetch;
  const lines: string[] = [];
  for (const sent of REQUESTS) lines.push(`${sent}\n    ${await runToEnd(ended(sandbox, fetch, sent))}`);
  if (!around) {
    const rules = sandbox.faults.rules.map(
      ({ fault, hits, active }) => `${fault.kind}, ${hits} hits, ${active ? 'active' : 'ended'}`,
    );
    lines.push('rules', ...rules.map((rule) => `    ${rule}`));
    sandbox.faults.clear();
    lines.push(`    after clear: ${await ended(sandbox, fetch, 'GET accounts?_page=2')}`);
  }
  const log = sandbox.requests.map(({ method, path, status, fault }) => ({
    method,
    path: path.slice(15),
    status,
    fault,
  }));
  const products = sandbox.store.products.all().map(({ id, name }) => ({ id, name }));
  for (const [title, all] of Object.entries({ requests: log, journal: sandbox.journal, products }))
    lines.push(title, ...all.map((one) => `    ${JSON.stringify(one)}`));
  return lines.join('\n');
}

test.each([
  ['sandbox', false],
  ['faultyFetch', true],
])('each fault of %s does to each request what is recorded', async (name, around) => {
  const parts: string[] = [];
  for (const [title, cases] of Object.entries(CASES)) parts.push(`# ${title}\n${await play(cases, around)}`);
  await expect(`${parts.join('\n\n')}\n`).toMatchFileSnapshot(`./faults-${name}.txt`);
});
