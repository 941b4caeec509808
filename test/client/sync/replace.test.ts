import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';

/** A copy after a product was written and its remark and price were cleared. */
async function copyAfterClearing(write: (mine: object | undefined, theirs: object) => object) {
  const sandbox = createSandbox({ nullFields: 'omitted' });
  const client = createClient(sandbox.clientOptions);
  const copy = new Map<string, object>();
  const store = memoryStore();
  const run = () =>
    sync(client, {
      store,
      tenant: 'acme',
      collections: ['products'],
      onBatch: ({ records }) => {
        for (const record of records) copy.set(record.id, write(copy.get(record.id), record));
      },
    });
  const { id } = await client.products.create({ name: 'Desk', remark: 'old', salePrice: '129.0000' });
  await run();
  await client.products.update(id, { remark: null, salePrice: null });
  await run();
  return { copied: copy.get(id), there: await client.products.get(id) };
}

describe('of a service that leaves out null fields, a copy', () => {
  test('is right if records are replaced', async () => {
    const { copied, there } = await copyAfterClearing((_, theirs) => theirs);
    expect(copied).toEqual(there);
    expect(copied).not.toHaveProperty('salePrice');
  });

  test('keeps cleared values if records are merged', async () => {
    const { copied } = await copyAfterClearing((mine, theirs) => ({ ...mine, ...theirs }));
    expect(copied).toMatchObject({ remark: 'old', salePrice: '129.0000' });
  });
});
