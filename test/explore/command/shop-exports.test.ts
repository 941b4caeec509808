import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { products, withFile } from './support/products-file.ts';
import { ends } from './support/run.ts';
import { words } from './support/shell.ts';

/** Native exports of shop systems, by their own headers, and what a push of them must come to. */
const EXPORTS: readonly {
  readonly name: string;
  /** What the user knows of the columns. */
  readonly map: string;
  readonly said: RegExp;
  readonly expected: readonly object[];
}[] = [
  {
    name: 'shopify',
    map: `Title=name 'Body (HTML)=description' Vendor=brand Type=type Tags=labels 'Variant SKU=productNumber'
      'Variant Inventory Qty=stockQuantity' 'Variant Price=salePrice' 'Variant Barcode=ean'`,
    said: /^2 rows: 2 created, .*\n2 rows without a value .*: line 5 and 1 more\.\n2 cells that began with an apostrophe/m,
    expected: [
      {
        productNumber: 'DESK-140',
        name: 'Oak desk',
        description: '<p>A desk, of oak.\n"Solid".</p>',
        labels: 'office, oak',
        ean: '0850064060010',
        salePrice: '499.0000',
        stockQuantity: 3,
      },
      { productNumber: 'DESK-160', name: null, ean: '0850064060027', stockQuantity: 0 },
    ],
  },
  {
    name: 'woocommerce',
    map: `SKU=productNumber 'GTIN, UPC, EAN, or ISBN=ean' Name=name Description=description Stock=stockQuantity
      'Weight (kg)=weight' 'Regular price=salePrice' 'Is featured?=isFeaturedProduct' 'In stock?=isStockItem'`,
    said: /^2 rows: 2 created, .*\n1 cell that began with an apostrophe.*: line 2, description: /m,
    expected: [
      {
        productNumber: 'MUG-1',
        name: 'Mug, blue',
        ean: '0012345678905',
        description: '=Best mug\\nof all',
        weight: '0.35',
        isFeaturedProduct: true,
      },
      { productNumber: 'MUG-2', name: 'Mug - Red', isFeaturedProduct: false, salePrice: '10.9500' },
    ],
  },
  {
    name: 'magento',
    map: 'sku=productNumber price=salePrice qty=stockQuantity manage_stock=isStockItem',
    // A row for each store view has the same code.
    said: /^3 rows: 2 created, 0 updated, 0 unchanged, 1 duplicate\.$/m,
    expected: [
      {
        productNumber: '24-MB01',
        name: 'Duffle Bag',
        weight: '1.000000',
        salePrice: '34.0000',
        stockQuantity: 100,
      },
      { productNumber: '24-MB03', name: 'Crown "Summit" Backpack', salePrice: '38.0000', isStockItem: null },
    ],
  },
  {
    name: 'squarespace',
    map: `Title=name Description=description SKU=productNumber Price=salePrice Tags=tags Visible=isWebShop Weight=weight`,
    said: /^2 rows: 2 created, .*\nWarning: line 2, tags: "light, brass" is one text of a list: /m,
    expected: [
      { productNumber: 'SQ1', name: 'Lamp', salePrice: '79.0000', isWebShop: true, weight: '1.2' },
      { productNumber: 'SQ2', salePrice: '69.0000', isWebShop: null },
    ],
  },
  {
    name: 'wix',
    map: 'sku=productNumber price=salePrice visible=isWebShop cost=saleRrpPrice',
    // A variant without a code has values, so that it is no row to skip.
    said: /^2 rows: 1 created, 0 updated, 0 unchanged, 1 failed\.\nline 3: .* no key/m,
    expected: [
      { productNumber: '00364215376135', name: 'Poster', salePrice: '12.5000', brand: 'Print & Co' },
    ],
  },
  {
    name: 'shopware',
    map: 'product_number=productNumber active=isWebShop stock=stockQuantity price_gross=salePrice manufacturer_name=brand',
    said: /^2 rows: 2 created, /m,
    expected: [
      {
        productNumber: 'SW10001',
        name: 'Stuhl; Eiche',
        salePrice: '99.0000',
        brand: 'Holz & Söhne',
        stockQuantity: 7,
      },
      { productNumber: 'SW10001.1', name: null, stockQuantity: 0, isWebShop: null },
    ],
  },
];

test.each(EXPORTS)('push reads the export of a shop: $name', async ({ name, map, said, expected }) => {
  const text = readFileSync(new URL(`./exports/${name}.csv`, import.meta.url));
  const { sandbox, push } = withFile(text, { name: 'export.csv' });
  const maps = words(map.replaceAll('\n', ' ')).flatMap((column) => ['--map', column]);
  // The other columns are named, in options that can be pasted.
  const { log } = await ends(push('--yes', ...maps), 7, 'not documented fields of a product');
  const ignored = words(/^ {2}(--ignore-column .*)$/m.exec(log)?.[1] ?? '');
  const pushed = await push('--yes', ...maps, ...ignored);
  expect(pushed.log).toMatch(said);
  expect(products(sandbox)).toHaveLength(expected.length);
  expect(products(sandbox)).toMatchObject(expected);
  // The same file changes nothing, and keeps what a user has entered since in place of empty cells.
  const entered = { brand: 'Entered', model: 'Entered' };
  for (const { id } of products(sandbox)) sandbox.store.products.update(id, entered);
  await push('--yes', '--empty', 'ignore', ...maps, ...ignored);
  const kept = products(sandbox).filter(({ model }) => model === 'Entered');
  expect(kept).toHaveLength(expected.length);
});
