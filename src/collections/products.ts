import { productFields, productServerFields } from '../schemas/product-fields.ts';
import type { FieldInputs, FieldsOf, FilledByService, NoInputs } from '../schemas/record.ts';
import { writable } from './define.ts';

/**
 * The fields of a product that a client can write. `null` clears a field; a field that is left out or `undefined` keeps
 * its value. An amount is a decimal string: a number does not compile.
 */
export interface ProductFields extends FieldInputs<typeof productFields> {}

/** A product to create. The service fills `id`, `createdAt` and `updatedAt`: a draft that names them does not compile. */
export interface ProductDraft extends ProductFields, NoInputs<typeof productServerFields> {
  /** The service fills it. */
  id?: FilledByService;
}

/** The fields of a product to change: a field that is left out keeps its value, `null` clears it. */
export interface ProductPatch extends ProductDraft {}

/**
 * A product as the service returns it. A misspelt field does not compile. The record also keeps fields that this
 * version does not know; type them with `schemas.products`.
 */
export interface Product extends FieldsOf<typeof productFields>, FieldsOf<typeof productServerFields> {
  /** The identifier. Its format is unspecified. */
  id: string;
}

export const products = writable<Product, { draft: ProductDraft; patch: ProductPatch }>('products', {
  fields: productFields,
  serverFields: productServerFields,
});
