import { createClient, memoryStore, type ProductDraft, push } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { loggerOfWarnings } from '../support/warnings.ts';

/** What untyped code passes. */
const misspelt = { name: 'Desk', nmae: 'Desk' } as ProductDraft;

test('an unknown product field is sent, with one warning for each name and client', async () => {
  const { warnings, logger } = loggerOfWarnings();
  const client = createClient({ ...createSandbox().clientOptions, logger });
  const { id } = await client.products.create(misspelt);
  await client.withOptions({ timeoutMs: 5_000 }).products.create(misspelt);
  await client.products.update(id, { ...misspelt, zzzzzz: 1 } as ProductDraft);
  expect(warnings.filter((text) => text.includes('has no documented field'))).toEqual([
    expect.stringContaining('products has no documented field nmae. It is sent anyway. Did you mean name?'),
    expect.stringContaining('products has no documented field zzzzzz. It is sent anyway. It may be a typo.'),
  ]);
});

test('without a logger, the warning of an unknown field goes to stderr', async () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const client = createClient(createSandbox().clientOptions);
  for (const draft of [misspelt, { name: 'Table' }, misspelt]) await client.products.create(draft);
  await client.products.update('1', { sellPrice: '1.00', salePrice: undefined } as ProductDraft);
  expect(written.mock.calls.map(([text]) => text)).toEqual([
    'accounting-data-sdk products: products has no documented field nmae. It is sent anyway. Did you mean name?',
    'accounting-data-sdk products: products has no documented field sellPrice. It is sent anyway. Did you mean salePrice?',
  ]);
});

test('a push warns of an unknown field once in each run, of a dry run too', async () => {
  const { warnings, logger } = loggerOfWarnings();
  const sandbox = createSandbox({ unknownFields: 'store' });
  const client = createClient({ ...sandbox.clientOptions, logger });
  const store = memoryStore();
  const rows = Array.from({ length: 9 }, (_, n) => ({ ...misspelt, productNumber: `${n}`, stock: n }));
  for (const dryRun of [true, false]) {
    await push(client.products, { tenant: 'acme', rows, key: 'productNumber', store, dryRun });
    expect(warnings.splice(0)).toEqual([
      expect.stringContaining('products has no documented field nmae'),
      expect.stringContaining('products has no documented field stock'),
    ]);
  }
});
