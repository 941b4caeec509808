import { isAccountingError, type ProductFields, toDecimal } from 'accounting-data-sdk';

/** A field of a product that a cell can hold. */
export type Value = string | number | boolean | null;

/** How a cell is read and compared. */
export type Kind = 'text' | 'money' | 'number' | 'yes_no';

/** A column of the shop's export, and the field of a product that it fills. */
export interface Column {
  readonly header: string;
  readonly field: keyof ProductFields & string;
  readonly kind: Kind;
}

/** The column that says which product a row is about. */
export const NUMBER_COLUMN = 'sku';

/** Everything that the push takes care of. A field that is not here, or not in the file, is left as it is. */
export const columns: readonly Column[] = [
  { header: NUMBER_COLUMN, field: 'productNumber', kind: 'text' },
  { header: 'title', field: 'name', kind: 'text' },
  { header: 'description', field: 'description', kind: 'text' },
  { header: 'brand', field: 'brand', kind: 'text' },
  { header: 'ean', field: 'ean', kind: 'text' },
  { header: 'price', field: 'salePrice', kind: 'money' },
  { header: 'list_price', field: 'saleRrpPrice', kind: 'money' },
  { header: 'tax_included', field: 'salePriceIncludesTax', kind: 'yes_no' },
  { header: 'stock', field: 'stockQuantity', kind: 'number' },
  { header: 'weight', field: 'weight', kind: 'text' },
  { header: 'status', field: 'status', kind: 'text' },
  { header: 'in_shop', field: 'isWebShop', kind: 'yes_no' },
];

/** What a cell says: a value, or what is wrong with it and how to put it right. */
export type Cell = { readonly value: Value } | { readonly problem: string };

/** Reads a cell. An empty one means that the product has no such value, so that the field is cleared. */
export function readCell(text: string, kind: Kind): Cell {
  if (text === '') return { value: null };
  if (kind === 'money') return readMoney(text);
  if (kind === 'number') return readNumber(text);
  if (kind === 'yes_no') return readYesNo(text);
  return { value: text };
}

/** The digits stay as they are written: an amount never becomes a number. */
function readMoney(text: string): Cell {
  try {
    toDecimal(text);
    return { value: text };
  } catch (error) {
    if (!isAccountingError(error, 'invalid_input')) throw error;
    return {
      problem: `"${text}" is not an amount; write it like 1234.50, without currency and separators`,
    };
  }
}

function readNumber(text: string): Cell {
  return /^-?\d{1,15}(\.\d{1,6})?$/.test(text)
    ? { value: Number(text) }
    : { problem: `"${text}" is not a number; write it like 12 or 12.5` };
}

function readYesNo(text: string): Cell {
  const word = text.toLowerCase();
  if (word === 'yes' || word === 'true' || word === '1') return { value: true };
  if (word === 'no' || word === 'false' || word === '0') return { value: false };
  return { problem: `"${text}" must be yes or no` };
}
