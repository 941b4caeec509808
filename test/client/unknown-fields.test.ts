import { createClient, type ProductDraft } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
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
  expect(warnings.filter((text) => text.includes('has no documented field'))).toEqual([
    expect.stringContaining('products has no documented field nmae. It is sent anyway. Did you mean name?'),
    expect.stringContaining('products has no documented field zzzzzz. It is sent anyway. It may be a typo.'),
  ]);
});

test('a field of the caller’s schema is no reason to warn', async () => {
  const { warnings, logger } = loggerOfWarnings();
  const schemas = { products: productSchema.extend({ colourCode: z.number().optional() }) };
  const client = createClient({ ...createSandbox().clientOptions, logger, schemas });
  await client.products.create({ name: 'Desk', colourCode: 7 });
  expect(warnings.filter((text) => text.includes('has no documented field'))).toEqual([]);
});
