import { createClient, memoryStore, push } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { productFields } from '../sandbox/contract/specification.ts';
import { caught } from '../support/caught.ts';

test('a product is created, changed, cleared of a field and deleted', async () => {
  const sandbox = createSandbox();
  const { products } = createClient(sandbox.clientOptions);

  const desk = await products.create({ name: 'Desk', salePrice: '129.0000', brand: 'Oak & Co' });
  expect(desk).toMatchObject({ name: 'Desk', salePrice: '129.0000', createdAt: expect.any(String) });

  const cheaper = await products.update(desk.id, { salePrice: '99.5000', brand: null, model: undefined });
  expect(cheaper).toMatchObject({ id: desk.id, name: 'Desk', salePrice: '99.5000', brand: null });
  expect(sandbox.requests.at(-1)?.body).toEqual({ salePrice: '99.5000', brand: null });

  await expect(products.delete(desk.id)).resolves.toBeUndefined();
  expect(await products.find(desk.id)).toBeUndefined();
});

test('every specified field is sent and returned with the same digits', async () => {
  const sandbox = createSandbox({ moneyDigits: 'as-sent' });
  const { products } = createClient(sandbox.clientOptions);
  const samples = {
    string: 'Ünï ✓ "quoted"',
    money: '123456789012345678.12345678',
    boolean: true,
    integer: 4,
    number: 0.1,
    array: [1, 'two', { three: [3] }],
  };
  const draft = Object.fromEntries(
    productFields.filter(({ responseOnly }) => !responseOnly).map(({ name, type }) => [name, samples[type]]),
  );
  const created = await products.create(draft);
  expect(await products.get(created.id)).toMatchObject(draft);
});

test('an id with every awkward character is one path segment', async () => {
  const sandbox = createSandbox({ ids: { form: 'ulid' } });
  const { products } = createClient(sandbox.clientOptions);
  const id = 'a/b?c#d e%20&é✓;..';
  await products.find(id);
  expect(decodeURIComponent(sandbox.requests[0]?.path ?? '')).toBe(`/api/public/v1/products/${id}`);
  expect(sandbox.requests[0]?.path.split('/')).toHaveLength(6);
});

test('a product is the output of its schema in every method, also a detached one', async () => {
  const sandbox = createSandbox();
  const schema = z.object({ id: z.string(), name: z.string().transform((name) => name.toUpperCase()) });
  const { products } = createClient({ ...sandbox.clientOptions, schemas: { products: schema } });
  const { create, update, get, find, list, delete: remove } = products;
  const created = await create({ name: 'Desk', salePrice: '5', brand: 'Nord' });
  const { id } = created;
  const read = [created, await update(id, { brand: null }), await get(id), await find(id)];
  expect([...read, ...(await list().toArray({ limit: 2 }))]).toEqual(Array(5).fill({ id, name: 'DESK' }));
  expect(sandbox.store.products.get(id)).toMatchObject({ name: 'Desk', salePrice: '5.0000', brand: null });
  await remove(id);
  expect(await find(id)).toBeUndefined();
});

/** A service that stores unknown fields, and a client whose schema has two of them. */
function withCustomFields() {
  const sandbox = createSandbox({ unknownFields: 'store' });
  const schema = productSchema.extend({ colourCode: z.number().int().min(1).nullish(), grade: z.string() });
  const { products } = createClient({ ...sandbox.clientOptions, schemas: { products: schema } });
  return { sandbox, products };
}

test('a custom field of the schema is written, read and cleared', async () => {
  const { products, sandbox } = withCustomFields();
  const { id } = await products.create({ name: 'Desk', colourCode: 7, grade: 'a' });
  expect((await products.get(id)).colourCode).toBe(7);
  expect((await products.update(id, { colourCode: null })).colourCode).toBeNull();
  // Even if the schema of the field does not accept null.
  await caught(products.update(id, { grade: null as never }));
  expect(sandbox.requests.at(-1)?.body).toEqual({ grade: null });
  const run = { tenant: 'acme', store: memoryStore(), key: 'name' } as const;
  const { counts } = await push(products, {
    ...run,
    rows: [{ name: 'Desk', colourCode: 7, grade: null as never }],
  });
  expect(counts).toMatchObject({ updated: 1, failed: 0 });
});

test('a draft or patch that the schema of a field rejects is not sent', async () => {
  const { sandbox, products } = withCustomFields();
  for (const [argument, call] of [
    ['draft.colourCode', products.create({ grade: 'a', colourCode: 0 })],
    ['draft.grade', products.create({ grade: null as never })],
    ['patch.colourCode', products.update('1', { colourCode: 1.5 })],
  ] as const) {
    const message = expect.stringContaining('does not match the schema');
    expect(await caught(call)).toMatchObject({ code: 'invalid_input', argument, message });
  }
  expect(sandbox.count()).toBe(0);
});
