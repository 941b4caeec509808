import type { Money } from '../schemas/money.ts';
import type { FieldTable } from '../schemas/record.ts';
import type { CollectionDefinition } from './define.ts';

/**
 * Every field of the contract's Product table, by kind. Lengths, required fields and allowed values: not shown.
 * What a client may send and what the service answers are the same fields; the service adds {@link serverFilled}.
 */
export const productFields = {
  name: 'string',
  description: 'string',
  productNumber: 'string',
  articleCode: 'string',
  ean: 'string',
  upcCode: 'string',
  hsnCode: 'string',
  brand: 'string',
  model: 'string',
  type: 'string',
  version: 'string',
  remark: 'string',
  infoUrl: 'string',
  serialNumber: 'string',
  labels: 'string',
  tags: 'array',
  categoryId: 'string',
  unitId: 'string',
  status: 'string',
  isInactive: 'boolean',
  isSaleItem: 'boolean',
  isPurchaseItem: 'boolean',
  isStockItem: 'boolean',
  isCatalogItem: 'boolean',
  isWebShop: 'boolean',
  isFeaturedProduct: 'boolean',
  stockProductType: 'string',
  validFrom: 'string',
  validTo: 'string',
  salePrice: 'money',
  saleRrpPrice: 'money',
  salePriceIncludesTax: 'boolean',
  salePriceDecimals: 'integer',
  saleTaxCode: 'string',
  saleTaxStatus: 'string',
  isSaleIndividual: 'boolean',
  isShippingRequired: 'boolean',
  isShippingTaxable: 'boolean',
  saleLedgerAccountCode: 'string',
  purchaseLedgerAccountCode: 'string',
  stockLedgerAccountCode: 'string',
  cogsLedgerAccountCode: 'string',
  stockQuantity: 'number',
  stockMinimalQuantity: 'number',
  stockLocation: 'string',
  quantityDefault: 'number',
  quantityBackorder: 'number',
  stockDescription: 'string',
  stockDocumentTypes: 'array',
  color: 'string',
  diameter: 'string',
  depth: 'string',
  height: 'string',
  length: 'string',
  opening: 'string',
  width: 'string',
  volume: 'string',
  weight: 'string',
} as const satisfies FieldTable;

const serverFilled = { createdAt: 'string', updatedAt: 'string' } as const satisfies FieldTable;

/**
 * The fields of a product that a client may set (contract: Product). `null` clears a field; a field left out keeps
 * its value, and so does one that is `undefined`. An amount is a decimal string: a number does not compile.
 */
export interface ProductFields {
  name?: string | null | undefined;
  description?: string | null | undefined;
  productNumber?: string | null | undefined;
  articleCode?: string | null | undefined;
  ean?: string | null | undefined;
  upcCode?: string | null | undefined;
  hsnCode?: string | null | undefined;
  brand?: string | null | undefined;
  model?: string | null | undefined;
  type?: string | null | undefined;
  version?: string | null | undefined;
  remark?: string | null | undefined;
  infoUrl?: string | null | undefined;
  serialNumber?: string | null | undefined;
  labels?: string | null | undefined;
  /** Element type: not shown. */
  tags?: unknown[] | null | undefined;
  categoryId?: string | null | undefined;
  unitId?: string | null | undefined;
  /** Allowed values: not shown. */
  status?: string | null | undefined;
  isInactive?: boolean | null | undefined;
  isSaleItem?: boolean | null | undefined;
  isPurchaseItem?: boolean | null | undefined;
  isStockItem?: boolean | null | undefined;
  isCatalogItem?: boolean | null | undefined;
  isWebShop?: boolean | null | undefined;
  isFeaturedProduct?: boolean | null | undefined;
  stockProductType?: string | null | undefined;
  /** A date; its format is not shown. */
  validFrom?: string | null | undefined;
  /** A date; its format is not shown. */
  validTo?: string | null | undefined;
  /** Sale price, a decimal string such as `"129.0000"`. */
  salePrice?: Money | null | undefined;
  /** Recommended retail price, a decimal string. */
  saleRrpPrice?: Money | null | undefined;
  salePriceIncludesTax?: boolean | null | undefined;
  /** An integer. */
  salePriceDecimals?: number | null | undefined;
  saleTaxCode?: string | null | undefined;
  saleTaxStatus?: string | null | undefined;
  isSaleIndividual?: boolean | null | undefined;
  isShippingRequired?: boolean | null | undefined;
  isShippingTaxable?: boolean | null | undefined;
  saleLedgerAccountCode?: string | null | undefined;
  purchaseLedgerAccountCode?: string | null | undefined;
  stockLedgerAccountCode?: string | null | undefined;
  cogsLedgerAccountCode?: string | null | undefined;
  stockQuantity?: number | null | undefined;
  stockMinimalQuantity?: number | null | undefined;
  stockLocation?: string | null | undefined;
  quantityDefault?: number | null | undefined;
  quantityBackorder?: number | null | undefined;
  stockDescription?: string | null | undefined;
  /** Element type: not shown. */
  stockDocumentTypes?: unknown[] | null | undefined;
  color?: string | null | undefined;
  diameter?: string | null | undefined;
  depth?: string | null | undefined;
  height?: string | null | undefined;
  length?: string | null | undefined;
  opening?: string | null | undefined;
  width?: string | null | undefined;
  volume?: string | null | undefined;
  weight?: string | null | undefined;
}

/** A product to create. The server fills `id`, `createdAt` and `updatedAt`; spreading a product in does not compile. */
export interface ProductDraft extends ProductFields {
  id?: never;
  createdAt?: never;
  updatedAt?: never;
}

/** The fields of a product to change: what is left out keeps its value, `null` clears. */
export interface ProductPatch extends ProductDraft {}

/**
 * A product as the service answers it (contract: Product). Closed on purpose, so that a misspelt field does not
 * compile; fields that this version does not know are kept at run time, and typed by `schemas.products`.
 */
export interface Product {
  /** The identifier. A string whose form the contract does not show. */
  id: string;
  /** When the record was made: an ISO 8601 timestamp. */
  createdAt?: string | null;
  /** When the record was last changed: an ISO 8601 timestamp. */
  updatedAt?: string | null;
  name?: string | null;
  description?: string | null;
  productNumber?: string | null;
  articleCode?: string | null;
  ean?: string | null;
  upcCode?: string | null;
  hsnCode?: string | null;
  brand?: string | null;
  model?: string | null;
  type?: string | null;
  version?: string | null;
  remark?: string | null;
  infoUrl?: string | null;
  serialNumber?: string | null;
  labels?: string | null;
  /** Element type: not shown. */
  tags?: unknown[] | null;
  categoryId?: string | null;
  unitId?: string | null;
  /** Allowed values: not shown. */
  status?: string | null;
  isInactive?: boolean | null;
  isSaleItem?: boolean | null;
  isPurchaseItem?: boolean | null;
  isStockItem?: boolean | null;
  isCatalogItem?: boolean | null;
  isWebShop?: boolean | null;
  isFeaturedProduct?: boolean | null;
  stockProductType?: string | null;
  /** A date; its format is not shown. */
  validFrom?: string | null;
  /** A date; its format is not shown. */
  validTo?: string | null;
  /** Sale price, a decimal string such as `"129.0000"`. */
  salePrice?: Money | null;
  /** Recommended retail price, a decimal string. */
  saleRrpPrice?: Money | null;
  salePriceIncludesTax?: boolean | null;
  /** An integer. */
  salePriceDecimals?: number | null;
  saleTaxCode?: string | null;
  saleTaxStatus?: string | null;
  isSaleIndividual?: boolean | null;
  isShippingRequired?: boolean | null;
  isShippingTaxable?: boolean | null;
  saleLedgerAccountCode?: string | null;
  purchaseLedgerAccountCode?: string | null;
  stockLedgerAccountCode?: string | null;
  cogsLedgerAccountCode?: string | null;
  stockQuantity?: number | null;
  stockMinimalQuantity?: number | null;
  stockLocation?: string | null;
  quantityDefault?: number | null;
  quantityBackorder?: number | null;
  stockDescription?: string | null;
  /** Element type: not shown. */
  stockDocumentTypes?: unknown[] | null;
  color?: string | null;
  diameter?: string | null;
  depth?: string | null;
  height?: string | null;
  length?: string | null;
  opening?: string | null;
  width?: string | null;
  volume?: string | null;
  weight?: string | null;
}

export const products: CollectionDefinition<Product, { draft: ProductDraft; patch: ProductPatch }> = {
  segment: 'products',
  fields: { ...productFields, ...serverFilled },
  serverFilled: ['id', 'createdAt', 'updatedAt'],
  writable: true,
};
