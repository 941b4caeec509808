import { createClient, isApiError } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { pushProducts } from './push-products.ts';

const desk = { sku: 'D-1', title: 'Desk', price: '129.0000' };
const lamp = { sku: 'L-1', title: 'Lamp', price: '19.9500' };

test('creates an article with its exact price', async () => {
  const sandbox = createSandbox();
  await pushProducts(createClient(sandbox.clientOptions), [desk]);
  expect(sandbox.store.products.all()).toMatchObject([
    { productNumber: 'D-1', name: 'Desk', salePrice: '129.0000' },
  ]);
});

test('creates one product with two attempts and one key if a response is lost after the commit', async () => {
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

test('a repeated run creates no product twice', async () => {
  const sandbox = createSandbox();
  const client = createClient(sandbox.clientOptions);
  await pushProducts(client, [desk]);
  await pushProducts(client, [desk, lamp]);
  expect(sandbox.store.products.all().map(({ productNumber }) => productNumber)).toEqual(['D-1', 'L-1']);
});

test('pushes the other articles after one was rejected', async () => {
  const sandbox = createSandbox({ requiredFields: ['name'] });
  const pushed = await pushProducts(createClient(sandbox.clientOptions), [{ ...desk, title: '' }, lamp]);
  expect(pushed).toMatchObject([
    { sku: 'D-1', rejected: 'name' },
    { sku: 'L-1', product: { name: 'Lamp' } },
  ]);
});

test('stops at a key that may not write, and creates nothing', async () => {
  const sandbox = createSandbox();
  const client = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.readOnly });
  const error = await pushProducts(client, [desk, lamp]).catch((reason: unknown) => reason);
  expect(isApiError(error, 'scope_required')).toBe(true);
  expect([sandbox.count(), sandbox.store.products.count]).toEqual([1, 0]);
});
