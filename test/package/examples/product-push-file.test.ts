import { expect, test } from 'vitest';
import { readRows } from '../../../examples/product-push/src/read-rows.ts';
import { describe as report } from '../../../examples/product-push/src/results.ts';

test('reads the cells of each row into the fields of a product', () => {
  const { rows, invalid, notes } = readRows(
    '\uFEFFsku, Title ,price,in_shop,stock\r\nA,"Desk, ""big""",129.50,Yes,5\r\n\r\nB,"two\r\nlines",,no,',
  );
  expect(rows).toEqual([
    {
      line: 2,
      productNumber: 'A',
      fields: {
        productNumber: 'A',
        name: 'Desk, "big"',
        salePrice: '129.50',
        isWebShop: true,
        stockQuantity: 5,
      },
    },
    {
      line: expect.any(Number),
      productNumber: 'B',
      fields: {
        productNumber: 'B',
        name: 'two\r\nlines',
        salePrice: null,
        isWebShop: false,
        stockQuantity: null,
      },
    },
  ]);
  expect(invalid).toEqual([]);
  expect(notes).toEqual([]);
});

test('reads a file with semicolons', () => {
  expect(readRows('sku;title\nA;Desk, big').rows[0]?.fields.name).toBe('Desk, big');
});

test('says what is wrong with each cell and how to put it right', () => {
  const { rows, invalid } = readRows(
    'sku,price,in_shop,stock\nA,"12,50",yes,1\nB,€ 5,perhaps,1e3\n,1,yes,1\nD,1\nE,1e400000000,yes,1',
  );
  expect(rows).toEqual([]);
  expect(invalid.map(({ line, messages }) => [line, messages])).toEqual([
    [2, ['column price: "12,50" is not an amount; write it like 1234.50, without currency and separators']],
    [
      3,
      [
        'column price: "€ 5" is not an amount; write it like 1234.50, without currency and separators',
        'column in_shop: "perhaps" must be yes or no',
        'column stock: "1e3" is not a number; write it like 12 or 12.5',
      ],
    ],
    [4, ['column sku: is empty']],
    [5, ['has 2 cells, but there are 4 columns; is a quote missing?']],
    [6, [expect.stringContaining('is not an amount')]],
  ]);
});

test('names columns that it does not use: one of them may be misspelt', () => {
  expect(readRows('sku,prize\nA,1').notes).toEqual(['These columns are not used: prize.']);
});

test('refuses a file without the column of the numbers, with two columns of a name, or that is no CSV', () => {
  expect(() => readRows('')).toThrow('no column "sku"');
  expect(() => readRows('title\nDesk')).toThrow('no column "sku"');
  expect(() => readRows('sku,price,price\nA,1,2')).toThrow('two columns of the same name: price');
  expect(() => readRows('sku,title\nA,"Desk')).toThrow('not readable as CSV');
});

test('reads numbers that are names of properties elsewhere', () => {
  const { rows } = readRows('sku,title\n__proto__,a\nconstructor,b\ntoString,c');
  expect(rows.map(({ productNumber }) => productNumber)).toEqual(['__proto__', 'constructor', 'toString']);
});

test('reports in lines that a person can act on', () => {
  const text = report({
    notes: ['These columns are not used: prize.'],
    results: [
      { line: 2, productNumber: 'A', action: 'unchanged', id: '1' },
      {
        line: 3,
        productNumber: 'B',
        action: 'updated',
        id: '2',
        changes: [
          { column: 'price', from: '49.0000', to: '52.50' },
          { column: 'description', from: 'Oak', to: null },
        ],
      },
      { line: 4, productNumber: 'C', action: 'not_tried', messages: ['Run again.'] },
    ],
    stopped: 'the run was ended',
  });
  expect(text.split('\n').map((line) => line.trimEnd())).toEqual([
    'These columns are not used: prize.',
    'line 3    B            updated      2 price 49.0000 → 52.50, description Oak → (none)',
    'line 4    C            not tried',
    '          Run again.',
    'stopped: the run was ended',
    '1 unchanged, 1 updated, 1 not tried',
  ]);
});
