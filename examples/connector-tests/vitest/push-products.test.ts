import { createClient, isApiError } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { pushProducts } from './push-products.ts';

const desk = { sku: 'D-1', title: 'Desk', price: '129.0000' };
const lamp = { sku: 'L-1', title: 'Lamp', price: '19.9500' };

test('an article arrives with its price to the digit', async () => {
  const sandbox = createSandbox();
  await pushProducts(createClient(sandbox.clientOptions), [desk]);
  expect(sandbox.store.products.all()).toMatchObject([
    { productNumber: 'D-1', name: 'Desk', salePrice: '129.0000' },
  ]);
});

test('an answer that is lost after the commit leaves one product: two attempts, one key', async () => {
  const sandbox = createSandbox();
  sandbox.faults.next({ kind: 'lost-response', committed: true });

  await pushProducts(createClient(sandbox.clientOptions), [desk]);

  expect(sandbox.store.products.count).toBe(1);
  expect(sandbox.journal).toHaveLength(1);
  expect(sandbox.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
    'article:D-1',
    'article:D-1',
  ]);
});

test('a run that is repeated makes no product twice', async () => {
  const sandbox = createSandbox();
  const client = createClient(sandbox.clientOptions);
  await pushProducts(client, [desk]);
  await pushProducts(client, [desk, lamp]);
  expect(sandbox.store.products.all().map(({ productNumber }) => productNumber)).toEqual(['D-1', 'L-1']);
});

test('an article that the books refuse does not stop the others', async () => {
  const sandbox = createSandbox({ requiredFields: ['name'] });
  const pushed = await pushProducts(createClient(sandbox.clientOptions), [{ ...desk, title: '' }, lamp]);
  expect(pushed).toMatchObject([
    { sku: 'D-1', refused: 'name' },
    { sku: 'L-1', product: { name: 'Lamp' } },
  ]);
});

test('a key that may not write stops the run, and nothing is in the books', async () => {
  const sandbox = createSandbox();
  const client = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.readOnly });
  const error = await pushProducts(client, [desk, lamp]).catch((reason: unknown) => reason);
  expect(isApiError(error, 'scope_required')).toBe(true);
  expect([sandbox.count(), sandbox.store.products.count]).toEqual([1, 0]);
});
