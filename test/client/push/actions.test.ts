import type { ProductDraft, PushOptions } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { caught } from '../../support/caught.ts';
import { setUpPush as setUp } from '../../support/push.ts';

test('a push creates products that do not exist, updates those that differ, and leaves the rest alone', async () => {
  const { sandbox, ids, run } = setUp([
    { productNumber: 'A', name: 'Desk', salePrice: '129.0000', remark: 'stays' },
    { productNumber: 'B', name: 'Chair', salePrice: '49.0000' },
  ]);
  const { report, results, commits } = await run([
    { productNumber: 'A', name: 'Desk', salePrice: '129' },
    { productNumber: 'B', name: 'Chair', salePrice: '52.5' },
    { productNumber: 'C', name: 'Lamp', brand: null },
  ]);
  expect(report).toMatchObject({
    tenant: 'shop',
    dryRun: false,
    complete: 'certain',
    rows: 3,
    counts: { created: 1, updated: 1, unchanged: 1, failed: 0, conflict: 0, duplicate: 0 },
  });
  expect(results).toMatchObject([
    { key: 'A', index: 0, action: 'unchanged', id: ids[0], fields: [] },
    { key: 'C', index: 2, action: 'created', id: expect.any(String) },
    { key: 'B', index: 1, action: 'updated', id: ids[1], fields: ['salePrice'] },
  ]);
  expect(commits).toEqual(['create', 'update']);
  const bodies = sandbox.requests.flatMap(({ method, body }) => (method === 'GET' ? [] : [body]));
  expect(bodies).toEqual([{ name: 'Lamp', productNumber: 'C' }, { salePrice: '52.5000' }]);
  expect(sandbox.store.products.get(ids[0] ?? '')).toMatchObject({ remark: 'stays' });
});

const LONG = '123456789012345678.1234567';

/** A row, its product, and whether they differ. */
const compared: readonly (readonly [row: object, product: object, differs: boolean])[] = [
  [{ salePrice: '5' }, { salePrice: '5.0000' }, false],
  [{ salePrice: '005.10' }, { salePrice: '5.1000' }, false],
  [{ salePrice: '-0.00' }, { salePrice: '0.0000' }, false],
  [{ salePrice: '5.120000' }, { salePrice: '5.1200' }, false],
  [{ salePrice: `${LONG}8` }, { salePrice: `${LONG}9` }, true],
  [{ salePrice: '0' }, { salePrice: null }, true],
  [{ brand: '' }, { brand: null }, true],
  [{ tags: [null] }, { tags: [] }, true],
  [{ tags: ['b', 'a'] }, { tags: ['a', 'b'] }, true],
  [{ tags: ['a', { x: 1, y: [2] }] }, { tags: ['a', { y: [2], x: 1 }] }, false],
  [{ custom: '1' }, { custom: 1 }, true],
  [{ brand: null }, {}, false],
  [{ custom: null }, {}, false],
  [{ brand: null }, { brand: 'Oak' }, true],
  [{ brand: undefined }, { brand: 'Oak' }, false],
  [{ stockQuantity: 0.3 }, { stockQuantity: 0.1 + 0.2 }, true],
  // Its key is 14: another field can have it too.
  [{ brand: '14' }, { brand: ' 14' }, true],
];

test('a push compares each kind of value by what it means', async () => {
  const existing = compared.map(([, product], n) => ({ productNumber: `${n}`, ...product }));
  const { run } = setUp(existing, { sandbox: { moneyDigits: 'as-sent', unknownFields: 'store' } });
  const { results } = await run(compared.map(([row], n) => ({ productNumber: `${n}`, ...row })));
  const actions = results.map(({ index = 0, action, fields }) => [compared[index]?.[0], action, fields]);
  const expected = compared.map(([row, , differs]) => [
    row,
    differs ? 'updated' : 'unchanged',
    differs ? Object.keys(row) : [],
  ]);
  expect(actions).toEqual(expect.arrayContaining(expected));
  expect(results).toHaveLength(compared.length);
});

test('a push reports a rejected row with its violations and continues with the others', async () => {
  const { run, ids } = setUp([{ productNumber: 'C', status: 'active' }], {
    sandbox: { allowedStatuses: ['active'] },
  });
  const { results, report } = await run([
    { productNumber: 'A', status: 'broken' },
    { productNumber: 'B', status: 'active' },
    { productNumber: 'C', status: 'broken' },
  ]);
  expect(report.counts).toMatchObject({ failed: 2, created: 1 });
  const error = { code: 'validation_failed', violations: [{ propertyPath: 'status' }] };
  expect(results.filter(({ action }) => action === 'failed')).toMatchObject([
    { key: 'A', id: undefined, error },
    { key: 'C', id: ids[0], error },
  ]);
});

test('a push fails a row without a key, an invalid row, and one that cannot be read, and sends nothing for them', async () => {
  const { run, sandbox } = setUp();
  const get = (): never => {
    throw new TypeError('broken');
  };
  const broken = Object.defineProperty({ productNumber: 'C' }, 'name', { enumerable: true, get });
  const rows = [
    { name: 'x' },
    { productNumber: 'A', salePrice: 5 },
    { productNumber: 'B' },
    null,
    broken,
    { productNumber: 1234 },
    { productNumber: 'D', tags: [12n] },
    { productNumber: 'E', custom: { size: Number.NaN } },
  ];
  const { results, done } = await run(rows as unknown as ProductDraft[]);
  const keys = ['A', 'C', 'D', 'E', 'undefined', 'undefined', 'undefined'];
  expect(done.filter((result) => result.endsWith('failed'))).toEqual(keys.map((key) => `${key} failed`));
  expect(done).toContain('B created');
  const failed = results.filter(({ action }) => action === 'failed');
  expect(failed).toMatchObject(
    [
      [0, 'has no key'],
      [1, 'rows[1].salePrice: '],
      [3, 'has no key: the key function threw'],
      [4, 'rows[4]: cannot be read: it threw'],
      [5, 'rows[5]: has a key that is a number, not a string'],
      [6, 'rows[6].tags: is or contains a value that JSON cannot represent'],
      [7, 'rows[7].custom: is or contains a value that JSON cannot represent'],
    ].map(([index, words]) => ({
      index,
      error: { code: 'invalid_input', message: expect.stringContaining(String(words)) },
    })),
  );
  // What the code of the caller threw.
  for (const at of [3, 4])
    expect(results.find(({ index }) => index === at)?.error?.cause).toBeInstanceOf(Error);
  expect(sandbox.journal).toHaveLength(1);
});

test('a push rejects a key that is no text field, and one whose function throws for an existing product', async () => {
  const { run, sandbox } = setUp([{ productNumber: 'A' }], { sandbox: { unknownFields: 'store' } });
  const wrong = await caught(run([{ productNumber: 'B' }], { key: 'salePrice' as 'name' }));
  expect(wrong).toMatchObject({ code: 'invalid_input', argument: 'key' });
  const failure = new TypeError('no such column');
  const key: PushOptions<ProductDraft>['key'] = (record) => {
    if ('id' in record && record.id !== undefined) throw failure;
    return record.productNumber;
  };
  const cause = { code: 'invalid_input', argument: 'key', cause: failure };
  expect(await caught(run([{ productNumber: 'B' }], { key }))).toMatchObject({ code: 'push_failed', cause });
  expect(sandbox.journal).toEqual([]);
  // A field that the documentation does not name.
  const own = { custom: 'B' } as ProductDraft;
  expect((await run([own], { key: 'custom' as 'name' })).done).toEqual(['B created']);
});

test('a push names the row that is pushed in the reason of a duplicate', async () => {
  const { run, sandbox } = setUp([{ productNumber: 'old' }]);
  const first = [{ productNumber: 'A' }, { productNumber: 'old' }];
  const { results } = await run([...first, ...first.map((row) => ({ ...row, name: 'second' }))]);
  expect(sandbox.store.products.all().map(({ name }) => name)).not.toContain('second');
  const duplicates = results.filter(({ action }) => action === 'duplicate');
  expect(duplicates.map(({ index, firstIndex, reason }) => `${index} ${firstIndex} ${reason}`)).toEqual(
    [0, 1].map((n) => `${n + 2} ${n} rows[${n}] has the same key, and the first row wins`),
  );
});

test('a push with dryRun reports what it would do with each row, and writes nothing', async () => {
  const { run, ids } = setUp([
    { productNumber: 'A', name: 'Desk' },
    { productNumber: 'C' },
    { productNumber: 'D' },
    { productNumber: 'D' },
  ]);
  const rows = [
    { productNumber: 'A', name: 'Table', constructor: 'x' },
    { productNumber: 'B', salePrice: '5', brand: null },
    ...['B', 'C', 'D'].map((productNumber) => ({ productNumber })),
  ];
  const { report, results, done, commits } = await run(rows, { dryRun: true });
  expect(report).toMatchObject({ dryRun: true, counts: { created: 1, updated: 1, duplicate: 1 } });
  const planned = ['A updated', 'B created', 'B duplicate', 'C unchanged', 'D conflict'];
  expect(done).toEqual(planned);
  const update = { action: 'updated', id: ids[0], fields: ['constructor', 'name'] };
  const changes = [
    { field: 'constructor', from: null, to: 'x' },
    { field: 'name', from: 'Desk', to: 'Table' },
  ];
  expect(results).toContainEqual(expect.objectContaining({ ...update, changes }));
  const values = [
    { field: 'productNumber', from: null, to: 'B' },
    { field: 'salePrice', from: null, to: '5.0000' },
  ];
  expect(results).toContainEqual(expect.objectContaining({ action: 'created', changes: values }));
  expect(results).toContainEqual(expect.objectContaining({ action: 'conflict', ids: ids.slice(2) }));
  expect(commits).toEqual([]);
  expect(await run(rows)).toMatchObject({ done: planned, commits: ['create', 'update'] });
});

test('a push writes nothing if its rows end with an error', async () => {
  const { run, sandbox } = setUp();
  const failure = new Error('line 3 is cut off');
  function* rows(): Generator<ProductDraft> {
    yield { productNumber: 'A' };
    throw failure;
  }
  const report = { rows: 1, counts: { created: 0 } };
  const message = expect.stringContaining('line 3 is cut off');
  expect(await caught(run(rows()))).toMatchObject({ code: 'push_failed', cause: failure, report, message });
  expect(sandbox.requests).toEqual([]);
});

test('a push accepts an AsyncIterable and the name of a field as the key, and returns each row with its result', async () => {
  const { run } = setUp();
  const rows = [{ productNumber: 'A' }, { productNumber: 'B', salePrice: 'free' }, { productNumber: 'A' }];
  async function* each() {
    yield* rows;
  }
  const { results } = await run(each(), { key: 'productNumber' });
  const byIndex = results.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  expect(byIndex.map(({ action }) => action)).toEqual(['created', 'failed', 'duplicate']);
  for (const [index, { row }] of byIndex.entries()) expect(row).toBe(rows[index]);
});

test('a push sends every digit of an amount', async () => {
  const { run, sandbox } = setUp([{ productNumber: 'A', salePrice: '1' }], {
    sandbox: { moneyDigits: 'as-sent' },
  });
  for (const salePrice of ['999999999999999999.99999999', '7.12345']) {
    await run(['A', 'B'].map((productNumber) => ({ productNumber, salePrice })));
    expect(sandbox.store.products.all().map((product) => product.salePrice)).toEqual([salePrice, salePrice]);
  }
});

test.each(['throw', 'off'] as const)(
  'a push compares an existing product that is invalid by the fields that were sent, with validation %s',
  async (validation) => {
    const schema = productSchema.extend({ colourCode: z.number().int().min(1).nullish() });
    const existing = { productNumber: 'A', name: 'Desk', salePrice: '5', colourCode: 0 } as ProductDraft;
    const { sandbox } = setUp([existing, { productNumber: 'B' }], { sandbox: { unknownFields: 'store' } });
    const client = { ...sandbox.clientOptions, validation, schemas: { products: schema } };
    const { run } = setUp([], { client });
    const rows = [
      { productNumber: 'A', name: 'Desk', salePrice: '5.00' },
      { productNumber: 'B' },
      { productNumber: 'C' },
    ];
    expect((await run(rows)).done).toEqual(['A unchanged', 'B unchanged', 'C created']);
    const corrected = [{ productNumber: 'A', colourCode: 3 } as ProductDraft];
    expect((await run(corrected)).results).toMatchObject([{ action: 'updated', fields: ['colourCode'] }]);
    expect(sandbox.store.products.get('1')).toMatchObject({ colourCode: 3 });
  },
);

test.each<[what: string, key: PushOptions<ProductDraft>['key']]>([
  ['is a number', 'productNumber'],
  ['makes the key function throw', (row) => row.productNumber?.trim()],
])(
  'a push fails rows without a product if one exists whose key %s, and writes the others',
  async (_, key) => {
    const { sandbox, run } = setUp([{ productNumber: 'B' }, { productNumber: 'ODD' }]);
    const body = (text: string) => text.replace('"productNumber":"ODD"', '"productNumber":5');
    sandbox.faults.add({ kind: 'rewrite', body }, { times: 9 });
    const { done, results } = await run([{ productNumber: 'A' }, { productNumber: 'B', name: 'x' }], { key });
    expect(done).toEqual(['A failed', 'B updated']);
    const failed = results.find(({ action }) => action === 'failed');
    expect(failed?.error?.message).toContain('may be product 2, which cannot be read');
  },
);

test('a push leaves an invalid product without a key alone', async () => {
  const { sandbox, run } = setUp([{ name: 'ODD' }]);
  const body = (text: string) => text.replace('"name":"ODD"', '"name":5');
  sandbox.faults.add({ kind: 'rewrite', body }, { times: 9 });
  expect((await run([{ productNumber: 'A' }])).done).toEqual(['A created']);
});

test('a push names the fields that the service stored differently, with the first row and how many there are, and sends no second write', async () => {
  const { run, sandbox } = setUp([{ productNumber: 'A', name: 'Desk', salePrice: '1' }], {
    sandbox: { moneyDigits: 2 },
  });
  const body = (sent: string) => sent.replace(/("name":") *([^"]*?) *"/g, '$1$2"');
  sandbox.faults.add({ kind: 'rewrite', body });
  const rows: object[] = [
    { productNumber: 'A', name: ' Desk ', salePrice: '1.0' },
    { productNumber: 'B', name: 'Chair', salePrice: '2.50' },
    // Every object inherits a member of this name.
    { productNumber: 'C', name: ' Lamp', constructor: 'red' },
  ];
  const { report, results, commits } = await run(rows, { concurrency: 1 });
  expect(commits).toEqual(['create', 'create', 'update']);
  const inherited = { field: 'constructor', sent: 'red', returned: null };
  const name = { field: 'name', sent: ' Lamp', returned: 'Lamp' };
  expect(results).toMatchObject([
    { key: 'B', action: 'created', notStored: [] },
    { key: 'C', action: 'created', notStored: [inherited, name] },
    { key: 'A', action: 'updated', notStored: [{ field: 'name', sent: ' Desk ', returned: 'Desk' }] },
  ]);
  expect(report.notStored).toEqual([
    { ...inherited, rows: 1, key: 'C', index: 2 },
    { ...name, rows: 2, key: 'C', index: 2 },
  ]);
});

test('a push counts an update as done if the product cannot be read after it', async () => {
  const { sandbox, run } = setUp([{ productNumber: 'A', name: 'Desk' }], { sandbox: { updateStatus: 204 } });
  const denied = { kind: 'status', status: 403, type: 'forbidden' } as const;
  sandbox.faults.add(denied, { path: /products\/\d+$/, method: 'GET', times: 9 });
  const { done, report } = await run([{ productNumber: 'A', name: 'Table' }]);
  expect([done, report.notStored]).toEqual([['A updated'], []]);
});
