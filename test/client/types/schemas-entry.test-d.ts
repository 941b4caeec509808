import {
  type AccountingRecord,
  createClient,
  type Money,
  type Product,
  type ProductDraft,
  type ProductPatch,
} from 'accounting-data-sdk';
import {
  type moneySchema,
  type problemSchema,
  productDraftSchema,
  productPatchSchema,
  productSchema,
  type recordSchema,
} from 'accounting-data-sdk/schemas';
import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod';

/** A type without its index signature: a schema that keeps unknown fields infers one. */
type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

test('what a schema infers can be assigned to the type of the package', () => {
  expectTypeOf<z.infer<typeof productSchema>>().toExtend<Product>();
  expectTypeOf<z.infer<typeof productDraftSchema>>().toExtend<ProductDraft>();
  expectTypeOf<z.infer<typeof productPatchSchema>>().toExtend<ProductPatch>();
  expectTypeOf<z.infer<typeof recordSchema>>().toExtend<AccountingRecord>();
  expectTypeOf<AccountingRecord>().toExtend<z.infer<typeof recordSchema>>();
  expectTypeOf<z.infer<typeof moneySchema>>().toEqualTypeOf<Money>();
});

test('what a schema infers has the known fields of the type, and no others', () => {
  expectTypeOf<Known<z.infer<typeof productSchema>>>().toEqualTypeOf<Known<Product>>();
  type Filled = 'id' | 'createdAt' | 'updatedAt';
  type Draft = Known<z.infer<typeof productDraftSchema>>;
  expectTypeOf<Omit<Draft, Filled>>().toEqualTypeOf<Omit<ProductDraft, Filled>>();
  expectTypeOf<keyof Draft>().toEqualTypeOf<keyof ProductDraft>();
  expectTypeOf<z.infer<typeof productPatchSchema>>().toEqualTypeOf<z.infer<typeof productDraftSchema>>();
  type Members = 'type' | 'title' | 'status' | 'detail' | 'instance' | 'violations';
  expectTypeOf<keyof Known<z.infer<typeof problemSchema>>>().toEqualTypeOf<Members>();
});

test('what was validated can be written', () => {
  const client = createClient();
  client.products.create(productDraftSchema.parse({}));
  client.products.update('1', productPatchSchema.parse({}));
  // @ts-expect-error a product is not a draft
  client.products.create(productSchema.parse({}));
});
