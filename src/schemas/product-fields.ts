import type { FieldTable } from './record.ts';

/**
 * Every documented field of a product that a client can write, with its kind, for programs that convert the columns of
 * a file. Types, schemas and all checks are derived from this table. Lengths, required fields and allowed values are
 * unspecified.
 */
export const productFields = {
  /** Name. */ name: 'string',
  /** Description. */ description: 'string',
  /** Product number. */ productNumber: 'string',
  /** Article code. */ articleCode: 'string',
  /** EAN, the European Article Number. A string, so that leading zeros stay. */ ean: 'string',
  /** UPC, the Universal Product Code. A string, so that leading zeros stay. */ upcCode: 'string',
  /** HSN code. A string, so that leading zeros stay. */ hsnCode: 'string',
  /** Brand. */ brand: 'string',
  /** Model. */ model: 'string',
  /** Type. The allowed values are unspecified. */ type: 'string',
  /** Version. */ version: 'string',
  /** Remark. */ remark: 'string',
  /** URL with more information. */ infoUrl: 'string',
  /** Serial number. */ serialNumber: 'string',
  /** Labels, in one string. Its format is unspecified. */ labels: 'string',
  /** Tags. The type of an element is unspecified. */ tags: 'array',
  /** Id of the category. The API has no collection of categories. */ categoryId: 'string',
  /** Id of the unit. The API has no collection of units. */ unitId: 'string',
  /** Status. The allowed values and transitions are unspecified. */ status: 'string',
  /** Whether the product is inactive. How this relates to `status` is unspecified. */ isInactive: 'boolean',
  /** Whether the product is a sale item. */ isSaleItem: 'boolean',
  /** Whether the product is a purchase item. */ isPurchaseItem: 'boolean',
  /** Whether the product is a stock item. */ isStockItem: 'boolean',
  /** Whether the product is a catalog item. */ isCatalogItem: 'boolean',
  /** Whether the product is in the web shop. */ isWebShop: 'boolean',
  /** Whether the product is a featured product. */ isFeaturedProduct: 'boolean',
  /** Type of stock product. The allowed values are unspecified. */ stockProductType: 'string',
  /** Start of the validity. The format of the date is unspecified. */ validFrom: 'string',
  /** End of the validity. The format of the date is unspecified. */ validTo: 'string',
  /** Sale price, a decimal string such as `"129.0000"`. */ salePrice: 'money',
  /** Recommended retail price, a decimal string such as `"129.0000"`. */ saleRrpPrice: 'money',
  /** Whether the sale price includes tax. */ salePriceIncludesTax: 'boolean',
  /** Number of decimals of the sale price, an integer. */ salePriceDecimals: 'integer',
  /** Tax code for sales. */ saleTaxCode: 'string',
  /** Tax status for sales. The allowed values are unspecified. */ saleTaxStatus: 'string',
  /** Whether the product is sold individually. */ isSaleIndividual: 'boolean',
  /** Whether shipping is required. */ isShippingRequired: 'boolean',
  /** Whether shipping is taxable. */ isShippingTaxable: 'boolean',
  /** Code of the ledger account for sales. */ saleLedgerAccountCode: 'string',
  /** Code of the ledger account for purchases. */ purchaseLedgerAccountCode: 'string',
  /** Code of the ledger account for stock. */ stockLedgerAccountCode: 'string',
  /** Code of the ledger account for the cost of goods sold. */ cogsLedgerAccountCode: 'string',
  /** Quantity in stock. */ stockQuantity: 'number',
  /** Minimal quantity in stock. */ stockMinimalQuantity: 'number',
  /** Location of the stock. */ stockLocation: 'string',
  /** Default quantity. */ quantityDefault: 'number',
  /** Quantity in backorder. */ quantityBackorder: 'number',
  /** Description of the stock. */ stockDescription: 'string',
  /** Document types of the stock. The type of an element is unspecified. */ stockDocumentTypes: 'array',
  /** Color. */ color: 'string',
  /** Diameter, a string. Its format and unit are unspecified. */ diameter: 'string',
  /** Depth, a string. Its format and unit are unspecified. */ depth: 'string',
  /** Height, a string. Its format and unit are unspecified. */ height: 'string',
  /** Length, a string. Its format and unit are unspecified. */ length: 'string',
  /** Opening, a string. Its format and unit are unspecified. */ opening: 'string',
  /** Width, a string. Its format and unit are unspecified. */ width: 'string',
  /** Volume, a string. Its format and unit are unspecified. */ volume: 'string',
  /** Weight, a string. Its format and unit are unspecified. */ weight: 'string',
} as const satisfies FieldTable;

/** The fields that the service fills, beside `id`. */
export const productServerFields = {
  /** When the product was created: an ISO 8601 timestamp. */ createdAt: 'timestamp',
  /** When the product was last changed: an ISO 8601 timestamp. */ updatedAt: 'timestamp',
} as const satisfies FieldTable;

/** The documented fields of a collection beside `id`, by kind: only those of products are documented. */
export function documentedFields(collection: string): FieldTable {
  return collection === 'products' ? { ...productFields, ...productServerFields } : {};
}
