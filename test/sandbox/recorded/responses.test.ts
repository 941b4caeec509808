import { collectionNames } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { SERVICES } from '../../support/services.ts';

/**
 * One request of the script: the method, the path behind the base path, and what differs from a plain one. `$2` is the id
 * of the second account or product.
 */
interface Step {
  readonly send: string;
  readonly key?: 'full' | 'readOnly' | 'forbidden' | 'revoked' | 'otherCompany' | 'none';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** What happens to the service before the request. */
  readonly before?: (sandbox: Sandbox) => void;
}

const create = (key: string, body: unknown, more: Partial<Step> = {}): Step => ({
  send: 'POST products',
  body,
  ...more,
  headers: { 'idempotency-key': key, ...more.headers },
});
const update = (id: string, body: unknown, more: Partial<Step> = {}): Step => ({
  send: `PATCH products/${id}`,
  body,
  ...more,
});

const SCRIPT: readonly Step[] = [
  ...['', '?_page=2', '?page=2', '?_page=3', '?_page=0', '?_page=x', '?itemsPerPage=1'].map((query) => ({
    send: `GET accounts${query}`,
  })),
  ...[
    'id[gt]=$2',
    'id[gte]=$2&id[lt]=$3',
    'id[between]=$1..$2',
    'id[between]=$1,$2',
    'id[gt]=x',
    'id[gt]=9999999999',
  ].map((query) => ({ send: `GET accounts?${query}` })),
  ...['2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00', 'yesterday'].map((since) => ({
    send: `GET products?updatedSince=${encodeURIComponent(since)}`,
  })),
  { send: 'GET accounts/$2' },
  { send: 'GET accounts/0$2' },
  { send: 'GET accounts/99' },
  { send: 'GET bom-lines' },
  { send: 'GET nothing' },
  { send: 'HEAD accounts' },
  { send: 'PUT products/$1', body: {} },
  { send: 'POST accounts', body: {} },
  { send: 'GET accounts', key: 'none' },
  { send: 'GET accounts', key: 'revoked' },
  { send: 'GET accounts', key: 'forbidden' },
  { send: 'GET accounts/$1', key: 'otherCompany' },
  { send: 'GET accounts/$1', headers: { accept: 'application/ld+json' } },
  { send: 'GET accounts', headers: { accept: 'text/html, application/json;q=0.5' } },
  create('k1', { name: 'Desk', salePrice: '5', productNumber: 'N 1', customColour: 'red' }),
  create('k1', { name: 'Desk', salePrice: '5', productNumber: 'N 1', customColour: 'red' }),
  create('k1', { name: 'Chair' }),
  create('k2', { name: 'Desk', productNumber: 'N 1' }),
  create('k3', { productNumber: '' }),
  create('k4', {
    ...{ name: 7, salePrice: 5, salePriceDecimals: 'x', stockQuantity: 'x', tags: 'one', validFrom: 'x' },
    ...{ isInactive: 1, categoryId: 7, status: ['x'] },
  }),
  create('k5', '{"name":'),
  create('k6', { name: 'Read' }, { key: 'readOnly' }),
  create('k7', { name: 'Form' }, { headers: { 'content-type': 'text/plain' } }),
  { send: 'POST products', body: { name: 'Without a key' } },
  { send: 'GET products/$3' },
  { send: 'GET products/$3', before: ({ clock }) => clock.advance(40_000) },
  { send: 'GET products?_page=2' },
  update('$1', { name: 'Desk 2', comment: null }),
  update('$1', { name: 'Desk 3' }, { headers: { 'content-type': 'application/merge-patch+json' } }),
  update('$1', { isInactive: 'x' }),
  update('99', { name: 'None' }),
  update(
    '$2',
    { name: 'Locked' },
    { before: ({ store }) => store.products.lock(store.products.ids()[1] as string) },
  ),
  { send: 'GET products/$1', before: ({ clock }) => clock.advance(60_000) },
  update('$1', { name: 'Later' }),
  { send: 'GET products' },
  { send: 'DELETE products/$1' },
  { send: 'DELETE products/$1' },
  { send: 'DELETE products/$2' },
  { send: 'GET products/$1' },
  { send: 'DELETE accounts/$1' },
];

/** The fields of records that are recorded. The others differ from these in their names only. */
const RECORDED = [
  'id',
  'name',
  'type',
  'status',
  'creditLimit',
  'remark',
  'tags',
  'categoryId',
  'salePrice',
  'createdAt',
  'updatedAt',
];

const { store: usualStore } = createSandbox({ records: 26 });
const OTHERS = collectionNames
  .flatMap((name) => usualStore[name].all().flatMap((record) => Object.keys(record)))
  .filter((field) => !RECORDED.includes(field));
const OTHER_FIELDS = new RegExp(`"(?:${OTHERS.join('|')})":(?:"[^"]*"|\\[[^\\]]*\\]|[^,}]*),?`, 'g');

async function exchange(
  sandbox: Sandbox,
  { send, key = 'full', headers, body, before }: Step,
): Promise<string[]> {
  before?.(sandbox);
  const [method = '', path = ''] = send.split(' ');
  const ids = sandbox.store[path.startsWith('products') ? 'products' : 'accounts'].ids();
  const target = path.replaceAll(/\$(\d)/g, (_, nth) => ids[nth - 1] ?? `none-${nth}`);
  const response = await sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/${target}`, {
    method,
    headers: {
      ...(key === 'none' ? {} : { 'x-auth-token': sandbox.keys[key] }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return [
    `${response.status}`,
    ...[...response.headers].map((header) => header.join(': ')),
    await response.text(),
  ];
}

/** What a service sends for each step of the script, and what the sandbox knows in the end: titles with lines. */
async function play(options: SandboxOptions): Promise<ReadonlyMap<string, readonly string[]>> {
  const sandbox = createSandbox({
    clock: '2026-01-31T12:00:00Z',
    pageSize: 2,
    records: { accounts: 3, products: 2, bomLines: 1 },
    otherRecords: { accounts: 1 },
    ...options,
  });
  // Without the fields that no option changes.
  const short = (text: string) => text.replaceAll(sandbox.baseUrl, 'ORIGIN').replaceAll(OTHER_FIELDS, '');
  const played = new Map<string, readonly string[]>();
  for (const [index, step] of SCRIPT.entries()) {
    const { send, key, headers, body } = step;
    const sent = [
      key && `key ${key}`,
      headers && JSON.stringify(headers),
      body !== undefined && JSON.stringify(body),
    ];
    const title = [`${index + 1}.`, send, ...sent.filter(Boolean)].join(' ');
    played.set(title, (await exchange(sandbox, step)).map(short));
  }
  const { store, requests, journal } = sandbox;
  for (const [title, all] of Object.entries({ products: store.products.all(), requests, journal }))
    played.set(
      title,
      all.map((one) => short(JSON.stringify(one))),
    );
  return played;
}

// One file shows what each option changes: after the first service only the lines that the first one has not, and the
// headers that are gone.
test('each option changes the responses as recorded', async () => {
  const [first = '', ...others] = Object.keys(SERVICES);
  const usual = await play(SERVICES[first] as SandboxOptions);
  const text = [
    `# ${first}`,
    ...[...usual].flatMap(([title, lines]) => [title, ...lines.map((line) => `  ${line}`)]),
  ];
  for (const name of others) {
    const options = SERVICES[name] as SandboxOptions;
    const changed = [...(await play(options))].flatMap(([title, lines]) => {
      if (title === 'requests' || title === 'journal') return [];
      const before = usual.get(title) ?? [];
      const isHeader = (line: string) => /^[\w-]+: /.test(line);
      const gone = before
        .filter((line) => isHeader(line) && !lines.includes(line))
        .map((line) => `- ${line}`);
      const added = lines.filter((line) => !before.includes(line)).map((line) => `+ ${line}`);
      return gone.length + added.length === 0 ? [] : [title, ...gone, ...added];
    });
    expect(changed, name).not.toEqual([]);
    text.push('', `# ${name}: ${JSON.stringify(options)}`, ...changed);
  }
  await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('./responses.txt');
});
