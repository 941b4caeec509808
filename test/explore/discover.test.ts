import { collectionNames, createClient } from 'accounting-data-sdk';
import { type DiscoverOptions, discover } from 'accounting-data-sdk/explore';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MONEY_FIELDS, REFERENCES } from '../support/generated-fields.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { loadTransport, runToEnd, startVirtualClock, stopVirtualClock } from '../support/virtual-clock.ts';
import { loadSchemas } from './support/schema-file.ts';

const clientOf = ({ clientOptions }: Sandbox) => createClient(clientOptions);

/** What is discovered of accounts with these fields, each a record. */
async function discoverAccounts(records: readonly object[], options: DiscoverOptions = {}) {
  const sandbox = createSandbox();
  for (const record of records) sandbox.store.accounts.insert(record as Record<string, unknown>);
  const found = await discover(clientOf(sandbox), { collections: ['accounts'], ...options });
  const line = (name: string) =>
    found.source
      .split('\n')
      .find((text) => text.trim().startsWith(`${name}: `))
      ?.trim();
  return { ...found, sandbox, line, fields: found.collections[0]?.fields ?? {} };
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('discover reports a field', () => {
  test.each<[name: string, values: readonly unknown[], schema: string]>([
    ['mixed', [1, 'a'], 'z.union([z.number(), z.string()]).nullish()'],
    ['both', [1, 1.5], 'z.number().nullish()'],
    ['flag', [true, null], 'z.boolean().nullish()'],
    ['day', ['2026-01-31', '2026-02-28'], 'date.nullish()'],
    ['at', ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.5+01:00'], 'timestamp.nullish()'],
    ['local', ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00'], 'z.string().nullish()'],
    ['tags', [['x'], ['y']], 'z.array(z.string().nullable()).nullish()'],
    ['nothing', [null, null], 'z.unknown().optional()'],
    // An amount by its digits, or by its name and a point; not because a text is a number.
    ['a', ['1.00', '-7.25'], 'money.nullish()'],
    ['b', ['1.0000', '2.5000'], 'money.nullish()'],
    ['c', ['1.00000', '2.50000'], 'z.string().nullish()'],
    ['d', ['1.00', 'none'], 'z.string().nullish()'],
    ['totalAmount', ['5', '5.5'], 'money.nullish()'],
    ['vatPercentage', ['21.00', '9.00'], 'z.string().nullish()'],
    ['code', ['8010', '12.50'], 'z.string().nullish()'],
  ])('by all its values: %s with %j is %s', async (name, values, schema) => {
    const { line } = await discoverAccounts(values.map((value) => ({ [name]: value })));
    expect(line(name)).toBe(`${name}: ${schema},`);
  });

  test('of a product by its documented kind: a string with two digits after the point is no amount', async () => {
    const sandbox = createSandbox();
    sandbox.store.products.insert({ diameter: '10.00', salePrice: '5', saleRrpPrice: '7' });
    sandbox.faults.add({ kind: 'rewrite', body: (text) => text.replace('"7.0000"', '"ask"') });
    const { source } = await discover(clientOf(sandbox), { collections: ['products'] });
    expect(source).toContain('diameter: z.string().nullish(),');
    expect(source).toContain('salePrice: money.nullish(),');
    // Unless a value is of another kind.
    expect(source).toContain('saleRrpPrice: z.string().nullish(),');
  });

  test('in a comment that says how often it was there, inside lists too, and warns of amounts as numbers', async () => {
    const { source, fields } = await discoverAccounts([
      {
        lines: [{ amount: '1.00' }, { amount: '2.00', note: 'x' }],
        totalAmount: 12.5,
        nothing: null,
        code: '8010',
        quantity: 3,
        due: '5.00',
      },
      { lines: [], quantity: 4, due: null, grossPrice: '1.5' },
      { lines: [], quantity: 4, due: '7.25', grossPrice: '2.50' },
    ]);
    expect(source).toContain('/** Amount, 2 digits after the point; on all 3 records, null on 1. */');
    expect(source).toContain('/** Amount; on 2 of 3 records. */');
    expect(source).toMatch(/amount: digits may be lost; on 1 of 3 records/);
    expect(source).toContain('/** Integer; on all 3 records. */');
    // Digits are those of an amount.
    expect(source).toContain('/** String; on 1 of 3 records. */\n  code: ');
    expect(source).toContain('/** Only null; on 1 of 3 records, null on 1. */');
    expect(fields.lines?.items?.fields?.amount).toMatchObject({ kinds: ['money'], always: true });
    expect(fields.lines?.items?.fields?.note).toMatchObject({ always: false });
    expect(source).toContain('/** String; on 1 of 2 records. */');
  });

  test('with its values in a comment if many records share a few, and accepts other values', async () => {
    const kinds = ['customer', 'supplier', 'both'];
    const many = await discoverAccounts(times(60, (n) => ({ kind: kinds[n % 3], name: `Firm ${n}` })));
    expect(many.source).toContain('Seen: both, customer, supplier.');
    expect(many.source).not.toContain('Firm');
    const { accounts } = await loadSchemas(many.source);
    expect(accounts?.safeParse({ id: '1', kind: 'prospect' }).success).toBe(true);
    const few = await discoverAccounts(times(6, () => ({ owner: 'Someone in person' })));
    expect(few.source).not.toContain('Someone');
    // Ten names four times each, and addresses of mail, are no set of words.
    const people = times(40, (n) => ({ owner: `Ann ${n % 10}`, mail: `ann${n % 3}@books.example` }));
    expect((await discoverAccounts(people)).source).not.toMatch(/Ann \d|@books/);
  });
});

test('discover gives objects with the same words in their paths names of their own', async () => {
  const fields = { 'a-b': { one: 'x' }, 'a.b': { two: 'x' }, 'a b': { three: 'x' } };
  const { source } = await discoverAccounts([fields]);
  const { accounts } = await loadSchemas(source);
  expect(accounts?.parse({ id: '1', ...fields })).toMatchObject(fields);
  for (const [name, value] of Object.entries(fields))
    expect(
      accounts?.safeParse({ id: '1', [name]: { ...value, [Object.keys(value)[0] ?? '']: 5 } }).success,
    ).toBe(false);
});

test('discover recognises a reference by its IRIs, if all are of one collection', async () => {
  const options = { relations: 'iri', formats: 'jsonld', nullFields: 'omitted' } as const;
  const sandbox = createSandbox({ records: { accounts: 5, accountAddresses: 40 }, ...options });
  const product = 'https://books.example.com/api/public/v1/products/A%2F1';
  sandbox.store.accountAddresses.insert({ accountId: '1', origin: { ownerId: product }, sourceId: product });
  sandbox.store.accountAddresses.insert({ sourceId: '/api/public/v1/boms/1' });
  const { collections, source } = await discover(clientOf(sandbox), { collections: ['accountAddresses'] });
  expect(collections[0]?.references).toEqual({
    accountId: { collection: 'accounts', form: 'iri' },
    'origin.ownerId': { collection: 'products', form: 'iri' },
  });
  for (const name of ['accounts', 'products']) expect(source).toContain(`IRI of one of the ${name};`);
});

test('discover knows a reference by a UUID in capitals', async () => {
  const ids = times(3, (n) => `0AF8D1B2-77C4-4E5B-9C3D-00000000000${n}`);
  const fixtures = { accounts: ids.map((id) => ({ id })), boms: [{ id: ids[2], owner: ids[0] }] };
  const sandbox = createSandbox({ fixtures, ids: { form: 'uuid' } });
  const progress: unknown[] = [];
  // Also if they are read later. A collection that is named twice is read once.
  const { collections } = await discover(clientOf(sandbox), {
    collections: ['boms', 'accounts', 'boms'],
    onProgress: (now) => progress.push(now),
  });
  expect(collections.map(({ collection }) => collection)).toEqual(['boms', 'accounts']);
  expect(collections[0]?.references).toEqual({ owner: { collection: 'accounts', form: 'id' } });
  expect(Object.keys(collections[0]?.fields ?? {})).toEqual(['owner']);
  expect(progress).toMatchObject([
    { requests: 0, collection: 'boms', done: 0, of: 2 },
    { collection: 'accounts', done: 1, of: 2 },
  ]);
});

test('discover samples rows without an id, and leaves out what is no record', async () => {
  const sandbox = createSandbox({ records: { boms: 25 } });
  const body = (text: string) => text.replaceAll(/"id":"\d+",/g, '').replace('[{', '[null,"x",{');
  sandbox.faults.add({ kind: 'rewrite', body });
  await loadTransport();
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { collections } = await runToEnd(discover(clientOf(sandbox), { collections: ['boms'] }));
  expect(collections).toMatchObject([{ access: 'readable', records: 25 }]);
});

test('discover names the type of each collection in the singular', async () => {
  const { source } = await discover(clientOf(createSandbox({ records: 28 })));
  const types = [...source.matchAll(/^export type (\w+) =/gm)].map(([, name]) => name);
  expect(types).toHaveLength(collectionNames.length);
  expect(types).toEqual(
    expect.arrayContaining(['AccountAddress', 'BankPayerMemory', 'Bom', 'AccountSetting']),
  );
});

test.each(['uuid', 'numeric'] as const)(
  'discover knows a reference by an id, if it is no number: %s',
  async (form) => {
    const sandbox = createSandbox({ records: { accounts: 5 }, ids: { form } });
    const [owner, other] = sandbox.store.accounts.ids();
    sandbox.store.boms.insert({ owner, accountId: crypto.randomUUID(), mixed: owner });
    sandbox.store.boms.insert({ owner: other, mixed: 'none' });
    const { collections, source } = await discover(clientOf(sandbox), { collections: ['accounts', 'boms'] });
    expect(source.includes('/** Id of one of the accounts; on all 2 records. */')).toBe(form === 'uuid');
    const references = form === 'uuid' ? { owner: { collection: 'accounts', form: 'id' } } : {};
    expect(collections[1]?.references).toEqual(references);
  },
);

describe('the sample of discover', () => {
  test('reaches records far behind the first pages, and the newest', async () => {
    const old = { updatedAt: '2024-01-01T00:00:00Z' };
    const accounts = times(900, (n) => (n < 450 ? old : { ...old, later: true }));
    // Of this week.
    const updatedAt = new Date(Date.now() - 6 * 24 * 3_600_000).toISOString();
    accounts.push({ onlyOnTheNewest: true, updatedAt } as never);
    const sandbox = createSandbox({ fixtures: { accounts }, pageSize: 10 });
    const found = await discover(clientOf(sandbox), { collections: ['accounts'], sample: 100 });
    const fields = Object.keys(found.collections[0]?.fields ?? {});
    expect(fields).toEqual(expect.arrayContaining(['later', 'onlyOnTheNewest']));
    // Requests that find the end come on top.
    expect(found.collections[0]?.records).toBeGreaterThanOrEqual(100);
  });

  test('is read with the parameters of the client, on every page', async () => {
    const sandbox = createSandbox({ records: { accounts: 95 } });
    const client = createClient({ ...sandbox.clientOptions, parameters: { limit: '20', kind: 'all' } });
    await discover(client, { collections: ['accounts'] });
    const lists = sandbox.requests.map(({ query }) => [query.limit, query.kind]);
    expect(lists.length).toBeGreaterThan(3);
    expect(lists).toEqual(lists.map(() => ['20', 'all']));
    // Without a fraction, which some services reject.
    const bounds = sandbox.requests.flatMap(({ query }) => query.updatedSince ?? []);
    expect(bounds).toEqual([expect.stringMatching(/T\d\d:\d\d:\d\dZ$/)]);
  });

  test('is the whole of a small collection, and stops at its size in a large one', async () => {
    for (const options of [
      { pageParameter: 'page', ids: { form: 'uuid' } },
      { afterLastPage: 'not_found', pageSize: 7 },
    ] as const) {
      const small = createSandbox({ records: { boms: 95 }, ...options });
      const { collections } = await discover(clientOf(small), { collections: ['boms'] });
      expect(collections[0]?.records).toBe(95);
    }
    const many = createSandbox({ records: { boms: 1000 } });
    const { collections, requests } = await discover(clientOf(many), { collections: ['boms'], sample: 60 });
    expect([collections[0]?.records, requests]).toEqual([60, 3]);
  });
});

test('the file of discover from a malicious service has every name of a field as a key, and no code', async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = new SeededRandom(seed);
  const characters = [...'\'"\\`${\n\r*/.a1\u2028\0😀'];
  const draw = () => characters[random.int(0, characters.length - 1)];
  const drawn = times(300, () => Array.from({ length: random.int(1, 8) }, draw).join(''));
  const code = ['*/ process.exit(1) /*', 'x\n}); process.exit(1); //', '\u2028process.exit(1);'];
  const names = [...code, ...drawn, '1st', 'ünïcode', 'constructor', 'toString', '', 'class'];
  const record = Object.fromEntries(names.map((name) => [name, 'ok']));
  const inside = { '*/ process.exit(2) /*': { inside: 1 } };
  const { source } = await discoverAccounts(
    times(60, (n) => ({ ...record, ...inside, kind: n % 2 ? code[0] : 'fine' })),
  );
  expect(source.split('\n').filter((text) => /^\s*\/\*\*.*\*\/.*exit/.test(text))).toEqual([]);
  const { accounts } = await loadSchemas(source);
  const { shape } = accounts as unknown as { shape: object };
  const found = new Set(['id', ...names, 'kind', ...Object.keys(inside)]);
  expect(new Set(Object.keys(shape)), `seed ${seed}`).toEqual(found);
});

test('the schemas of discover accept a record without a field that every object inherits', async () => {
  const names = ['toString', 'constructor', 'valueOf', 'hasOwnProperty'];
  const odd = Object.fromEntries(names.map((name) => [name, 'text']));
  const { source, sandbox } = await discoverAccounts([{ ...odd, inside: { valueOf: 7 } }, { name: 'Cash' }]);
  const { accounts } = await loadSchemas(source);
  for (const record of [...sandbox.store.accounts.all(), { id: '3', inside: {} }])
    expect(accounts?.safeParse(record).error).toBeUndefined();
  const { data } = accounts?.safeParse({ id: '1', ...odd }) ?? {};
  expect(data).toMatchObject(odd);
  for (const name of names) expect(accounts?.safeParse({ id: '1', [name]: {} }).success).toBe(false);
  // The client, which has these schemas, reads both records.
  const client = createClient({ ...sandbox.clientOptions, schemas: { accounts } as never });
  expect(await client.accounts.list().toArray({ limit: 5 })).toHaveLength(2);
});

test('discover reports every amount and reference of generated data, nothing else as such, in schemas that accept it', async () => {
  const sandbox = createSandbox({ records: 1500, seed: 11, relations: 'iri' });
  const { collections, requests, source } = await discover(clientOf(sandbox));
  const found = <Facts>(of: 'fields' | 'references') =>
    collections.flatMap(({ collection, [of]: all }) =>
      Object.entries(all).map(([path, facts]) => [`${collection}.${path}`, facts as Facts] as const),
    );
  const fields = found<{ kinds: readonly string[] }>('fields');
  const money = fields.flatMap(([path, { kinds }]) => (kinds.includes('money') ? [path] : []));
  expect(money).toEqual(MONEY_FIELDS);
  const references = found<{ collection: string }>('references').map(([path, to]) => [path, to.collection]);
  expect(Object.fromEntries(references)).toEqual(REFERENCES);
  expect(requests).toBeLessThanOrEqual(21 * collectionNames.length);

  const schemas = await loadSchemas(source);
  for (const name of collectionNames)
    for (const record of sandbox.store[name].all())
      expect(schemas[name]?.safeParse(record).error).toBeUndefined();
  const [product] = sandbox.store.products.all();
  for (const wrong of [{ salePrice: 12.5 }, { createdAt: 5 }, { tags: 'a' }, { isInactive: 'no' }])
    expect(schemas.products?.safeParse({ ...product, ...wrong }).success, JSON.stringify(wrong)).toBe(false);
});
