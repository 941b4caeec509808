import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { folder, openSandbox, run } from './support/run.ts';
import { words } from './support/shell.ts';

const exports = fileURLToPath(new URL('exports/', import.meta.url));
const bytesOf = (name: string) => readFileSync(`${exports}${name}`);
const textOf = (name: string) => bytesOf(name).toString();

interface Export {
  /** A file of the folder, or its name with its bytes. */
  readonly file: string | readonly [name: string, bytes: Uint8Array];
  readonly flags?: readonly string[];
  readonly code?: number;
  /** What is printed at the end. */
  readonly log?: readonly RegExp[];
  /** The products afterwards. */
  readonly products?: readonly object[];
}

const DESK = { productNumber: 'DESK-140', name: 'Desk', salePrice: '125.0000' };
const LAMP = { productNumber: 'LAMP-2', name: 'Lamp', salePrice: '39.9000' };
const map = (...pairs: string[]) => pairs.flatMap((pair) => ['--map', pair]);

const EXPORTS: Readonly<Record<string, Export>> = {
  'of WooCommerce, with tags between commas': {
    file: 'woocommerce.csv',
    flags: [
      ...map('SKU=productNumber', 'Name=name', 'Short description=description', 'Regular price=salePrice'),
      ...map('Stock=stockQuantity', 'Tags=tags', 'Weight (kg)=weight'),
      '--list-separator',
      ',',
    ],
    products: [
      {
        ...DESK,
        name: 'Desk 140 "oak"',
        description: 'Solid oak,\r\nlegs of steel',
        stockQuantity: 12,
        weight: '32.5',
        tags: ['oak', 'desk'],
      },
      LAMP,
    ],
  },
  'of Shopify, with line breaks in cells and rows of variants': {
    file: 'shopify.csv',
    flags: map('Title=name', 'Variant SKU=productNumber', 'Variant Price=salePrice', 'Variant Barcode=ean'),
    products: [
      { ...DESK, ean: '0012345678905' },
      { productNumber: 'DESK-160', name: null, salePrice: '129.0000', ean: '0012345678912' },
    ],
  },
  'of PrestaShop, with commas and colons in the names of columns': {
    file: 'prestashop.csv',
    flags: [
      ...map('Name *=name', 'Price tax excluded=salePrice', 'Reference #=productNumber'),
      ...map('Quantity=stockQuantity', 'Tags (x,y,z...)=tags'),
      ...['--decimal', ',', '--list-separator', ','],
    ],
    products: [{ ...DESK, name: 'Desk 140', stockQuantity: 12, tags: ['oak', 'desk'] }, LAMP],
  },
  'of Magento': {
    file: 'magento.csv',
    flags: map('sku=productNumber', 'price=salePrice', 'qty=stockQuantity'),
    products: [
      { ...DESK, name: 'Desk 140', stockQuantity: 12 },
      { ...LAMP, stockQuantity: 0 },
    ],
  },
  'of Shopware, with empty parts of lists': {
    file: 'shopware.csv',
    flags: map('stock=stockQuantity', 'price_net=salePrice', 'manufacturer=brand'),
    products: [
      { ...DESK, name: 'Desk 140', tags: ['oak', 'desk'], brand: 'Nordhus' },
      { ...LAMP, tags: [], brand: null },
    ],
  },
  'of Excel in German, with sep=; and decimal commas': {
    file: 'excel-german.csv',
    flags: ['--decimal', ','],
    products: [
      { ...DESK, name: 'Schreibtisch; 140', stockQuantity: 12 },
      { ...LAMP, name: 'Lampe', stockQuantity: 2.5 },
    ],
  },
  'of Excel in German, without --decimal': {
    file: 'excel-german.csv',
    code: 7,
    log: [/line 3 has the salePrice "125,00", with a decimal comma\.\n/],
  },
  'of Excel, without the delimiters at the end of rows, and with rows without content': {
    file: 'excel-trailing.csv',
    log: [/^3 rows: 3 created/m],
    products: [DESK, LAMP, { productNumber: 'SOFA-1', salePrice: null }],
  },
  'of Excel as Unicode text, with tabs': {
    file: 'excel-unicode.txt',
    products: [{ ...DESK, name: 'Desk, oak; 140' }, LAMP],
  },
  'of Excel as Unicode text in UTF-16': {
    file: ['unicode.txt', Buffer.from(`\ufeff${textOf('excel-unicode.txt')}`, 'utf16le')],
    code: 7,
    log: [/it is UTF-16\.\n.*\n {2}iconv -f UTF-16LE -t UTF-8 \S+unicode\.txt > converted\.csv$/m],
  },
  'of Excel with EANs that it took for numbers': {
    file: 'excel-eans.csv',
    flags: ['--key', 'ean'],
    code: 9,
    log: [
      /^line 2, 8,71E\+12: .*"8,71E\+12" is a number that a spreadsheet rounded/m,
      /1 failed, 1 duplicate/,
      /^line 3, 8,71E\+12: duplicate: line 2 has the same key, and the first row wins\.$/m,
    ],
    products: [{ ean: '8711234567890', name: 'Sofa' }],
  },
  'of Excel itself': {
    file: ['products.xlsx', Buffer.from('PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml', 'latin1')],
    code: 7,
    log: [/it is a spreadsheet \(\.xlsx or \.ods\)\.\n.*"CSV UTF-8".*\n {2}soffice --headless/],
  },
  'of LibreOffice, with every text in quotes': { file: 'libreoffice.csv', products: [DESK, LAMP] },
  'of Odoo, with every cell in quotes': {
    file: 'odoo.csv',
    flags: map('default_code=productNumber', 'list_price=salePrice', 'description_sale=description'),
    products: [
      { ...DESK, description: 'Solid oak\n\nLegs of steel' },
      { ...LAMP, description: null },
    ],
  },
  'of Sage, with an inch sign': {
    file: 'sage.csv',
    flags: [
      ...map('Product Code=productNumber', 'Description=name', 'Sales Price=salePrice'),
      ...map('Quantity In Stock=stockQuantity'),
    ],
    products: [
      { ...DESK, stockQuantity: 12 },
      { ...LAMP, name: 'Lamp 5"', stockQuantity: -1 },
    ],
  },
  'of Xero, with a star in the name of the key': {
    file: 'xero.csv',
    flags: map(
      '*ItemCode=productNumber',
      'ItemName=name',
      'SalesUnitPrice=salePrice',
      'SalesAccount=saleLedgerAccountCode',
    ),
    products: [{ ...DESK, saleLedgerAccountCode: '200' }, LAMP],
  },
  'of Exact, with thousands separators': {
    file: 'exact.csv',
    flags: [
      ...map('Artikelcode=productNumber', 'Omschrijving=name', 'Verkoopprijs=salePrice'),
      ...map('Voorraad=stockQuantity'),
      ...['--decimal', ','],
    ],
    code: 9,
    log: [/^line 2, DESK-140: invalid_input: salePrice: "1\.250,00" is not a decimal with a comma/m],
    products: [{ ...LAMP, stockQuantity: 3 }],
  },
  'of Moneybird, without --decimal': {
    file: 'moneybird.csv',
    code: 7,
    log: [/line 2 has the salePrice "125,00", with a decimal comma/],
  },
  'of Moneybird, with a thousands separator': {
    file: 'moneybird.csv',
    flags: ['--decimal', ','],
    code: 9,
    log: [/^line 3, LAMP-2: .*"1\.039,90"/m],
    products: [{ ...DESK, name: 'Bureau', saleLedgerAccountCode: '8000' }],
  },
  'of QuickBooks, with a title': {
    file: 'quickbooks.csv',
    flags: map('SKU=productNumber', 'Product/Service Name=name', 'Sales Price / Rate=salePrice'),
    code: 7,
    log: [
      /line 1 is no header: "Products and Services list"\.\n.*Remove the lines before the header on line 3/,
    ],
  },
  'of DATEV, with a line about the file': {
    file: 'datev.csv',
    flags: ['--decimal', ','],
    code: 7,
    log: [/line 1 is no header: "\\"EXTF\\";700;16.*\n.*Remove the lines before the header on line 2/],
  },
  'of Amazon, with two lines above the header': {
    file: 'amazon.txt',
    flags: map('item_sku=productNumber', 'item_name=name', 'standard_price=salePrice'),
    code: 7,
    log: [/line 1 is no header: .*\n.*Remove the lines before the header on line 3/],
  },
  'of Google Merchant, with the currency in the price': {
    file: 'google-merchant.tsv',
    flags: map('id=productNumber', 'title=name', 'price=salePrice', 'gtin=ean'),
    code: 9,
    log: [/^line 2, DESK-140: .*salePrice: "125\.00 EUR" is not a decimal with a point.* Also line 3\.$/m],
    products: [],
  },
  'of BigCommerce, with another mark as often as the delimiter': {
    file: 'bigcommerce.csv',
    flags: map(
      'Product Name=name',
      'Product Code/SKU=productNumber',
      'Price=salePrice',
      'Product Description=description',
    ),
    products: [{ ...DESK, description: '<b>Oak</b>, <i>steel</i>' }],
  },
  'of Lightspeed, with pipes': {
    file: 'lightspeed.csv',
    flags: map('Custom SKU=productNumber', 'Item=name', 'Default Price=salePrice', 'Qty.=stockQuantity'),
    products: [{ ...DESK, name: 'Desk, oak', stockQuantity: 12 }, LAMP],
  },
  'of a spreadsheet, with empty lines and columns without a name': {
    file: 'spreadsheet-gaps.csv',
    products: [DESK, LAMP],
  },
  'of a supplier as NDJSON, with a number that loses digits': {
    file: 'supplier.ndjson',
    flags: map('sku=productNumber', 'title=name', 'price=salePrice', 'stock=stockQuantity'),
    code: 9,
    log: [/^line 3, LAMP-2: invalid_input: 9007199254740993 has more digits than a JSON number keeps\.$/m],
    products: [{ ...DESK, stockQuantity: 12, tags: ['oak', 'desk'] }],
  },
  'of a supplier as JSON': {
    file: 'supplier.json',
    code: 7,
    log: [/it is a JSON list\.\n.*\n {2}jq -c '\.\[\]' \S+ > converted\.ndjson$/m],
  },
  'of a supplier, compressed': {
    file: ['supplier.ndjson.gz', gzipSync(bytesOf('supplier.ndjson'))],
    code: 7,
    log: [/it is compressed by gzip\.\n.*\n {2}gunzip -c \S+supplier\.ndjson\.gz > converted\.csv$/m],
  },
  'of AFAS as XML': { file: 'afas.xml', code: 7, log: [/it is XML or HTML\.\n.*xq.*\n {2}xq -c /] },
  'of a till in Windows-1252': {
    file: 'till.csv',
    code: 7,
    log: [/it is not UTF-8\.\n.*\n {2}iconv -f WINDOWS-1252 -t UTF-8 \S+ > converted\.csv$/m],
  },
};

test.each(Object.entries(EXPORTS))(
  'push reads an export %s, if the columns that it names are ignored',
  async (_, { file, flags = [], code = 0, log = [], products }) => {
    const { sandbox, env } = openSandbox({ unknownFields: 'store' });
    let path = `${exports}${file}`;
    if (typeof file !== 'string') {
      path = folder()(file[0]);
      writeFileSync(path, file[1]);
    }
    const key = flags.includes('--key') ? [] : ['--key', 'productNumber'];
    const push = (more: readonly string[]) => run(env, ['push', path, ...key, ...flags, '--yes', ...more]);
    const first = await push([]);
    const advised = /^ {2}(--ignore-column .*)$/m.exec(first.log)?.[1];
    const ended = advised === undefined ? first : await push(words(advised));
    expect(ended.code, ended.log).toBe(code);
    for (const expected of log) expect(ended.log).toMatch(expected);
    if (code === 7) expect(sandbox.count()).toBe(0);
    if (products !== undefined) {
      const found = sandbox.store.products.all();
      expect(found).toHaveLength(products.length);
      expect(found).toEqual(
        expect.arrayContaining(products.map((product) => expect.objectContaining(product))),
      );
    }
  },
);
