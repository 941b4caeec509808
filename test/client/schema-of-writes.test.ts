import { createClient, push } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../support/caught.ts';

const products = productSchema.extend({ colourCode: z.number().int().min(1).nullish(), grade: z.string() });

function setUp(validation: 'throw' | 'off' = 'throw') {
  const sandbox = createSandbox({ unknownFields: 'store' });
  const client = createClient({ ...sandbox.clientOptions, validation, schemas: { products } });
  return { sandbox, client };
}

test('a draft or patch that the schema of a field rejects is not sent', async () => {
  const { sandbox, client } = setUp();
  const draft = await caught(client.products.create({ grade: 'a', colourCode: 0 }));
  expect(draft).toMatchObject({ code: 'invalid_input', argument: 'draft.colourCode' });
  expect((draft as Error).message).toContain('does not match the schema');
  const patch = await caught(client.products.update('1', { colourCode: 1.5 }));
  expect(patch).toMatchObject({ code: 'invalid_input', argument: 'patch.colourCode' });
  expect(await caught(client.products.create({ grade: null as never }))).toMatchObject({
    argument: 'draft.grade',
  });
  expect(sandbox.count()).toBe(0);
});

test('a patch that clears a field is sent, even if the schema of the field does not accept null', async () => {
  const { sandbox, client } = setUp();
  await caught(client.products.update('1', { grade: null as never }));
  expect(sandbox.requests.map(({ body }) => body)).toEqual([{ grade: null }]);
});

test('a row that the schema of a field rejects fails before it is sent', async () => {
  const { sandbox, client } = setUp();
  const rows = [{ productNumber: 'A', colourCode: 0 }] as never[];
  const run = { tenant: 'a', rows, key: 'productNumber', store: new Map() } as const;
  expect((await push(client.products, run)).counts.failed).toBe(1);
  expect(sandbox.journal).toEqual([]);
});
