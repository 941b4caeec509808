import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openSandbox, run } from './support/run.ts';
import { words } from './support/shell.ts';

const exports = fileURLToPath(new URL('exports/', import.meta.url));

const DESK = { productNumber: 'DESK-140', name: 'Desk', salePrice: '125.0000' };
const LAMP = { productNumber: 'LAMP-2', name: 'Lamp', salePrice: '39.9000' };
const TAGS = ['oak', 'desk'];

/** Exports as they are: the columns and options of each, the products afterwards, and what is printed if it fails. */
test.each<[file: string, columns: object, more: string, products: readonly object[], failed?: RegExp]>([
  [
    'woocommerce.csv',
    {
      SKU: 'productNumber',
      Name: 'name',
      'Short description': 'description',
      'Regular price': 'salePrice',
      Tags: 'tags',
    },
    '--list-separator ,',
    [{ ...DESK, name: 'Desk 140 "oak"', description: 'Solid oak,\r\nlegs of steel', tags: TAGS }, LAMP],
  ],
  [
    'shopify.csv',
    { Title: 'name', 'Variant SKU': 'productNumber', 'Variant Price': 'salePrice', 'Variant Barcode': 'ean' },
    '',
    [
      { ...DESK, ean: '0012345678905' },
      { productNumber: 'DESK-160', name: null, ean: '0012345678912' },
    ],
  ],
  [
    'prestashop.csv',
    {
      'Name *': 'name',
      'Price tax excluded': 'salePrice',
      'Reference #': 'productNumber',
      'Tags (x,y,z...)': 'tags',
    },
    '--decimal , --list-separator ,',
    [{ ...DESK, name: 'Desk 140', tags: TAGS }, LAMP],
  ],
  [
    'excel-eans.csv',
    {},
    '--key ean',
    [{ ean: '8711234567890', name: 'Sofa' }],
    /^line 2, 8,71E\+12: .*a spreadsheet rounded.*\nline 3, 8,71E\+12: duplicate: line 2 has the same key/m,
  ],
  [
    'odoo.csv',
    { default_code: 'productNumber', list_price: 'salePrice', description_sale: 'description' },
    '',
    [
      { ...DESK, description: 'Solid oak\n\nLegs of steel' },
      { ...LAMP, description: null },
    ],
  ],
])(
  'push reads %s, if the columns that it names are ignored',
  async (file, columns, more, products, failed) => {
    const { sandbox, env } = openSandbox({ unknownFields: 'store' });
    const maps = Object.entries(columns).flatMap(([column, field]) => ['--map', `${column}=${field}`]);
    const given = [...maps, ...more.split(' ').filter(Boolean)];
    const key = given.includes('--key') ? [] : ['--key', 'productNumber'];
    const push = (ignored: readonly string[] = []) =>
      run(env, ['push', `${exports}${file}`, ...key, ...given, '--yes', ...ignored]);
    const first = await push();
    const advised = /^ {2}(--ignore-column .*)$/m.exec(first.log)?.[1];
    const ended = advised === undefined ? first : await push(words(advised));
    expect([ended.code, ended.log]).toEqual([failed ? 9 : 0, expect.stringMatching(failed ?? /created/)]);
    const found = sandbox.store.products.all();
    expect(found).toHaveLength(products.length);
    expect(found).toEqual(
      expect.arrayContaining(products.map((product) => expect.objectContaining(product))),
    );
  },
);
