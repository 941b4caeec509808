import { createClient, isAccountingError, type ProductDraft } from 'accounting-data-sdk';
import {
  problemSchema,
  productDraftSchema,
  productPatchSchema,
  productSchema,
} from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { productFields } from '../../../src/schemas/product-fields.ts';
import { kindOfSchema } from '../../../src/schemas/zod-fields.ts';

test('productSchema becomes JSON Schema that names every field', () => {
  const schema = z.toJSONSchema(productSchema);
  const documented = ['id', 'createdAt', 'updatedAt', ...Object.keys(productFields)];
  expect(Object.keys(schema.properties ?? {}).toSorted()).toEqual(documented.toSorted());
  expect(schema).toMatchObject({ type: 'object', required: ['id'], additionalProperties: {} });
});

const odd = fc.constantFrom<unknown>('1e3', '', 129, 1.5, -0, 2 ** 53, true, [], {}, null, undefined);
const mostly = (value: unknown) => fc.oneof({ weight: 9, arbitrary: fc.constant(value) }, odd);
const body = fc.record(
  {
    name: mostly('Desk'),
    salePrice: mostly('129.0000'),
    stockQuantity: mostly(0.5),
    salePriceDecimals: mostly(4),
    isInactive: mostly(false),
    tags: mostly(['oak']),
    colourCode: mostly(7),
  },
  { requiredKeys: [] },
);

test.each([
  ['money', z.string().meta({ format: 'money' })],
  ['timestamp', z.string().meta({ format: 'date-time' })],
  ['string', z.string().meta({ format: 'date' })],
  ['money', productSchema.shape.salePrice],
])('a field of the kind %s has it by the metadata of its schema, or by its pattern', (kind, schema) => {
  expect(kindOfSchema(schema)).toBe(kind);
});

test('productDraftSchema and productPatchSchema accept what the client sends, and reject what it rejects', async () => {
  const sandbox = createSandbox();
  const { products } = createClient(sandbox.clientOptions);
  const { id } = await products.create({ name: 'Desk' });
  const isSent = (call: Promise<unknown>) =>
    call.then(
      () => true,
      (error: unknown) => {
        if (isAccountingError(error, 'invalid_input')) return false;
        throw error;
      },
    );
  const seen = { accepted: 0, rejected: 0 };
  const property = fc.asyncProperty(body, async (fields) => {
    const { success } = productDraftSchema.safeParse(fields);
    seen[success ? 'accepted' : 'rejected'] += 1;
    expect(productPatchSchema.safeParse(fields).success).toBe(success);
    expect(await isSent(products.create(fields as ProductDraft))).toBe(success);
    expect(await isSent(products.update(id, fields as ProductDraft))).toBe(success);
  });
  await fc.assert(property, { seed: 17, numRuns: 100 });
  expect(Math.min(seen.accepted, seen.rejected)).toBeGreaterThan(20);
});

test('productDraftSchema and productPatchSchema reject a whole product: the service fills some of its fields', () => {
  const { error } = productDraftSchema.safeParse({ id: '7', createdAt: '2026-01-31', name: 'Desk' });
  expect(error?.issues.map(({ path, message }) => [path[0], message])).toEqual([
    ['id', 'is filled by the service: leave it out'],
    ['createdAt', 'is filled by the service: leave it out'],
  ]);
  expect(productPatchSchema.safeParse({ updatedAt: null }).success).toBe(false);
});

test.each(['bare', 'path', 'absent', 'api-platform', 'api-platform-3.1'] as const)(
  'problemSchema accepts the problems of the service with all their members: %s',
  async (problemType) => {
    const sandbox = createSandbox({ requiredFields: ['name'], problemType });
    const { baseUrl, apiKey } = sandbox.clientOptions;
    const problemOf = async (path: string, init: RequestInit = {}) => {
      const headers = { 'X-AUTH-TOKEN': apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': 'a' };
      const response = await sandbox.fetch(`${baseUrl}/api/public/v1/${path}`, { headers, ...init });
      return await response.json();
    };
    const problems = [
      await problemOf('accounts', { headers: { 'X-AUTH-TOKEN': 'unknown-key' } }),
      await problemOf('accounts/none'),
      await problemOf('products', { method: 'POST', body: '{}' }),
    ];
    expect(problems.map((problem) => problemSchema.parse(problem))).toEqual(problems);
    expect(problems[2].violations).toMatchObject([{ propertyPath: 'name' }]);
  },
);
