import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { numbered, ONCE, pushAndDie, setUpPush } from '../../support/push.ts';
import { jsonResponse, networkError, noResponse } from '../../support/scripted-fetch.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

type Respond = (init: RequestInit) => Response | Promise<Response>;

const html = () => new Response('<p>Sorry', { headers: { 'content-type': 'text/html' } });
const problem =
  (status: number): Respond =>
  () =>
    jsonResponse({ title: 'Error', status }, status);
const lost = (): Respond => () => Promise.reject(networkError('ECONNRESET'));

/** A service that answers the creates of some rows in its own way, and carries them out first if `isApplied`. */
function withAnswers(
  isMeant: (draft: ProductDraft) => boolean,
  respond: Respond,
  { isApplied = false, creates = true }: { isApplied?: boolean; creates?: boolean } = {},
) {
  const idempotency = { replay: creates ? 'stored' : 'ignored' } as const;
  const { sandbox, entries } = setUpPush([], { sandbox: { idempotency } });
  const sent: string[] = [];
  const fetch: typeof sandbox.fetch = async (url, init = {}) => {
    if (init.method !== 'POST') return await sandbox.fetch(url, init);
    const draft = JSON.parse(String(init.body)) as ProductDraft;
    sent.push(`${draft.productNumber} ${draft.name}`);
    if (!isMeant(draft)) return await sandbox.fetch(url, init);
    if (isApplied) await sandbox.fetch(url, init);
    return await respond(init);
  };
  const client = { ...sandbox.clientOptions, fetch, timeoutMs: 5_000, retry: { creates } };
  const { run } = setUpPush([], { client });
  return {
    sandbox,
    sent,
    run: (rows: ProductDraft[]) => run(rows, { store: entries, maxOutageMs: 60_000 }),
    names: () => sandbox.store.products.all().map(({ name }) => name),
  };
}

const record = { id: '1', productNumber: 'P-0' };

test.each<[string, () => Response]>([
  ['an id that is a number', () => jsonResponse({ ...record, id: 7 }, 201)],
  ['an id that is null', () => jsonResponse({ ...record, id: null }, 201)],
  ['a report of success', () => jsonResponse({ success: true })],
  ['a list', () => jsonResponse([], 201)],
  ['the record in a member', () => jsonResponse({ data: record }, 201)],
  ['no body', () => new Response(null, { status: 201 })],
  [
    'half a body',
    () => new Response('{"id":', { status: 201, headers: { 'content-type': 'application/json' } }),
  ],
  ['a page', html],
])(
  'a push sends each create once to a service that ignores keys and answers with a 2xx and %s, and finds the products',
  async (_, respond) => {
    const { run, sandbox, sent } = withAnswers(() => true, respond, { isApplied: true, creates: false });
    const { done } = await run(numbered(3, { name: 'x' }));
    expect(done).toEqual(['P-0 created', 'P-1 created', 'P-2 created']);
    expect([sent.length, sandbox.store.products.count]).toEqual([3, 3]);
    expect((await run(numbered(3, { name: 'x' }))).done).toEqual([
      'P-0 unchanged',
      'P-1 unchanged',
      'P-2 unchanged',
    ]);
  },
);

test('a push leaves one product for each row of a service whose ids are numbers, which it cannot read', async () => {
  const { run, sandbox } = setUpPush([], {
    sandbox: { ids: { numbers: true }, idempotency: { replay: 'ignored' } },
  });
  for (const _ of [1, 2]) {
    const { done, results } = await run(numbered(3));
    expect(done).toEqual(['P-0 failed', 'P-1 failed', 'P-2 failed']);
    expect(results[0]?.error?.message).toContain('a product without an id, which cannot be read');
  }
  expect(sandbox.store.products.count).toBe(3);
});

const answers: readonly (readonly [string, Respond])[] = [
  ...[500, 501, 502, 503, 504, 507, 520].map((status) => [`a ${status}`, problem(status)] as const),
  ['a reset', lost()],
  ['no response', ({ signal }) => noResponse(signal)],
  ['a page with 200', html],
  ['{"ok":true}', () => jsonResponse({ ok: true })],
  ['{"success":false} with 200', () => jsonResponse({ success: false })],
  ['an empty 201', () => new Response(null, { status: 201 })],
];

test.each(answers)('a push sends a row that was corrected after its create got %s', async (_, respond) => {
  const { names, run, sent } = withAnswers(({ name }) => name === 'bad', respond);
  const rows = (name: string) => [
    { productNumber: 'A', name: 'fine' },
    { productNumber: 'B', name },
  ];
  expect((await run(rows('bad'))).done).toEqual(['A created', 'B failed']);
  sent.length = 0;
  expect((await run(rows('good'))).done).toEqual(['A unchanged', 'B created']);
  expect([sent, names()]).toEqual([['B good'], ['fine', 'good']]);
});

/** A service that stores its answer to an idempotency key, and answers creates in a bad hour with an error. */
function storingService(answer: () => Response, isApplied: boolean) {
  const stored = new Map<string, Response>();
  let isBad = true;
  const setUp = setUpPush();
  const fetch: typeof setUp.sandbox.fetch = async (url, init = {}) => {
    if (init.method !== 'POST') return await setUp.sandbox.fetch(url, init);
    const key = new Headers(init.headers).get('idempotency-key') ?? '';
    const known = stored.get(key);
    if (known !== undefined) return known.clone();
    const response = isBad && !isApplied ? answer() : await setUp.sandbox.fetch(url, init);
    stored.set(key, isBad ? answer() : response.clone());
    return isBad ? answer() : response;
  };
  const { run } = setUpPush([], { client: { ...setUp.sandbox.clientOptions, fetch } });
  return {
    ...setUp,
    run: (rows: ProductDraft[]) => run(rows, { store: setUp.entries }),
    end: () => {
      isBad = false;
    },
  };
}

test.each<[string, () => Response, boolean]>([
  ['a 500', () => jsonResponse({ status: 500 }, 500), false],
  ['a 500 after it has created the product', () => jsonResponse({ status: 500 }, 500), true],
  ['a 504', () => jsonResponse({ status: 504 }, 504), false],
  [
    'a page with 500',
    () => new Response('<p>x', { status: 500, headers: { 'content-type': 'text/html' } }),
    false,
  ],
  ['{"success":false} with 200', () => jsonResponse({ success: false }), false],
])(
  'a push creates rows in the run after a bad evening, in which the service stored %s for each key',
  async (_, answer, isApplied) => {
    const { end, run, sandbox } = storingService(answer, isApplied);
    const evening = await run(numbered(10, { name: 'x' }));
    expect(evening.report.counts.created).toBe(isApplied ? 10 : 0);
    end();
    const { report } = await run(numbered(10, { name: 'x' }));
    expect(report.counts).toMatchObject({ failed: 0, [isApplied ? 'unchanged' : 'created']: 10 });
    expect(sandbox.store.products.count).toBe(10);
  },
);

test('a push sends the draft of a killed push once more under its key, and then brings the product to the row of today', async () => {
  const setUp = setUpPush();
  const { run, sandbox } = setUp;
  await pushAndDie(setUp, [{ productNumber: 'A', name: 'old' }], { committed: false });
  const [first] = sandbox.requests.filter(({ method }) => method === 'POST');
  expect((await run([{ productNumber: 'A', name: 'new' }])).done).toEqual(['A created']);
  const writes = sandbox.requests.filter(({ method }) => method !== 'GET');
  expect(writes.map(({ method, body }) => [method, body])).toEqual([
    ['POST', { name: 'old', productNumber: 'A' }],
    ['PATCH', { name: 'new' }],
  ]);
  expect(writes[0]?.idempotencyKey).toBe(first?.idempotencyKey);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'new' }]);
});

test('a push looks for the product of a create also if another row of the round is one whose product is gone', async () => {
  const { sandbox } = setUpPush([], { sandbox: { idempotency: { replay: 'ignored' } } });
  const client = { ...sandbox.clientOptions, retry: { creates: false } };
  const { run } = setUpPush([], { client });
  await run([{ productNumber: 'A' }]);
  sandbox.store.products.delete('1');
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
  expect((await run([{ productNumber: 'A' }, { productNumber: 'B' }])).done).toEqual([
    'A created',
    'B created',
  ]);
  expect(sandbox.store.products.count).toBe(2);
});

test('a push looks again for a product that a repeated create returned, but a request did not find', async () => {
  const { run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: false }, { method: 'POST', times: 1 });
  const missing = { kind: 'status', status: 404, type: 'not_found' } as const;
  sandbox.faults.add(missing, { path: /products\/1$/, method: 'GET', times: 1 });
  const { done } = await run([{ productNumber: 'A' }], ONCE);
  expect([done, sandbox.count(({ path }) => path.endsWith('/products/1'))]).toEqual([['A created'], 2]);
});

test('a push says that the service may hold several products of a row whose creates all ended without a result', async () => {
  const { run } = withAnswers(() => true, lost(), { creates: false });
  const { results } = await run([{ productNumber: 'A', name: 'x' }]);
  const reason =
    'the service may hold up to 3 products of it; run the push again: it continues with this row';
  expect(results).toMatchObject([{ action: 'failed', reason, error: { outcome: 'unknown' } }]);
});
