import { type CollectionName, collectionNames, createClient, InvalidInputError } from 'accounting-data-sdk';
import { type DiscoverOptions, type Discovery, discover, type FieldShape } from 'accounting-data-sdk/explore';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { MONEY_FIELDS, REFERENCES } from '../support/generated-fields.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { clientBehind } from './support/products.ts';
import { formatted, loadSchemas } from './support/schema-file.ts';

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

const times = (count: number, make: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => make(index));

describe('what a field is', () => {
  test.each<[name: string, values: readonly unknown[], schema: string]>([
    ['mixed', [1, 'a'], 'z.union([z.number(), z.string()]).nullish()'],
    ['fraction', [1, 2.5], 'z.number().nullish()'],
    ['flag', [true, null], 'z.boolean().nullish()'],
    ['day', ['2026-01-31', '2026-02-28'], 'date.nullish()'],
    ['at', ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.5+01:00'], 'timestamp.nullish()'],
    ['odd', ['x', [1]], 'z.union([z.array(z.number().nullable()), z.string()]).nullish()'],
    ['nothing', [null, null], 'z.unknown().optional()'],
    ['list', [[], []], 'z.array(z.unknown()).nullish()'],
    // An amount by its digits, or by its name and a point; not because a text is a number.
    ['a', ['1.00', '-7.25'], 'money.nullish()'],
    ['totalAmount', ['5', '5.5'], 'money.nullish()'],
    ['edition', ['1.5', '2.5'], 'z.string().nullish()'],
    ['version', ['1.10', '1.20'], 'z.string().nullish()'],
    ['vatPercentage', ['21.00', '9.00'], 'z.string().nullish()'],
    ['code', ['8010', '12.50'], 'z.string().nullish()'],
    ['ean', ['8712345678906', '8712345678913'], 'z.string().nullish()'],
    ['day', ['31.12', '1.1'], 'z.string().nullish()'],
  ])('follows from all its values: %s with %j is %s', async (name, values, schema) => {
    const { line } = await discoverAccounts(values.map((value) => ({ [name]: value })));
    expect(line(name)).toBe(`${name}: ${schema},`);
  });

  test('causes a warning if an amount is a number', async () => {
    const { source } = await discoverAccounts([{ totalAmount: 12.5, quantity: 3 }]);
    expect(source).toContain(
      '/** Number, though named like an amount: digits may be lost; on all 1 records. */',
    );
    expect(source).toContain('/** Integer; on all 1 records. */');
  });

  test('that was only null accepts any value later', async () => {
    const { source } = await discoverAccounts([{ nothing: null }]);
    const { accounts } = await loadSchemas(source);
    for (const nothing of [undefined, null, 5, { a: 1 }])
      expect(accounts?.safeParse({ id: '1', nothing }).success).toBe(true);
    expect(accounts?.safeParse({ id: '1' }).success).toBe(true);
  });

  test('goes down into objects and lists of objects', async () => {
    const { source, fields } = await discoverAccounts([
      { lines: [{ amount: '1.00' }, { amount: '2.00', note: 'x' }] },
      { lines: [] },
    ]);
    expect(fields.lines?.items?.fields).toMatchObject({
      amount: { kinds: ['money'], always: true },
      note: { always: false },
    });
    expect(source).toContain('/** String; on 1 of 2 records. */');
  });

  test('has its few values in the comment, and is never closed', async () => {
    const kinds = ['customer', 'supplier', 'both'];
    const { source } = await discoverAccounts(
      times(60, (index) => ({ kind: kinds[index % 3], name: `Firm ${index}` })),
    );
    expect(source).toContain('Seen: both, customer, supplier.');
    expect(source).not.toContain('Firm');
    const { accounts } = await loadSchemas(source);
    expect(accounts?.safeParse({ id: '1', kind: 'prospect' }).success).toBe(true);
  });

  test('does not reveal the values of a handful of records', async () => {
    const { source } = await discoverAccounts(times(6, () => ({ owner: 'Someone in person' })));
    expect(source).not.toContain('Someone');
  });
});

describe('a reference', () => {
  const books = () => {
    const sandbox = createSandbox({ records: { products: 60, accounts: 1 }, ids: { start: 5000 } });
    for (let index = 0; index < 40; index += 1) {
      sandbox.store.boms.insert({
        productId: String(5000 + index),
        mainProductId: String(5001 + index),
        // Only the first of them exists.
        accountId: String(index === 0 ? 5000 : index),
        categoryId: String(5000 + index),
        productIds: [String(5000 + index)],
        origin: { productId: String(5059 - index) },
      });
    }
    return sandbox;
  };

  test('is accepted if the ids exist there, whatever the name of the field', async () => {
    const { collections, source } = await discover(clientOf(books()));
    expect(collections.find(({ collection }) => collection === 'boms')?.references).toEqual({
      productId: { collection: 'products', form: 'id', checked: 3, found: 3 },
      mainProductId: { collection: 'products', form: 'id', checked: 3, found: 3 },
      'origin.productId': { collection: 'products', form: 'id', checked: 3, found: 3 },
      accountId: { collection: 'accounts', form: 'id', checked: 3, found: 1 },
    });
    expect(source).toContain('Id of one of the products (3 of 3 found there)');
    expect(source).toContain('String, named like an id of the accounts, but only 1 of 3 were found there');
  });

  test('is looked up if the sample does not contain it', async () => {
    const sandbox = createSandbox({ records: { accounts: 900, accountAddresses: 300 }, pageSize: 10 });
    const { collections } = await discover(clientOf(sandbox), { sample: 20 });
    expect(collections[1]?.references).toEqual({
      accountId: { collection: 'accounts', form: 'id', checked: 3, found: 3 },
    });
    expect(sandbox.count(({ path }) => /accounts\/\d+$/.test(path))).toBeGreaterThan(0);
  });

  test('is recognised by its IRIs', async () => {
    const sandbox = createSandbox({
      records: 600,
      relations: 'iri',
      formats: 'jsonld',
      nullFields: 'omitted',
    });
    const { collections, source } = await discover(clientOf(sandbox), {
      collections: ['accounts', 'accountAddresses'],
    });
    expect(collections.map(({ references }) => references)).toEqual([
      {},
      { accountId: { collection: 'accounts', form: 'iri', checked: 3, found: 3 } },
    ]);
    expect(source).toContain('IRI of one of the accounts (3 of 3 found there)');
  });

  test('is tried first with the collection that has the longer name', async () => {
    const sandbox = createSandbox({ records: { accounts: 50, bankFeedAccounts: 50 } });
    for (let id = 1; id <= 30; id += 1)
      sandbox.store.bankPayerMemories.insert({ bankFeedAccountId: String(id) });
    const { collections } = await discover(clientOf(sandbox));
    const { references } = collections.find(({ collection }) => collection === 'bankPayerMemories') ?? {};
    expect(references?.bankFeedAccountId?.collection).toBe('bankFeedAccounts');
  });

  test('is left open if the look-up fails for another reason', async () => {
    const sandbox = createSandbox({ records: { accounts: 900, accountAddresses: 300 }, pageSize: 10 });
    const forbidden = { kind: 'status', status: 403, type: 'forbidden' } as const;
    sandbox.faults.add(forbidden, { path: /accounts\/\d+$/, times: Number.POSITIVE_INFINITY });
    const { collections } = await discover(clientOf(sandbox), { sample: 20 });
    const { accountId } = collections[1]?.references ?? {};
    // Ids that the sample holds need no looking up: all that was checked was found.
    expect(accountId?.checked).toBe(accountId?.found);
    expect(accountId?.checked).toBeLessThan(3);
  });

  test('is not claimed if it would lead to a collection that the key may not read', async () => {
    const sandbox = books();
    const apiKey = sandbox.issueKey({ collections: ['boms'] });
    const { source, collections } = await discover(createClient({ ...sandbox.clientOptions, apiKey }));
    expect(source).toContain('String, named like an id of the products, but none could be looked up');
    expect(source).toContain('not readable with the key of this run (scope_required)');
    expect(collections.filter(({ access }) => access === 'readable').length).toBe(1);
  });
});

describe('the sample', () => {
  test('reaches from the first records to the newest', async () => {
    const sandbox = createSandbox({ records: { accounts: 6000 } });
    sandbox.store.accounts.insert({ onlyOnTheNewest: 'yes' });
    const { collections, requests } = await discover(clientOf(sandbox), { collections: ['accounts'] });
    expect(Object.keys(collections[0]?.fields ?? {})).toContain('onlyOnTheNewest');
    expect(requests).toBeLessThanOrEqual(31);
  });

  test('reaches records far behind the first pages', async () => {
    const updatedAt = '2024-01-01T00:00:00Z';
    const old = Array.from({ length: 900 }, (_, index) => ({
      updatedAt,
      ...(index < 450 ? {} : { later: true }),
    }));
    const sandbox = createSandbox({ fixtures: { accounts: old }, pageSize: 10 });
    const found = await discover(clientOf(sandbox), { collections: ['accounts'], sample: 100 });
    expect(Object.keys(found.collections[0]?.fields ?? {})).toContain('later');
  });

  test('is the whole of a small collection, and stops at its size in a large one', async () => {
    for (const afterLastPage of ['empty', 'not_found'] as const) {
      const small = createSandbox({ records: { boms: 95 }, afterLastPage });
      const { collections } = await discover(clientOf(small), { collections: ['boms'] });
      expect(collections[0]?.records).toBe(95);
    }
    const large = createSandbox({ records: { boms: 50_000 } });
    const { collections, requests } = await discover(clientOf(large), { collections: ['boms'], sample: 60 });
    expect([collections[0]?.records, requests]).toEqual([60, 3]);
  });

  test('ends if every page is the first', async () => {
    const sandbox = createSandbox({ records: { boms: 900 } });
    const deaf = clientBehind(sandbox, (url) => {
      url.searchParams.delete('_page');
      return url;
    });
    const { collections, requests } = await discover(deaf, { collections: ['boms'] });
    expect([collections[0]?.records, requests]).toEqual([30, 3]);
  });

  test('stops when asked, with the reason given', async () => {
    const sandbox = createSandbox({ records: 5000 });
    const stop = new AbortController();
    const running = discover(clientOf(sandbox), {
      signal: stop.signal,
      onProgress: ({ done }) => done === 3 && stop.abort('enough'),
    });
    await expect(running).rejects.toBe('enough');
    expect(new Set(sandbox.requests.map(({ path }) => path)).size).toBe(3);
  });

  test('stops while ids are looked up, even if the reason looks like an error of the service', async () => {
    const options = { records: { accounts: 900, accountAddresses: 300 }, pageSize: 10 };
    for (const phase of ['accountAddresses', undefined]) {
      const sandbox = createSandbox(options);
      const stop = new AbortController();
      const reason = new InvalidInputError('stop', 'was wanted');
      const running = discover(clientOf(sandbox), {
        signal: stop.signal,
        sample: 20,
        onProgress: ({ collection }) => collection === phase && stop.abort(reason),
      });
      await expect(running).rejects.toBe(reason);
    }
  });

  test('is rejected before anything is sent if an option is invalid', async () => {
    const sandbox = createSandbox();
    await expect(discover(clientOf(sandbox), { sample: 0 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(discover(clientOf(sandbox), { collections: [] })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    expect(sandbox.count()).toBe(0);
    const revoked = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.revoked });
    await expect(discover(revoked)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('strict schemas', () => {
  test.each<[name: string, records: readonly object[], schema: string]>([
    ['always', [{ always: 'a' }, { always: 'b' }], 'z.string()'],
    ['nullable', [{ nullable: null }, { nullable: 'x' }], 'z.string().nullable()'],
    ['price', [{ price: '1.50' }, { price: '2.50' }], 'money'],
    ['day', [{ day: '2026-01-31' }, { day: '2026-02-28' }], 'date'],
    ['at', [{ at: '2026-01-31T10:00:00Z' }, { at: '2026-01-31T10:00:00' }], 'timestamp'],
    ['count', [{ count: 3 }, { count: 4 }], 'z.int()'],
    ['tags', [{ tags: ['x'] }, { tags: ['y'] }], 'z.array(z.string())'],
    ['never', [{ never: null }, { never: null }], 'z.null()'],
    ['rare', [{}, { rare: 1 }], 'z.int().optional()'],
  ])('require what every record had: %s of %j', async (name, records, schema) => {
    const { line } = await discoverAccounts(records, { strict: true });
    expect(line(name)).toBe(`${name}: ${schema},`);
  });

  test('accept every record that they were made from', async () => {
    const sandbox = createSandbox({ records: 3000 });
    const { source } = await discover(clientOf(sandbox), { strict: true, sample: 5000 });
    const schemas = await loadSchemas(source);
    for (const [name, schema] of Object.entries(schemas)) {
      for (const record of sandbox.store[name as 'accounts'].all())
        expect(schema.safeParse(record).error).toBeUndefined();
    }
    const [product] = sandbox.store.products.all();
    for (const wrong of [{ salePrice: '1e5' }, { createdAt: 'yesterday' }, { validFrom: '31-01-2026' }]) {
      expect(schemas.products?.safeParse({ ...product, ...wrong }).success, JSON.stringify(wrong)).toBe(
        false,
      );
    }
  });
});

describe('a malicious service', () => {
  const NAMES = [
    "a'b",
    'a"b',
    'a`$' + '{b}',
    '*/ process.exit(1) /*',
    'x\n}); process.exit(1); //',
    '\u2028process.exit(1);',
    '1st',
    'ünïcode',
    'constructor',
    'toString',
    '',
    'a.b',
    'class',
  ];

  test('cannot inject code into the file through field names or values', async () => {
    const record = Object.fromEntries(NAMES.map((name) => [name, 'ok']));
    const hostile = '*/ process.exit(1) /*';
    const { source } = await discoverAccounts(
      times(60, (index) => ({
        ...record,
        kind: index % 2 ? hostile : 'fine',
        '*/ process.exit(2) /*': { inside: 1 },
      })),
    );
    expect(source.split('\n').filter((text) => /^\s*\/\*\*.*\*\/.*exit/.test(text))).toEqual([]);
    expect(await formatted(source)).toBe(source);
    const { accounts } = await loadSchemas(source);
    expect(accounts?.parse({ id: '1', ...record })).toEqual({ id: '1', ...record });
    for (const name of NAMES)
      expect(accounts?.safeParse({ id: '1', ...record, [name]: 5 }).success).toBe(false);
  });

  test('finds names of any characters as the keys of the schema', async () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    const random = new SeededRandom(seed);
    const characters = [...'\'"\\`${\n\r*/.a1\u2028\0😀'];
    const draw = () => characters[random.int(0, characters.length - 1)];
    const name = () => Array.from({ length: random.int(1, 8) }, draw).join('');
    const names = Array.from({ length: 300 }, name);
    const record = Object.fromEntries(names.map((name) => [name, true]));
    const { source } = await discoverAccounts([record]);
    const { accounts } = await loadSchemas(source);
    const { shape } = accounts as unknown as { shape: object };
    expect(new Set(Object.keys(shape)), `seed ${seed}`).toEqual(new Set(['id', ...names]));
  });

  test('cannot set a prototype', async () => {
    const sandbox = createSandbox({ records: { accounts: 3 } });
    sandbox.faults.add(
      { kind: 'rewrite', body: (text) => text.replaceAll('"name":', '"__proto__":{"polluted":1},"name":') },
      { probability: 1 },
    );
    const { source } = await discover(clientOf(sandbox), { collections: ['accounts'] });
    expect(source).not.toContain('__proto__');
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

const discoverGenerated = (options: Parameters<typeof createSandbox>[0]) =>
  discover(createClient(createSandbox({ records: 30_000, seed: 11, ...options }).clientOptions));

const fieldsOf = ({ collections }: Discovery, fits: (field: FieldShape) => boolean) =>
  collections.flatMap(({ collection, fields }) =>
    Object.entries(fields).flatMap(([name, field]) => (fits(field) ? [`${collection}.${name}`] : [])),
  );

const referencesOf = ({ collections }: Discovery) =>
  Object.fromEntries(
    collections.flatMap(({ collection, references }) =>
      Object.entries(references).flatMap(([path, { checked, found, collection: to }]) =>
        checked > 0 && found === checked ? [[`${collection}.${path}`, to]] : [],
      ),
    ),
  );

let discovery: Discovery;
beforeAll(async () => {
  discovery = await discoverGenerated({});
});

describe('schemas of generated data', () => {
  test('mark every amount, and nothing else, as an amount', () => {
    expect(fieldsOf(discovery, ({ kinds }) => kinds.includes('money'))).toEqual(MONEY_FIELDS);
  });

  test('mark every reference, and nothing else, as a reference', async () => {
    expect(referencesOf(discovery)).toEqual(REFERENCES);
    expect(referencesOf(await discoverGenerated({ ids: { form: 'uuid' }, order: 'none' }))).toEqual(
      REFERENCES,
    );
  });

  test('know dates and timestamps', () => {
    expect(fieldsOf(discovery, ({ kinds }) => kinds.includes('date'))).toEqual([
      'accountCustomerProjectRates.validFrom',
      'accountCustomerProjectRates.validTo',
      'bankFeedConnections.consentValidTo',
      'budgets.startsOn',
      'budgets.endsOn',
      'products.validFrom',
      'products.validTo',
    ]);
    expect(fieldsOf(discovery, ({ kinds }) => kinds.includes('timestamp'))).toEqual([
      'products.createdAt',
      'products.updatedAt',
    ]);
  });

  test('rest on some 20 requests for each collection', () => {
    expect(discovery.requests).toBeLessThanOrEqual(21 * collectionNames.length);
    for (const { records, collection } of discovery.collections) {
      expect(records, collection).toBeGreaterThanOrEqual(200);
    }
  });
});

/** A value of a wider type of the same JSON kind, as a service may come to send one day. */
function widened(value: unknown, field: FieldShape | undefined): unknown {
  if (Array.isArray(value)) return [...value, null, 'a value never seen'];
  if (typeof value === 'number') return value + 0.125;
  if (typeof value !== 'string') return value;
  if (field?.kinds.includes('money')) return `-${value.replace('-', '')}7001`;
  if (field?.kinds.includes('date')) return `${value}T12:30:00.123456+02:00`;
  return `${value} • ${'é'.repeat(300)}`;
}

describe('20,000 records that were not sampled', () => {
  test('are all accepted, with a null, a gap and a wider value among 5,000 each', async () => {
    const schemas = await loadSchemas(discovery.source);
    const random = new SeededRandom(4711);
    const { store } = createSandbox({ records: 20_000, seed: 99 });
    const changed = { null: 0, missing: 0, widened: 0 };
    const rejected: unknown[] = [];
    let records = 0;
    for (const collection of collectionNames) {
      const known = discovery.collections.find((one) => one.collection === collection)?.fields ?? {};
      for (const record of store[collection].all()) {
        const sent: Record<string, unknown> = { ...record };
        for (const [name, value] of Object.entries(record)) {
          const kind = (['null', 'missing', 'widened'] as const)[random.int(0, 4999)];
          if (name === 'id' || kind === undefined) continue;
          changed[kind] += 1;
          if (kind === 'missing') delete sent[name];
          else sent[name] = kind === 'null' ? null : widened(value, known[name]);
        }
        const result = schemas[collection as CollectionName]?.safeParse(sent);
        records += 1;
        if (result?.success !== true) rejected.push([collection, result?.error?.issues]);
      }
    }
    expect(records).toBe(20_000);
    expect(rejected).toEqual([]);
    for (const count of Object.values(changed)) expect(count).toBeGreaterThan(20);
  });

  test('keep every field, known or not', async () => {
    const schemas = await loadSchemas(discovery.source);
    const [record] = createSandbox({ records: 500, seed: 5 }).store.products.all();
    const sent = { ...record, brandNew: { deep: [1, 'two'] } };
    expect(schemas.products?.parse(sent)).toEqual(sent);
  });
});
