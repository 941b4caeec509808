import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { products, withFile } from './support/products-file.ts';
import { run } from './support/run.ts';
import { words } from './support/shell.ts';

/** The only product of a file. */
const DESK = { productNumber: 'A', name: 'Desk' };

test.each<[what: string, text: string, file: string, name?: string]>([
  ['a byte order mark and semicolons', '\uFEFFproductNumber;name\nA;Desk\n', 'products.csv'],
  ['mixed line endings', 'productNumber,name\r\nA,Desk\n', 'products.csv'],
  ['tabs', 'name\tproductNumber\nDesk\tA\n', 'products.tsv'],
  ['a comma in a quoted column name', '"name";productNumber\n"Desk";A', 'products.csv'],
  ['NDJSON', '\uFEFF{"productNumber":"A","name":"Desk"}\r\n\n', 'products.ndjson'],
  [
    'the line separators of Unicode in NDJSON',
    '{"productNumber":"A","name":"Desk\u2028of oak\u2029"}\n',
    'products.ndjson',
    'Desk\u2028of oak\u2029',
  ],
  [
    'as many commas in the header as columns',
    'productNumber;"name"\nA;"Desk, oak, x"\n',
    'a.csv',
    'Desk, oak, x',
  ],
  ['empty lines before the header', '\r\n  \n\nproductNumber;name\nA;Desk\n', 'a.csv'],
  ['tabs and commas', 'productNumber\tname\nA\tDesk, oak\n', 'a.txt', 'Desk, oak'],
  ['pipes', 'productNumber|name\nA|Desk; oak, x\n', 'a.csv', 'Desk; oak, x'],
  ['a line break in a quoted name', 'productNumber;"na\nme";name\nA;x;Desk\n', 'a.csv'],
  ['sep=;', 'sep=;\nproductNumber;name\nA;Desk\n', 'a.csv'],
  [
    'a quoted sep=| and a byte order mark',
    '\uFEFF"sep=|"\r\nproductNumber|name\r\nA|Desk, x; y\r\n',
    'a.csv',
    'Desk, x; y',
  ],
  ['SEP= and a tab', 'SEP=\t\nproductNumber\tname\nA\tDesk\n', 'a.csv'],
  ['shorter rows', 'productNumber;name;brand;ean\nA;Desk\n', 'a.csv'],
  ['longer rows without content', 'productNumber;name\nA;Desk;; ;\n', 'a.csv'],
  ['rows without content', 'productNumber;name\n;\n ; \n"";\nA;Desk\n;;;\n', 'a.csv'],
  ['columns without a name', ';productNumber;;name;\nx;A;y;Desk;z\n', 'a.csv'],
  ['more than one of them in quotes', 'productNumber;"";name;" "\nA;y;Desk;z\n', 'a.csv'],
])('push reads a file with %s', async (_, text, file, name = 'Desk') => {
  const { sandbox, push } = withFile(text, { name: file });
  const { code, log } = await push('--yes', '--ignore-column', 'na\nme');
  expect([code, log]).toEqual([0, expect.stringContaining('1 row: 1 created')]);
  expect(products(sandbox)).toMatchObject([{ ...DESK, name, brand: null }]);
});

test.each([
  [[], 'productNumber,"name, colour"\nA,Desk\n', ['--map', 'name, colour=name']],
  [[], '"productNumber";"name, colour"\nA;Desk\n', ['--map', 'name, colour=name']],
  [[], 'productNumber,name,Size (S|M|L)\nA,Desk,S|M|L\n', ['--ignore-column', 'Size (S|M|L)']],
  [[], 'productNumber,name,Size (S|M|L)\n', ['--ignore-column', 'Size (S|M|L)'], 0],
  [[], 'productNumber\ta,b,c\tname\nA\t1,2,3\tDesk\n', ['--ignore-column', 'a,b,c']],
  [[], 'SKU;name;x, y, z\nA;Desk;1\n', ['--map', 'SKU=productNumber', '--ignore-column', 'x, y, z']],
  [['--delimiter', '^'], 'productNumber^name\nA^Desk\n', []],
  [['--delimiter', 'tab'], 'productNumber\tname\nA\tDesk\n', []],
  [['--delimiter', '\\t'], 'sep=;\nproductNumber\tname\nA\tDesk\n', []],
])('push finds the delimiter of a header with another mark: %j %j', async (flags, text, more, rows = 1) => {
  const { sandbox, push } = withFile(text);
  expect(await push('--yes', ...flags, ...more)).toMatchObject({ code: 0 });
  expect(products(sandbox)).toMatchObject([DESK].slice(0, rows));
});

test('push rejects a delimiter of more than one character', async () => {
  const { code, log } = await withFile('').push('--yes', '--delimiter', '::');
  expect([code, log]).toEqual([2, expect.stringContaining('Give one character, or tab.')]);
});

test.each<[cell: string, flags: readonly string[], tags: unknown]>([
  ['alu|slim', [], ['alu', 'slim']],
  [' alu | slim ', [], ['alu', 'slim']],
  ['alu |', [], ['alu']],
  ['||alu', [], ['alu']],
  ['|', [], []],
  [' ', [], null],
  ['', [], null],
  ['"[""a"",""b|c""]"', [], ['a', 'b|c']],
  ['[]', [], []],
  ['"alu, slim"', ['--list-separator', ','], ['alu', 'slim']],
  ['alu; slim; ', ['--list-separator', ';'], ['alu', 'slim']],
  ['alu / slim', ['--list-separator', ' / '], ['alu', 'slim']],
  ['alu|slim', ['--list-separator', ','], ['alu|slim']],
  ['"[""a"",""b""]"', ['--list-separator', ','], ['a', 'b']],
])('push reads the list %j with %j', async (cell, flags, tags) => {
  const { sandbox, push } = withFile(`productNumber\tname\ttags\nA\tDesk\t${cell}\n`);
  const { code, log } = await push('--yes', '--custom-field', 'sizes:array', ...flags);
  expect([code, log]).toEqual([0, expect.not.stringContaining('Warning')]);
  expect(products(sandbox)).toMatchObject([{ ...DESK, tags }]);
});

test('push warns once of lists that it read as one text, and names the row', async () => {
  const text = 'productNumber\ttags\tsizes\nA\tx\t\nB\talu, slim\tS\nC\ta;b\tS, M\n';
  const { sandbox, push } = withFile(text, { unknownFields: 'store' });
  const flags = ['--yes', '--custom-field', 'sizes:array'];
  const { code, log } = await push(...flags, '-q');
  const warnings = log.split('\n').filter((line) => line.startsWith('Warning'));
  expect([code, warnings]).toEqual([
    0,
    [
      'Warning: line 3, tags: "alu, slim" is one text of a list (and 2 more rows): "|" separates several, or what --list-separator names.',
    ],
  ]);
  expect(products(sandbox)).toMatchObject([{}, { tags: ['alu, slim'] }, { tags: ['a;b'], sizes: ['S, M'] }]);
  expect((await push(...flags, '--list-separator', '|')).log).not.toContain('Warning');
});

test('push keeps leading zeros, and clears fields only with --empty clear', async () => {
  const { sandbox, push } = withFile('productNumber,ean,brand\n007,0012,\n');
  sandbox.store.products.insert({ productNumber: '007', ean: '0012', brand: 'Oak' });
  await push('--yes');
  expect(products(sandbox)).toMatchObject([{ productNumber: '007', ean: '0012', brand: 'Oak' }]);
  await push('--yes', '--empty', 'clear');
  expect(products(sandbox)).toMatchObject([{ brand: null }]);
});

test.each<[number: string, value: number | undefined, isJson?: boolean]>([
  ['0.30000000000000004', 0.30000000000000004],
  ['1e-7', 1e-7],
  ['1e+21', 1e21],
  ['1234567890123456', 1234567890123456],
  ['5e-324', 5e-324],
  ['1.50', 1.5],
  ['9007199254740993', undefined],
  ['123456789012345.678', undefined],
  ['12345678901234567890', undefined],
  ['0.1000000000000000055', undefined],
  ['1e400', undefined, true],
])('push reads the number %s only if it keeps its digits', async (number, value, isJson = false) => {
  const files = [
    ['a.ndjson', `{"productNumber":"A","stockQuantity":${number}}\n{"productNumber":"B"}\n`],
    ['a.ndjson', `{"productNumber":"A","extra":[{"deep":${number}}]}\n{"productNumber":"B"}\n`],
    ['a.csv', `productNumber,stockQuantity\nA,${number}\nB,\n`],
    ['a.csv', `productNumber,extra\nA,[${number}]\nB,\n`],
  ] as const;
  for (const [name, text] of isJson ? files.slice(0, 2) : files) {
    const { sandbox, push } = withFile(text, { name, unknownFields: 'store' });
    const { code, log } = await push('--yes', '--custom-field', 'extra:json', '--state', name + text.length);
    expect([code, log]).toEqual(
      value === undefined
        ? [
            9,
            expect.stringMatching(
              /^line [12], A: invalid_input: .*has more digits than a JSON number keeps\.$/m,
            ),
          ]
        : [0, expect.stringContaining('2 created')],
    );
    const { stockQuantity = null, extra } = (products(sandbox)[0] ?? {}) as {
      stockQuantity?: unknown;
      extra?: unknown;
    };
    const found = JSON.stringify(extra ?? stockQuantity);
    if (value !== undefined) expect(found).toContain(`${value}`);
  }
});

test.each([
  ['productNumber,name,brand\nA,"",\n', [], { name: '', brand: 'Oak' }],
  ['productNumber,name,brand\nA,,""\n', [], { name: 'Desk', brand: '' }],
  ['productNumber,name,brand\nA,"",\n', ['--empty', 'clear'], { name: '', brand: null }],
  ['productNumber,name,brand\n"A","",""\n', [], { name: '', brand: '' }],
  ['"productNumber","name","brand"\n"A","",""\n', [], { name: 'Desk', brand: 'Oak' }],
  ['"productNumber","name","brand"\n"A","",\n', ['--empty', 'clear'], { name: null, brand: null }],
  ['productNumber,name,brand,salePrice,tags,isWebShop\nA,Desk,Oak,"","",""\n', [], { salePrice: '5.0000' }],
  ['productNumber,name,brand\nA," ",\n', [], { name: ' ', brand: 'Oak' }],
])(
  'push tells an empty text from an empty cell, unless every name is quoted: %j %j',
  async (text, flags, expected) => {
    const existing = [{ productNumber: 'A', name: 'Desk', brand: 'Oak', salePrice: '5.0000' }];
    const { sandbox, push } = withFile(text, { existing });
    expect((await push('--yes', ...flags)).code).toBe(0);
    expect(products(sandbox)).toMatchObject([expected]);
  },
);

test('push creates and compares custom fields of the kinds that --custom-field names', async () => {
  const { sandbox, push } = withFile('productNumber,colour,kilos,isOak\nA,red,"2,5",yes\nB,,x,\n', {
    unknownFields: 'store',
  });
  const args = ['--yes', '--decimal', ',', '--custom-field', ' colour', '--custom-field', 'kilos:number'];
  args.push('--custom-field', 'isOak:boolean');
  const { code, log } = await push(...args);
  expect([code, log]).toEqual([9, expect.stringContaining('kilos: "x" is not a number with a comma')]);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', colour: 'red', kilos: 2.5, isOak: true }]);
  expect((await push(...args)).log).toContain('0 created, 0 updated, 1 unchanged');
  const rejected = [
    ['name:number', 'name is a documented field'],
    ['colour:color', 'The kinds are string, money'],
    ['Price: net', 'The kinds are string, money'],
    [':integer', 'Give a name such as grade'],
  ] as const;
  for (const [fields, reason] of rejected) {
    const wrong = await push('--custom-field', fields);
    expect([wrong.code, wrong.log]).toEqual([2, expect.stringContaining(reason)]);
  }
});

const CAFE = { csv: 'productNumber,name\nA,Café\n', ndjson: '{"productNumber":"A","name":"Café"}\n' };

test.each<[what: string, text: string | Buffer, reason: RegExp, name?: string]>([
  ['an unknown column', 'productNumber,salesPrice\nA,5\n', /salesPrice.*did you mean salePrice\?/s],
  [
    'a column that can be mapped',
    'productNumber,SKU\nA,5\n',
    /--map SKU=FIELD\n {2}--ignore-column SKU\n {2}--custom-field SKU:integer$/m,
  ],
  [
    'several unknown columns',
    'productNumber,nam,Kleur\nA,5,x\n',
    /"nam" \(did you mean name\?\), "Kleur", which are not documented fields of a product\.\nNothing was written\. Correct the file, or add one of these options for each of them, and run the same command again:\n {2}--map nam=name --map Kleur=FIELD\n {2}--ignore-column nam --ignore-column Kleur\n {2}--custom-field nam:integer --custom-field Kleur:string$/m,
  ],
  [
    'a column twice',
    'productNumber,name,name\nA,5,6\n',
    /the header names the field name 2 times: "name", "name"\./,
  ],
  ['no key column', 'name\nA\n', /no column productNumber/],
  [
    'a row with too many cells',
    'productNumber,name\nA,x\nB,y,,z\n',
    /line 3 has "z" in cell 4, but there are 2 columns; is a quote missing\?/,
  ],
  ['only a title', 'Products\nof 2026\n', /the header names "Products"/],
  [
    'a title',
    '"Products; all"\n\nname;productNumber\n',
    /line 1 is no header: .*\n.*before the header on line 3/,
  ],
  [
    'a title with line breaks and delimiters',
    '\n"a\nb";;\nx;y;z\n"name";"productNumber";ean\n',
    /line 2 is no header: .*\n.*before the header on line 5/,
  ],
  ['another delimiter than --delimiter', 'productNumber^name\nA^Desk\n', /names "productNumber\^name"/],
  [
    'an open quote',
    'productNumber,name\r\nA,"x\r\ny"\r\nB,"x\r\n',
    /the row on line 4, cell 2: its quote is never closed\./,
  ],
  [
    'text behind a quote',
    'productNumber,name\nA,"x"y\n',
    /line 2, cell 2: there is text behind its closing quote; double a quote inside a cell\./,
  ],
  [
    'a quote in a cell',
    'productNumber,name\n\nA"B,x\n',
    /line 3, cell 1: it has a quote but does not begin with one; quote the whole cell and double this quote\./,
  ],
  ['no content', '', /is empty/],
  ['Latin-1', Buffer.from(CAFE.csv, 'latin1'), /cannot be pushed: it is not UTF-8\./],
  ['UTF-16', Buffer.from(`\uFEFF${CAFE.csv}`, 'utf16le'), /it is UTF-16\./],
  ['UTF-16 without a mark', Buffer.from(CAFE.csv, 'utf16le'), /it is UTF-16\.(?:.|\n)*iconv -f UTF-16LE /],
  [
    'big-endian UTF-16',
    Buffer.from(CAFE.csv, 'utf16le').swap16(),
    /it is UTF-16\.(?:.|\n)*iconv -f UTF-16BE /,
  ],
  ['NDJSON in UTF-16', Buffer.from(CAFE.ndjson, 'utf16le'), /it is UTF-16\./, 'a.ndjson'],
  ['NDJSON under the name of CSV', CAFE.ndjson, /it is NDJSON\.\n.*Pass --format ndjson/],
  ['a JSON list', ' [\n{}]', /it is a JSON list\.(?:.|\n)*jq -c '\.\[\]'/, 'a.ndjson'],
  ['a JSON document', '{\n  "productNumber": "A"}', /it is a JSON document\.(?:.|\n)*jq /, 'a.ndjson'],
  [
    'a JSON document of one line',
    '{"products":[{"ean":"1"}]}',
    /it is a JSON document\.(?:.|\n)*jq /,
    'a.json',
  ],
  ['HTML', '<!DOCTYPE html>\n<html>', /it is XML or HTML\./],
  ['gzip', gzipSync(CAFE.csv), /compressed by gzip\.(?:.|\n)*gunzip -c /],
  ['bzip2', Buffer.from('425a6839314159265359', 'hex'), /compressed by bzip2\.(?:.|\n)*bunzip2 -c /],
  ['xz', Buffer.from('fd377a585a000004e6d6b446', 'hex'), /compressed by xz\.(?:.|\n)*xz -dc /],
  ['zstd', Buffer.from('28b52ffd2400', 'hex'), /compressed by zstd\.(?:.|\n)*zstd -dc /],
  ['a zip archive', Buffer.from('PK\x03\x04products.csv'), /it is a zip archive\.(?:.|\n)*unzip -p /],
  ['a spreadsheet', Buffer.from('PK\x03\x04..xl/workbook.xml'), /it is a spreadsheet \(\.xlsx/],
  [
    'an OpenDocument spreadsheet',
    Buffer.from('PK\x03\x04mimetypeapplication/vnd.oasis.opendocument'),
    /\.ods/,
  ],
  ['an old spreadsheet', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /\(\.xls\)/],
  [
    'a field of NDJSON that does not exist',
    '{"productNumber":"A","nam":"x"}\n',
    /line 1 names "nam" \(did you mean name\?\), which is not a documented field of a product\.\n(?:.|\n)*--custom-field nam:string$/m,
    'a.ndjson',
  ],
  ['a torn line of NDJSON', '{"productNumber":"A"}\n{"productNum', /line 2 is not a JSON object/, 'a.ndjson'],
  ['NDJSON in Latin-1', Buffer.from(CAFE.ndjson, 'latin1'), /it is not UTF-8\./, 'a.ndjson'],
])('push writes nothing for a file with %s', async (_, text, reason, name) => {
  const { sandbox, push } = withFile(text, { name });
  const { code, log } = await push('--yes');
  expect([code, log]).toEqual([7, expect.stringMatching(reason)]);
  expect(log).toMatch(/^Nothing was written\. .*[.:]$/m);
  expect(sandbox.journal).toEqual([]);
});

/** Values that a file, a spreadsheet or JavaScript could change. */
const DELICATE: readonly Readonly<Record<string, unknown>>[] = [
  { name: '', brand: null, description: 'two\r\nlines, "quoted"; a|b\u2028' },
  { name: ' x ', brand: '=1+1', description: '\ufeffé 😀 \\ud83d', ean: '0012' },
  { tags: ['a|b', 'c, d', ''], stockDocumentTypes: [], isWebShop: false, isSaleItem: true },
  {
    stockQuantity: 0.30000000000000004,
    stockMinimalQuantity: 1e-7,
    quantityDefault: 1e21,
    salePriceDecimals: -2,
  },
  { salePrice: '-0.1000', saleRrpPrice: '123456789012345678.12345678', tags: ['alu, slim'] },
  {
    packs: 5,
    isOak: true,
    sizes: ['S', 'M'],
    shape: { a: [{ b: null }] },
    grade: '',
    depthMm: 2.5,
    list: [],
  },
  { packs: -7, isOak: false, sizes: [], shape: {}, grade: 'A', depthMm: 12345678901234.5, fee: '5.0000' },
  { big: '12345678901234567890', code: '007', exponent: '1e5' },
];

test.each([
  ['a.csv', []],
  ['a.csv', ['--empty', 'clear']],
  ['a.ndjson', []],
  ['a.txt', ['--format', 'ndjson']],
])('push of what pull wrote to %s changes nothing with %j', async (name, flags) => {
  const { sandbox, env, file, push } = withFile('', { name, unknownFields: 'store' });
  for (const [row, product] of DELICATE.entries()) {
    sandbox.store.products.insert({ productNumber: `P-${row}`, ...product } as never);
  }
  const pulled = await run(env, ['pull', 'products', '--out', file(name)]);
  expect([pulled.code, pulled.log]).toEqual([0, expect.not.stringContaining('Warning')]);
  let ended = await push('--yes', ...flags);
  const advised: string[] = [];
  // A line of NDJSON names the fields that it has.
  for (let line: string | undefined; ; advised.push(...words(line))) {
    ended = await push('--yes', ...flags, ...advised);
    line = /^ {2}(--custom-field .*)$/m.exec(ended.log)?.[1];
    if (line === undefined) break;
  }
  expect([ended.code, ended.log]).toEqual([0, `8 rows: 0 created, 0 updated, 8 unchanged.\n`]);
  expect(sandbox.journal).toEqual([]);
  const kinds = [
    'packs:integer',
    'isOak:boolean',
    'sizes:array',
    'shape:json',
    'grade:string',
    'depthMm:number',
  ];
  expect(advised).toEqual(expect.arrayContaining(kinds));
});

test('pull names the record with half of a surrogate pair in CSV, and keeps it in NDJSON', async () => {
  const { sandbox, env, file } = withFile('');
  sandbox.store.products.insert({ productNumber: 'A', name: 'x' });
  sandbox.store.products.insert({ productNumber: 'B', name: 'half \ud83d' });
  const csv = await run(env, ['pull', 'products', '--out', file('a.CSV')]);
  expect([csv.code, csv.log]).toEqual([
    0,
    expect.stringMatching(/^Warning: name of the record "2" has half of a surrogate pair/m),
  ]);
  const ndjson = await run(env, ['pull', 'products', '--out', file('a.ndjson')]);
  expect(ndjson.log).not.toContain('Warning');
  const args = ['--key', 'productNumber', '--yes'];
  expect((await run(env, ['push', file('a.ndjson'), ...args])).log).toContain('0 updated, 2 unchanged');
});

test('push maps and ignores columns, and trims the key', async () => {
  const { sandbox, env, file } = withFile('Variant SKU,Title,Note\n A ,Desk,x\n');
  const names = ['--ignore-column', ' Note', '--ignore-column', 'other', '--map', 'Title=name'];
  // The file last, so that no option may take it for a value of its own.
  const last = ['--map', 'Variant SKU=productNumber', file('products.csv')];
  const { code } = await run(env, ['push', '--key', 'productNumber', '--yes', ...names, ...last]);
  expect(code).toBe(0);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', name: 'Desk' }]);
  const unknown = await run(env, ['push', file('products.csv'), '--key', 'name', '--yes', '--map', 'X=name']);
  expect([unknown.code, unknown.log]).toEqual([7, expect.stringContaining('--map names')]);
});

const NDJSON_LINE = '{"productNumber":"1","id":"EXT-9","createdAt":"2026-01-31","Updated":"x"}\n';
const CSV_LINES = 'productNumber,id,createdAt,Updated\n1,EXT-9,2026-01-31,x\n';

test.each(
  [
    ['id=articleCode', { articleCode: 'EXT-9' }],
    ['createdAt=validFrom', { validFrom: '2026-01-31' }],
    [' id = name ', { name: 'EXT-9' }],
  ].flatMap(([map, expected]) => [
    [map, 'a.csv', CSV_LINES, expected] as const,
    [map, 'a.ndjson', NDJSON_LINE, expected] as const,
  ]),
)('push reads a field that the service fills as the one that --map names: %s in %s', async (...row) => {
  const [map, name, text, expected] = row;
  const { sandbox, push } = withFile(text, { name });
  expect(await push('--yes', '--map', `${map}`, '--map', 'Updated=remark')).toMatchObject({ code: 0 });
  expect(products(sandbox)).toMatchObject([{ productNumber: '1', remark: 'x', ...(expected as object) }]);
});

test.each<[what: string, text: string, maps: readonly string[], reason: RegExp, name?: string]>([
  [
    'two columns of one field',
    'productNumber,net,gross\nA,1,2\n',
    ['net=salePrice', 'gross=salePrice'],
    /the header names the field salePrice 2 times: "net", "gross"\./,
  ],
  [
    'a column that is mapped to another',
    'productNumber,name,Title\nA,1,2\n',
    ['Title=name'],
    /field name 2 times: "name", "Title"/,
  ],
  [
    'two members of one field',
    '{"productNumber":"A"}\n{"productNumber":"B","net":"1","gross":"2"}\n',
    ['net=salePrice', 'gross=salePrice'],
    /line 2 names the field salePrice 2 times: "net", "gross"\./,
    'a.ndjson',
  ],
  [
    'a member that is mapped to another',
    '{"productNumber":"A","name":"x","Title":"y"}\n',
    ['Title=name'],
    /line 1 names the field name 2 times/,
    'a.ndjson',
  ],
  [
    'a member twice',
    '{"productNumber":"A","na\\u006de":"{\\"x\\":1}","tags":[{"name":"y"}],"name":"z"}\n',
    [],
    /line 1 names the field name 2 times: "name", "name"\./,
    'a.ndjson',
  ],
  ['no column of --map', 'productNumber\nA\n', ['X=name'], /no column "X", which --map names/],
  [
    'no member of --map in any line',
    '{"productNumber":"A"}\n{"productNumber":"B"}\n',
    ['X=name'],
    /no line names "X", which --map names/,
    'a.ndjson',
  ],
  [
    'a column of another case than --map',
    '{"productNumber":"A","title":"B"}\n',
    ['Title=name'],
    /line 1 names "title"/,
    'a.ndjson',
  ],
])('push writes nothing for a file with %s', async (_, text, maps, reason, name) => {
  const { sandbox, push } = withFile(text, { name });
  const { code, log } = await push('--yes', ...maps.flatMap((map) => ['--map', map]));
  expect([code, log]).toEqual([7, expect.stringMatching(reason)]);
  expect(log).toMatch(/^Nothing was written\. .*[.:]$/m);
  expect(sandbox.journal).toEqual([]);
});

test.each([
  [['--map', 'SKU=name', '--map', 'SKU=brand'], 'another --map'],
  [['--map', 'SKU=name', '--map', 'SKU=name'], 'another --map'],
  [['--map', 'SKU=name', '--ignore-column', 'SKU'], '--ignore-column'],
  [['--map', 'id=name', '--ignore-column', ' id'], '--ignore-column'],
])('push rejects a column with two meanings: %j', async (flags, other) => {
  const { push } = withFile('productNumber,SKU,id\nA,B,C\n');
  expect(await push('--yes', ...flags)).toMatchObject({ code: 2, log: expect.stringContaining(other) });
});

test('push accepts a member of --map that only some lines have', async () => {
  const { sandbox, push } = withFile('{"productNumber":"A"}\n{"productNumber":"B","Title":"Desk"}\n', {
    name: 'a.ndjson',
  });
  expect((await push('--yes', '--map', 'Title=name')).code).toBe(0);
  expect(products(sandbox)).toMatchObject([{}, { name: 'Desk' }]);
});

test('push does not advise --map for a column that --map names already', async () => {
  const { file, push } = withFile('productNumber,colourCode,Kleur\nA,7,x\n');
  const { code, log } = await push('--yes', '--map', 'colourCode=code');
  expect([code, log.replace(file('products.csv'), 'FILE')]).toEqual([
    7,
    expect.stringMatching(
      /a product\.\nNothing was written\. Correct --map, or .*:\n {2}--map Kleur=FIELD\n {2}--ignore-column Kleur\n {2}--custom-field code:integer --custom-field Kleur:string\n$/,
    ),
  ]);
});

test('push reads amounts and numbers with a comma with --decimal', async () => {
  const { sandbox, push } = withFile(
    'productNumber;salePrice;stockQuantity;name\nA;129,00;2,5;a,b\nB;1.129,00;3;x\nC;5;1.5;x\nD;-3;7;1,5\n',
  );
  const { code, log } = await push('--yes', '--decimal', ',');
  expect(code).toBe(9);
  expect(log).toContain(
    'line 3, B: invalid_input: salePrice: "1.129,00" is not a decimal with a comma, such as 129,0000, without thousands separators',
  );
  expect(log).toContain('line 4, C: invalid_input: stockQuantity: "1.5" is not a number with a comma');
  expect(products(sandbox)).toMatchObject([
    { productNumber: 'A', salePrice: '129.0000', stockQuantity: 2.5, name: 'a,b' },
    { productNumber: 'D', salePrice: '-3.0000', stockQuantity: 7, name: '1,5' },
  ]);
});

/** A cell of each kind of field by the mark that is named, and its value, or undefined if its row is rejected. */
test.each<[kind: 'money' | 'number' | 'integer', decimal: '.' | ',', cell: string, value: unknown]>([
  ['integer', ',', '1.000', undefined],
  ['integer', ',', '2.500', undefined],
  ['integer', ',', '1,0', undefined],
  ['integer', '.', '2.5', undefined],
  ['integer', '.', '5.0', undefined],
  ['integer', '.', '1,000', undefined],
  ['integer', '.', '1e3', undefined],
  ['integer', '.', '1 000', undefined],
  ['integer', ',', '12', 12],
  ['integer', '.', '-0012', -12],
  ['number', ',', '12.000', undefined],
  ['number', ',', '1.129,00', undefined],
  ['number', '.', '1,234', undefined],
  ['number', ',', '12,000', 12],
  ['number', '.', '12.500', 12.5],
  ['money', ',', '1.234', undefined],
  ['money', ',', '1.234,00', undefined],
  ['money', '.', '1,234', undefined],
  ['money', '.', '12,50', undefined],
  ['money', ',', '1,234', '1.234'],
  ['money', '.', '1.234', '1.234'],
])('push reads %s with --decimal %s: %s', async (kind, decimal, cell, value) => {
  const { sandbox, push } = withFile(`productNumber;size\nA;${cell}\nB;\n`, { unknownFields: 'store' });
  const { code, log } = await push('--yes', '--decimal', decimal, '--custom-field', `size:${kind}`);
  expect(code).toBe(value === undefined ? 9 : 0);
  const sent = products(sandbox).map((product) => (product as { size?: unknown }).size);
  if (value === undefined) {
    expect(sent).toHaveLength(1);
    expect(log).toContain(`line 2, A: invalid_input: size: "${cell}" is not `);
    expect(log).not.toContain('--decimal');
  } else expect(sent[0]).toBe(value);
});

test.each([
  ['salePrice', '12,50'],
  ['salePrice', '1.234,50'],
  ['salePrice', '1.234,567'],
  ['salePrice', '1234,567'],
  ['salePrice', '€ 12,5'],
  ['salePrice', '-0,5 '],
  ['stockQuantity', '2,5'],
])(
  'push asks for the decimal mark before it writes a file with a decimal comma: %s %s',
  async (field, cell) => {
    const { sandbox, push } = withFile(`productNumber;salePrice;${field}2\nA;1.234;\nB;;${cell}\n`);
    const map = [
      '--yes',
      '--map',
      `${field}2=${field}`,
      ...(field === 'salePrice' ? ['--ignore-column', 'salePrice'] : []),
    ];
    const { code, log } = await push(...map);
    expect([code, log]).toEqual([
      7,
      expect.stringMatching(
        /line 3 has the \w+ ".*", with a decimal comma\.\n.*Pass --decimal , to read it, or --decimal \. /,
      ),
    ]);
    expect(sandbox.journal).toEqual([]);
    expect((await push(...map, '--decimal', '.')).code).toBe(9);
    expect(products(sandbox)).toHaveLength(1);
  },
);

test.each(['1,234', '1,234,567', '1,234.50', 'a, 12', '12,5,0'])(
  'push does not ask for the decimal mark, and rejects the row, of %s',
  async (cell) => {
    const { sandbox, push } = withFile(`productNumber;salePrice;name\nA;${cell};x\nB;1.5;12,50\n`);
    const { code, log } = await push('--yes');
    expect([code, log]).toEqual([9, expect.not.stringContaining('--decimal')]);
    expect(products(sandbox)).toMatchObject([{ productNumber: 'B', salePrice: '1.5000', name: '12,50' }]);
  },
);

test.each([
  'Price, net',
  'Size "S"',
  "Bob's",
  `5" or 6'`,
  '$price `cost`',
  'a\\b',
  '100%!',
  'two\nlines',
  'tab\there \\n it\'s "all"',
  '-y',
  'Größe ✓',
  'a:integer',
  'x=y',
])('push prints options for the column %j that work when they are pasted into a shell', async (name) => {
  const cell = `"${name.replaceAll('"', '""')}"`;
  const { sandbox, push } = withFile(`productNumber|${cell}\nA|x\n`, { unknownFields: 'store' });
  const { code, log } = await push('--yes');
  const [, advised = ''] = /again:\n((?: {2}.*\n){3})$/.exec(log) ?? [];
  const [map, mapped, ignore, ignored, custom, field] = words(advised.replaceAll('\n', ' '));
  expect([code, map, mapped, ignore, ignored, custom, field]).toEqual([
    7,
    ...['--map', `${name}=FIELD`],
    ...['--ignore-column', name],
    ...['--custom-field', `${name}:string`],
  ]);
  expect((await push('--yes', '--custom-field', `${field}`)).code).toBe(0);
  expect(products(sandbox)).toMatchObject([{ [name]: 'x' }]);
});

test.each([
  ['5\n7\n', 'integer'],
  ['5\n2.5\n', 'number'],
  ['5.00\n2.5\n', 'money'],
  ['true\n""\nfalse\n', 'string'],
  ['true\nfalse\n', 'boolean'],
  ['007\n', 'string'],
  ['"[""S"",""M""]"\n[]\n', 'array'],
  ['"{""a"":[1]}"\n', 'json'],
  ['[1]\n{}\n', 'json'],
  ['yes\n', 'string'],
  ['\n', 'string'],
])('push advises the kind that suits the cells of an unknown column: %j is %s', async (cells, kind) => {
  const rows = cells.split('\n').slice(0, -1);
  const text = `productNumber,size\n${rows.map((cell, row) => `${row},${cell}\n`).join('')}`;
  expect((await withFile(text).push('--yes')).log).toContain(`--custom-field size:${kind}\n`);
});

test.each([
  ['5', 'integer'],
  ['2.5', 'number'],
  ['true', 'boolean'],
  ['["S"]', 'array'],
  ['{"a":1}', 'json'],
  ['"5"', 'string'],
  ['null', 'string'],
])('push advises the kind of an unknown member: %s is %s', async (value, kind) => {
  const { push } = withFile(`{"productNumber":"A","size":${value}}\n`, { name: 'a.ndjson' });
  expect((await push('--yes')).log).toContain(`--custom-field size:${kind}\n`);
});

test.each([
  ['a.csv', (text: string) => `productNumber,description\nA,${text}\nB,x\n`],
  ['a.csv', (text: string) => `productNumber,tags\nA,${text}|\nB,x\n`],
  ['a.ndjson', (text: string) => `{"productNumber":"A","tags":["${text}"]}\n{"productNumber":"B"}\n`],
])('push fails a row of %s with megabytes in a field before it sends it (%#)', async (name, textOf) => {
  const { sandbox, push } = withFile(textOf('x'.repeat(3_000_000)), { name });
  const { code, log } = await push('--yes');
  expect([code, log]).toEqual([
    9,
    expect.stringMatching(
      /A: invalid_input: \w+: has 3,000,\d+ characters; at most 1,000,000 characters are sent\.$/m,
    ),
  ]);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'B' }]);
});

test.each([
  ['a.csv', 'ean,name\n8.71E+12,a\n8711E,b\n1E5,c\n', 1],
  ['a.csv', 'upcCode,productNumber\n"8,71E+12",a\n9E+11,b\n7,c\n', 2],
  ['a.csv', 'name,productNumber\n1E+11,a\nb,2E+10\nc,E+10\n', 1],
  ['a.ndjson', '{"productNumber":"a","ean":"8,71122E+12"}\n', 1],
])('push fails rows of %s with codes that a spreadsheet took for numbers: %j', async (name, text, failed) => {
  const { env, file } = withFile(text, { name });
  const key = text.includes('productNumber') ? 'productNumber' : 'ean';
  const { code, log } = await run(env, ['push', file(name), '--key', key, '--yes']);
  expect(code).toBe(9);
  expect(log).toContain(`${failed} failed`);
  expect(log).toMatch(/: "\d.*E\+\d+" is a number that a spreadsheet rounded: format the column as text/);
});

test('push prints its counts with --quiet too', async () => {
  const { push } = withFile('productNumber\nA\n');
  expect((await push('--yes', '--quiet')).log).toBe('1 row: 1 created, 0 updated, 0 unchanged.\n');
});
