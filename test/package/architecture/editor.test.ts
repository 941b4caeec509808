import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { options } from '../../support/compiler.ts';

const file = fileURLToPath(new URL('./editor-example.ts', import.meta.url));

/** What a user writes: first what compiles, then one mistake in each line. */
const CODE = `import { type Batch, changes, createClient, memoryStore, push, sync, toDecimal } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import * as z from 'zod';

const client = createClient();
const ownFields = createClient({ schemas: { products: productSchema.extend({ colourCode: z.number() }) } });
const product = await client.products.get('1');
const paginator = client.products.list();
const productPages = client.products.list().pages();
const store = memoryStore();
const report = await push(client.products, { tenant: 'shop', key: 'ean', store, rows: [] });
const price = toDecimal('1.00');
await sync(client, { store, tenant: 'shop', collections: ['accounts', 'products'], onBatch: (twoBatches) => twoBatches });
for await (const oneBatch of changes(client.accounts, { store, tenant: 'shop' })) oneBatch.tenant satisfies Batch<object>['tenant'];
const ownProduct = await ownFields.products.get('1');
const colour = ownProduct.colourCode;
const withoutId = z.looseObject({ name: z.string() });
const schemas = { accounts: withoutId };
createClient({ schemas: { accounts: z.looseObject({ id: z.string() }) } });
export default [product, productPages, paginator, report, price, colour];

await client.products.create({ id: '1' });
await client.products.create({ salePrice: 12 });
await client.products.create({ salesPrice: '12' });
await client.products.create({ ...product });
await client.products.update('1', { createdAt: '2026-01-01' });
await push(client.products, { tenant: 'shop', key: 'ean', store, rows: [{ ean: '1', salePrice: 12 }] });
await push(client.products, { tenant: 'shop', key: 'ean', store, rows: [{ ean: '1', nmae: 'Desk' }] });
await push(client.products, { tenant: 'shop', key: 'salePriceDecimals', store, rows: [{ ean: '1' }] });
await client.accounts.create({});
createClient({ baseURL: 'https://books.example.com' });
await ownFields.products.create({ colourCode: 'red' });
await push(ownFields.products, { tenant: 'shop', key: 'ean', rows: [{ ean: '1', colourCode: 'blue' }] });
createClient({ schemas: { accounts: withoutId } });
createClient({ schemas: { accounts: z.looseObject({ id: z.number() }) } });
createClient({ schemas });
createClient({ schemas: { products: withoutId } });
createClient({ schemas: { acounts: z.looseObject({ id: z.string() }) } });
createClient().collection('invoices', { schema: withoutId });
`;

const service = ts.createLanguageService({
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot(name) {
    const text = name === file ? CODE : ts.sys.readFile(name);
    return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
  },
  getCurrentDirectory: () => fileURLToPath(new URL('../../../', import.meta.url)),
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (name) => name === file || ts.sys.fileExists(name),
  readFile: (name) => (name === file ? CODE : ts.sys.readFile(name)),
  directoryExists: ts.sys.directoryExists,
  getDirectories: ts.sys.getDirectories,
});

/** The text that an editor shows over the first place of a name. */
function hover(name: string): string {
  const place = CODE.search(new RegExp(`\\b${name}\\b`));
  return ts.displayPartsToString(service.getQuickInfoAtPosition(file, place)?.displayParts);
}

/** What the compiler says about the line with this code. */
function complaint(code: string): string {
  const start = CODE.lastIndexOf('\n', CODE.indexOf(code)) + 1;
  const line = CODE.slice(start, CODE.indexOf('\n', start));
  const inLine = service
    .getSemanticDiagnostics(file)
    .filter(({ start: at = 0 }) => at >= start && at < start + line.length);
  return inLine.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')).join('\n');
}

describe('an editor shows the types of this package by their names', () => {
  test.each([
    ['client', 'const client: Client'],
    ['product', 'const product: Product'],
    ['productPages', 'const productPages: AsyncIterableIterator<Page<Product>>'],
    ['report', 'const report: PushReport'],
    ['price', 'const price: Decimal'],
    ['store', 'const store: CompleteStore'],
    ['twoBatches', '(parameter) twoBatches: Batch<Account, "accounts"> | Batch<Product, "products">'],
    ['oneBatch', 'const oneBatch: Batch<Account, string>'],
    ['paginator', 'const paginator: Paginator<Product>'],
    ['colour', 'const colour: number'],
  ])('for %s', (name, text) => expect(hover(name)).toBe(text));

  test('for a client with schemas', () => {
    expect(hover('ownFields')).toMatch(/^const ownFields: ClientWith<\{/);
  });
});

/** The names that an editor offers at a place of the program. */
function offeredAt(place: number): readonly string[] {
  return service.getCompletionsAtPosition(file, place, undefined)?.entries.map(({ name }) => name) ?? [];
}

test('the members of a batch are those that a user reads', () => {
  const members = offeredAt(CODE.indexOf('tenant', CODE.indexOf('oneBatch.tenant')));
  expect(members).toEqual(expect.arrayContaining(['checkpoint', 'collection', 'invalid', 'records', 'rows']));
});

test('a collection offers its methods and where it is', () => {
  const methods = ['create', 'delete', 'find', 'get', 'list', 'update'];
  const members = offeredAt(CODE.indexOf('get(', CODE.indexOf('client.products')));
  expect(members).toEqual([...methods, 'baseUrl', 'parent', 'segment'].sort());
});

test.each([
  ['a draft', "products.create({ salesPrice: '12' })", 'salesPrice'],
  ['a patch', "products.update('1', { createdAt", 'createdAt'],
  ['a draft of a client with a schema', "ownFields.products.create({ colourCode: 'red' })", 'colourCode'],
])('%s offers every field that a caller can write, and none that the service fills', (_, code, name) => {
  const place = CODE.indexOf(name, CODE.indexOf(code));
  const offered = offeredAt(place);
  expect(offered).toEqual(expect.arrayContaining(['salePrice', 'name', 'tags']));
  // The name that is there already is offered too.
  const filled = ['id', 'createdAt', 'updatedAt'].filter((each) => each !== name && offered.includes(each));
  expect(filled).toEqual([]);
});

describe('the compiler says in our words what is wrong', () => {
  test.each([
    ["products.create({ id: '1' })", "'string' is not assignable to type 'FilledByService'"],
    [
      "products.update('1', { createdAt: '2026-01-01' })",
      "'string' is not assignable to type 'FilledByService'",
    ],
    ['products.create({ ...product })', "'string' is not assignable to type 'FilledByService'"],
    ["products.create({ salesPrice: '12' })", "Did you mean to write 'salePrice'?"],
    ["rows: [{ ean: '1', nmae: 'Desk' }]", "'nmae' does not exist in type 'ProductDraft'"],
    ["key: 'salePriceDecimals'", "is not assignable to type 'TextFieldOf<ProductDraft>"],
    ['accounts.create({})', "'create' does not exist on type 'ReadOnlyCollection<Account>'"],
    ["createClient({ baseURL: 'https://books.example.com' })", "Did you mean to write 'baseUrl'?"],
    ["collection('invoices', { schema: withoutId })", "Property 'id' is missing"],
  ])('about %s', (code, text) => expect(complaint(code)).toContain(text));

  test.each([
    ['schemas: { accounts: withoutId } });', 'the schema output needs id: string'],
    ['z.looseObject({ id: z.number() })', 'the schema output needs id: string'],
    ['createClient({ schemas });', 'the schema output needs id: string'],
    ['schemas: { products: withoutId }', 'the schema output needs id: string'],
    ['schemas: { acounts: z', 'there is no collection of this name'],
  ])('about an unsuitable schema: %s', (code, text) => {
    expect(complaint(code)).toContain(`'"${text}"'`);
    expect(complaint(code)).not.toContain("'never'");
  });

  test.each([
    ['products.create({ salePrice: 12 })', 'string'],
    ["rows: [{ ean: '1', salePrice: 12 }]", 'string'],
    ["ownFields.products.create({ colourCode: 'red' })", 'number'],
    ["rows: [{ ean: '1', colourCode: 'blue' }]", 'number'],
  ])('in one line: %s', (code, type) => {
    expect(complaint(code)).toMatch(new RegExp(`^Type '\\w+' is not assignable to type '${type}'\\.$`));
  });

  test('and nothing about the rest of the program', () => {
    const lines = service
      .getSemanticDiagnostics(file)
      .map(({ start }) => CODE.slice(0, start).split('\n').length);
    expect(Math.min(...lines)).toBeGreaterThan(CODE.slice(0, CODE.indexOf('{ id:')).split('\n').length - 1);
  });
});
