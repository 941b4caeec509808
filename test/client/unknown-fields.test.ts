import { createClient, memoryStore, type ProductDraft, type PushResult, push } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { loggerOfWarnings } from '../support/warnings.ts';

/** What untyped code passes. */
const misspelt = { name: 'Desk', nmae: 'Desk' } as ProductDraft;

test('an unknown product field is sent, with one warning for each name and client', async () => {
  const { warnings, logger } = loggerOfWarnings();
  const client = createClient({ ...createSandbox().clientOptions, logger });
  const { id } = await client.products.create(misspelt);
  await client.withOptions({ timeoutMs: 5_000 }).products.create(misspelt);
  await client.products.update(id, { ...misspelt, zzzzzz: 1 } as ProductDraft);
  expect(warnings.filter((text) => text.includes('is not a documented field'))).toEqual([
    expect.stringContaining('nmae is not a documented field. It is sent anyway. Did you mean name?'),
    expect.stringContaining('zzzzzz is not a documented field. It is sent anyway. It may be a typo.'),
  ]);
});

test('at most 100 names are warned of, because they can come from data', async () => {
  const { warnings, logger } = loggerOfWarnings();
  const client = createClient({ ...createSandbox().clientOptions, logger });
  const fields = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`custom${n}`, n]));
  for (let n = 0; n < 2; n++) await client.products.create({ name: 'Desk', ...fields } as ProductDraft);
  expect(warnings.filter((text) => text.includes('is not a documented field'))).toHaveLength(100);
});

test('without a logger, the warning of an unknown field goes to stderr', async () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const client = createClient(createSandbox().clientOptions);
  for (const draft of [misspelt, { name: 'Table' }, misspelt]) await client.products.create(draft);
  await client.products.update('1', { sellPrice: '1.00', salePrice: undefined } as ProductDraft);
  expect(written.mock.calls.map(([text]) => text)).toEqual([
    'accounting-data-sdk products: nmae is not a documented field. It is sent anyway. Did you mean name?',
    'accounting-data-sdk products: sellPrice is not a documented field. It is sent anyway. Did you mean salePrice?',
  ]);
});

test('a push warns of an unknown field once in each run, of a dry run too', async () => {
  const { warnings, logger } = loggerOfWarnings();
  const sandbox = createSandbox({ unknownFields: 'store' });
  const client = createClient({ ...sandbox.clientOptions, logger });
  const store = memoryStore();
  const rows: ProductDraft[] = Array.from({ length: 9 }, (_, n) => {
    const stock = { stock: n };
    return { ...misspelt, productNumber: `${n}`, ...stock };
  });
  for (const dryRun of [true, false]) {
    await push(client.products, { tenant: 'acme', rows, key: 'productNumber', store, dryRun });
    expect(warnings.splice(0)).toEqual([
      expect.stringContaining('nmae is not a documented field'),
      expect.stringContaining('stock is not a documented field'),
    ]);
  }
});

test("a push with unknownFields: 'reject' fails a row with a field that neither the documentation nor a schema has", async () => {
  const { warnings, logger } = loggerOfWarnings();
  const sandbox = createSandbox({ unknownFields: 'store' });
  const schemas = { products: productSchema.extend({ colourCode: z.number().nullish() }) };
  const client = createClient({ ...sandbox.clientOptions, logger, schemas });
  const results: PushResult[] = [];
  await push(client.products, {
    tenant: 'acme',
    rows: [
      { ...misspelt, productNumber: 'A' },
      { productNumber: 'B', colourCode: 7 },
      { productNumber: 'C' },
    ],
    key: 'productNumber',
    store: memoryStore(),
    unknownFields: 'reject',
    onResult: (result) => void results.push(result),
  });
  expect(results.map(({ key, action }) => `${key} ${action}`)).toEqual([
    'A failed',
    'B created',
    'C created',
  ]);
  const message = expect.stringContaining('nmae: is not a documented field of products. Did you mean name?');
  expect(results[0]).toMatchObject({ error: { code: 'invalid_input', argument: 'rows[0].nmae', message } });
  expect(warnings.filter((text) => text.includes('nmae'))).toEqual([]);
  expect(sandbox.store.products.all()).toMatchObject([{ colourCode: 7 }, { productNumber: 'C' }]);
});
