import { createClient } from 'accounting-data-sdk';
import { type DiscoverOptions, discover, whoami } from 'accounting-data-sdk/explore';
import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { SERVICES } from '../../support/services.ts';
import { runToEnd, useVirtualClock } from '../../support/virtual-clock.ts';
import { openService } from '../support/service.ts';

useVirtualClock();

/** A line for each request: what was asked, and what came back. */
const requestLines = ({ requests }: Sandbox): string[] =>
  requests.map(({ method, path, query, status, records }) => {
    const url = new URLSearchParams(query);
    const came = records === undefined ? '' : `, ${records} records`;
    return `${method} ${path.replace('/api/public/v1', '')}?${decodeURIComponent(url.toString())} → ${status}${came}`;
  });

/** What is discovered: the report without its source, then the source, each line of it once. */
async function discovered(sandbox: Sandbox, options: DiscoverOptions): Promise<string[]> {
  const progress: string[] = [];
  const { source, ...report } = await runToEnd(
    discover(createClient(sandbox.clientOptions), {
      onProgress: (now) => progress.push(`progress ${JSON.stringify(now)}`),
      ...options,
    }),
  );
  const found = report.collections.flatMap(({ collection, fields, references, ...counts }) => [
    `${collection} ${JSON.stringify(counts)}`,
    ...Object.entries(fields).map(([name, field]) => `${collection}.${name} ${JSON.stringify(field)}`),
    ...Object.entries(references).map(([path, to]) => `${collection}.${path} → ${JSON.stringify(to)}`),
  ]);
  return [...progress, `requests ${report.requests}`, ...found, ...source.split('\n').filter(Boolean)];
}

// Of the other services only what the first one does not have.
test('discover reports of each service what is recorded, by the requests that are recorded', async () => {
  const text: string[] = [];
  let usual: ReadonlySet<string> | undefined;
  for (const [name, service] of Object.entries(SERVICES)) {
    const sandbox = openService({
      records: { accounts: 70, products: 5, boms: 2, bomLines: 40 },
      ...service,
    });
    const collections = ['bomLines', 'accounts', 'budgets', 'boms'] as const;
    const lines = [...(await discovered(sandbox, { collections, sample: 50 })), ...requestLines(sandbox)];
    text.push(`# ${name}`, ...lines.filter((line) => usual?.has(line) !== true), '');
    usual ??= new Set(lines);
  }
  await expect(text.join('\n')).toMatchFileSnapshot('./discover-services.txt');
});

const many = (count: number, make: (index: number) => object) =>
  Array.from({ length: count }, (_, at) => make(at));

/** Records by what is special about them. */
const RECORDS: Readonly<Record<string, readonly object[]>> = {
  'no record': [],
  'one record without fields': [{}],
  strings: many(25, (at) => ({
    kind: ['a', 'b', 'c'][at % 3],
    word: at % 2 === 0 ? 'yes (1)' : 'no & none',
    twelve: `w${at % 12}`,
    thirteen: `w${at % 13}`,
    long: `${'x'.repeat(32)}${at % 2}`,
    thirtyTwo: `${'x'.repeat(31)}${at % 2}`,
    text: `free text, ${at % 2}`,
    some: at < 20 ? 'here' : undefined,
    few: at < 19 ? 'here' : undefined,
    five: `v${at % 5}`,
    six: `v${at % 6}`,
    empty: '',
  })),
  dates: [
    {
      day: '2026-01-31',
      at: '2026-01-31T12:00:00Z',
      both: '2026-01-31',
      local: '2026-01-31T12:00:00',
      wrong: '2026-02-30',
    },
    {
      day: '2024-02-29',
      at: '2026-01-31T12:00:00.5+01:00',
      both: '2026-01-31T12:00:00Z',
      local: '2026-01-31T12:00:00Z',
      wrong: '2026-02-28',
    },
  ],
  amounts: [
    {
      two: '1.00',
      four: '-1.0000',
      five: '1.00000',
      one: '1.5',
      mixed: '1.00',
      price: '1',
      cost: '1',
      vatRate: '21.00',
      weight: '1.00',
      code: '12',
      totals: '1.00',
    },
    {
      two: '-0.50',
      four: '129.0000',
      five: '2.00000',
      one: '2.5',
      mixed: '1.000',
      price: '1.5',
      cost: '2',
      vatRate: '9.5',
      weight: '2.00',
      code: '13',
      totals: 'none',
    },
  ],
  numbers: [
    { count: 1, part: 1, price: 12, salePrice: 1.5, mixed: 1, flag: true, or: true },
    { count: 2, part: 1.5, price: 13, salePrice: 2, mixed: 'x', flag: false, or: 1 },
    { count: null, part: null, mixed: null, flag: null },
  ],
  lists: [
    {
      tags: ['a', 'b'],
      empty: [],
      mixed: [1, 'a', null],
      nested: [[1], [2, 3]],
      lines: [{ amount: '1.00' }, { amount: '2.00', note: 'x' }],
      maybe: null,
    },
    { tags: [], empty: [], mixed: [], nested: [], lines: [], maybe: ['x'] },
  ],
  objects: [
    {
      address: { city: 'Delft', geo: { lat: 1.5, lon: 2 } },
      'e-mail': { at: 1 },
      e: { mail: { at: 'x' } },
      or: { a: 1 },
      empty: {},
    },
    { address: { city: null }, 'e-mail': { at: null }, e: {}, or: 'text', empty: {} },
    { address: null },
  ],
  depth: [{ a: { b: { c: { d: { e: { f: { g: { h: { i: { j: 1 } } } } } } } } }, l: [[[[[[[[[1]]]]]]]]] }],
  names: [
    {
      "it's": 1,
      'say "x"': 2,
      'a b': 3,
      toString: 'x',
      constructor: { valueOf: 1 },
      $ref: 'x',
      _own: 1,
      '1st': 1,
      café: 'x',
      'end */': 'y',
      'line\nbreak': 'z',
      '': 'none',
      class: 'k',
    },
  ],
  comments: many(25, () => ({ kind: 'a*/b', 'x*/': 'line\nbreak' })),
  references: [
    {
      owner: '/api/public/v1/accounts/1',
      many: ['/api/public/v1/boms/1', '/api/public/v1/boms/2'],
      other: '/api/public/v1/nothing/1',
      two: '/api/public/v1/boms/1',
      '@id': '/api/public/v1/accounts/9',
      parent: null,
    },
    {
      owner: null,
      many: [],
      two: '/api/public/v1/products/1',
      in: { account: 'https://books.example/api/public/v1/account-addresses/5' },
      parent: '1',
    },
  ],
};

test('discover writes of records what is recorded', async () => {
  const text: string[] = [];
  for (const [name, records] of Object.entries(RECORDS)) {
    const sandbox = openService({ unknownFields: 'store' });
    for (const record of records) sandbox.store.budgets.insert(record as Record<string, unknown>);
    const lines = await discovered(sandbox, { collections: ['budgets'], onProgress: undefined });
    const head = lines.findIndex((line) => line.startsWith('//'));
    const end = lines.indexOf('/** For createClient({ schemas }). */');
    text.push(`# ${name}`, ...lines.slice(0, head), ...lines.slice(head + 3, end), '');
  }
  await expect(text.join('\n')).toMatchFileSnapshot('./discover-records.txt');
});

const COLLECTIONS = ['boms', 'accounts'] as const;

/** Which requests fail, by what that is. */
const FAILURES: Readonly<Record<string, (sandbox: Sandbox) => unknown>> = {
  'a collection does not exist': ({ faults }) =>
    faults.add({ kind: 'status', status: 404 }, { collection: 'boms' }),
  'a collection fails': ({ faults }) =>
    faults.add({ kind: 'status', status: 500 }, { collection: 'accounts' }),
  'a collection may not be read': ({ faults }) =>
    faults.add({ kind: 'status', status: 403 }, { collection: 'boms' }),
  'a collection is no list': ({ faults }) =>
    faults.add({ kind: 'rewrite', body: '{"x":1}' }, { collection: 'boms' }),
  'page 2 may not be read': ({ faults }) =>
    faults.add({ kind: 'status', status: 403 }, { when: ({ query }) => query.includes('_page=2') }),
  'page 2 is no list': ({ faults }) =>
    faults.add({ kind: 'rewrite', body: '"x"' }, { when: ({ query }) => query.includes('_page=2') }),
  'page 2 does not exist': ({ faults }) =>
    faults.add({ kind: 'status', status: 404 }, { when: ({ query }) => query.includes('_page=2') }),
  'the filter is rejected': ({ faults }) =>
    faults.add({ kind: 'status', status: 400 }, { when: ({ query }) => query.includes('updatedSince') }),
  'nothing can be reached': ({ faults }) => faults.add({ kind: 'connection-refused' }),
  'the second collection cannot be reached': ({ faults }) =>
    faults.add({ kind: 'connection-refused' }, { collection: 'accounts' }),
  'the key is rejected in the middle': ({ faults }) =>
    faults.add({ kind: 'status', status: 401 }, { skip: 5 }),
  'pages are redirected': ({ faults }) => faults.add({ kind: 'status', status: 302 }, { collection: 'boms' }),
};

const KEYS = ['full', 'readOnly', 'productsOnly', 'forbidden', 'revoked'] as const;

const outcomeOf = async (work: Promise<readonly string[]>): Promise<readonly string[]> => {
  try {
    return await work;
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    return [`rejects with ${code}: ${message}`];
  }
};

/** The access to each collection; of neighbours with the same one, how many there are. */
async function accessOf(sandbox: Sandbox, apiKey: string): Promise<string[]> {
  const progress: unknown[] = [];
  const client = createClient({ ...sandbox.clientOptions, apiKey, retry: { maxAttempts: 2 } });
  const report = await runToEnd(whoami(client, { onProgress: (now) => progress.push(now) }));
  const groups = new Map<string, string[]>();
  for (const { collection, access } of report.collections)
    groups.set(access, [...(groups.get(access) ?? []), collection]);
  const others = [...groups].map(([access, names]) => `${access}: ${names.join(', ')}`);
  const marks = [progress[0], progress.at(-1)].map((now) => JSON.stringify(now));
  return [
    `progress ${progress.length}, ${marks.join(' to ')}`,
    ...others,
    `quota ${JSON.stringify(report.quota)}`,
    report.baseUrl,
  ];
}

test('discover and whoami report of failures what is recorded', async () => {
  const text: string[] = [];
  for (const [name, fail] of Object.entries(FAILURES)) {
    const sandbox = openService({ records: { accounts: 10, boms: 70 } });
    fail(sandbox);
    const lines = await outcomeOf(discovered(sandbox, { collections: COLLECTIONS, sample: 50 }));
    const short = lines.filter((line) =>
      /^(?:boms|accounts) |^requests|^rejects|could not be read|no record/.test(line),
    );
    text.push(`# discover: ${name}`, ...short, ...requestLines(sandbox), '');
  }
  for (const [name, fail] of Object.entries(FAILURES)) {
    const sandbox = openService({ records: { accounts: 10, boms: 70 } });
    fail(sandbox);
    const lines = await outcomeOf(accessOf(sandbox, sandbox.keys.full));
    const usual = /^readable/;
    text.push(
      `# whoami: ${name}`,
      ...lines.filter((line) => !usual.test(line)),
      `${sandbox.requests.length} requests`,
      '',
    );
  }
  for (const key of KEYS) {
    const sandbox = openService({ rateLimitHeaders: key !== 'readOnly' });
    text.push(`# whoami: the key ${key}`, ...(await outcomeOf(accessOf(sandbox, sandbox.keys[key]))), '');
  }
  await expect(text.join('\n')).toMatchFileSnapshot('./discover-failures.txt');
});
