import type { Money, Product, ProductDraft, ProductFields, ProductPatch } from 'accounting-data-sdk';
import { expectTypeOf, test } from 'vitest';

/** The value of each kind of field. */
interface ByKind {
  name: string;
  salePrice: Money;
  isInactive: boolean;
  salePriceDecimals: number;
  stockQuantity: number;
  tags: unknown[];
}

test('each field of a product has the type of its kind, and can be missing or null', () => {
  type Expected = { [Name in keyof ByKind]?: ByKind[Name] | null };
  expectTypeOf<Pick<Product, keyof ByKind>>().toEqualTypeOf<Expected>();
  expectTypeOf<Pick<Product, 'id'>>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<Pick<Product, 'createdAt' | 'updatedAt'>>().toEqualTypeOf<{
    createdAt?: string | null;
    updatedAt?: string | null;
  }>();
});

test('each input of a product can also be undefined', () => {
  type Expected = { [Name in keyof ByKind]?: ByKind[Name] | null | undefined };
  expectTypeOf<Pick<ProductDraft, keyof ByKind>>().toEqualTypeOf<Expected>();
  expectTypeOf<Pick<ProductPatch, keyof ByKind>>().toEqualTypeOf<Expected>();
});

test('a product has the fields that a caller can write and those that the service fills, and no others', () => {
  expectTypeOf<keyof Product>().toEqualTypeOf<keyof ProductFields | 'id' | 'createdAt' | 'updatedAt'>();
  expectTypeOf<keyof ProductDraft>().toEqualTypeOf<keyof Product>();
  expectTypeOf<keyof ProductPatch>().toEqualTypeOf<keyof Product>();
  type Filled = Pick<ProductDraft, 'id' | 'createdAt' | 'updatedAt'>;
  expectTypeOf<Record<never, never>>().toExtend<Filled>();
  expectTypeOf<Pick<Product, 'id'>>().not.toExtend<Filled>();
  expectTypeOf<{ createdAt: string | null }>().not.toExtend<Filled>();
  expectTypeOf<{ updatedAt: string }>().not.toExtend<Filled>();
});
