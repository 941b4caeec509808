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
  [
    'a byte order mark and the line separators of Unicode in NDJSON',
    '\uFEFF{"productNumber":"A","name":"Desk\u2028of oak\u2029"}\r\n\n',
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
  [
    'a quoted SEP=| and a byte order mark',
    '\uFEFF"SEP=|"\r\nproductNumber|name\r\nA|Desk, x; y\r\n',
    'a.csv',
    'Desk, x; y',
  ],
  ['shorter rows', 'productNumber;name;brand;ean\nA;Desk\n', 'a.csv'],
  ['longer rows without content', 'productNumber;name\nA;Desk;; ;\n', 'a.csv'],
  ['rows without content', 'productNumber;name\n;\n ; \n"";\nA;Desk\n;;;\n', 'a.csv'],
  ['columns without a name', ';productNumber;;name;\nx;A;y;Desk;z\n', 'a.csv'],
])('push reads a file with %s', async (_, text, file, name = 'Desk') => {
  const { sandbox, push } = withFile(text, { name: file });
  const { code, log } = await push('--yes', '--ignore-column', 'na\nme');
  expect([code, log]).toEqual([0, expect.stringContaining('1 row: 1 created')]);
  expect(products(sandbox)).toMatchObject([{ ...DESK, name, brand: null }]);
});

test.each([
  [[], 'productNumber,"name, colour"\nA,Desk\n', ['--map', 'name, colour=name']],
  [[], 'productNumber,name,Size (S|M|L)\nA,Desk,S|M|L\n', ['--ignore-column', 'Size (S|M|L)']],
  [[], 'productNumber\ta,b,c\tname\nA\t1,2,3\tDesk\n', ['--ignore-column', 'a,b,c']],
  [['--delimiter', '^'], 'productNumber^name\nA^Desk\n', []],
  [['--delimiter', '\\t'], 'sep=;\nproductNumber\tname\nA\tDesk\n', []],
])('push finds the delimiter of a header with another mark: %j %j', async (flags, text, more) => {
  const { sandbox, push } = withFile(text);
  expect(await push('--yes', ...flags, ...more)).toMatchObject({ code: 0 });
  expect(products(sandbox)).toMatchObject([DESK]);
});

test.each<[cell: string, flags: readonly string[], tags: unknown]>([
  [' alu | slim ', [], ['alu', 'slim']],
  ['alu |', [], ['alu']],
  ['|', [], []],
  [' ', [], null],
  ['"[""a"",""b|c""]"', [], ['a', 'b|c']],
  ['"alu, slim"', ['--list-separator', ','], ['alu', 'slim']],
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
  ['1e+21', 1e21],
  ['1.50', 1.5],
  ['9007199254740993', undefined],
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
    if (value === undefined) {
      expect([code, log]).toEqual([
        9,
        expect.stringMatching(/^line [12], A: .*has more digits than a JSON number/m),
      ]);
      continue;
    }
    expect([code, log]).toEqual([0, expect.stringContaining('2 created')]);
    expect(JSON.stringify(products(sandbox)[0])).toContain(`${value}`);
  }
});

test.each([
  ['productNumber,name,brand\nA,"",\n', [], { name: '', brand: 'Oak' }],
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
});

test.each<[flags: readonly string[], reason: string]>([
  [['--delimiter', '::'], 'Give one character, or tab.'],
  [['--custom-field', 'name:number'], 'name is a documented field'],
  [['--custom-field', 'colour:color'], 'The kinds are string, money'],
  [['--custom-field', ':integer'], 'Give a name such as grade'],
  [['--map', 'SKU=name', '--map', 'SKU=brand'], 'another --map'],
  [['--map', 'id=name', '--ignore-column', ' id'], '--ignore-column'],
])('push rejects %j', async (flags, reason) => {
  const { code, log } = await withFile('productNumber,SKU,id\nA,B,C\n').push('--yes', ...flags);
  expect([code, log]).toEqual([2, expect.stringContaining(reason)]);
});

const CAFE = { csv: 'productNumber,name\nA,Café\n', ndjson: '{"productNumber":"A","name":"Café"}\n' };

test.each<[what: string, text: string | Buffer, reason: RegExp, name?: string, maps?: string[]]>([
  ['an unknown column', 'productNumber,salesPrice\nA,5\n', /salesPrice.*did you mean salePrice\?/s],
  [
    'several unknown columns',
    'productNumber,nam,Kleur\nA,5,x\n',
    /"nam" \(did you mean name\?\), "Kleur", which .*\n.*same command again:\n {2}--map nam=name --map Kleur=FIELD\n {2}--ignore-column nam --ignore-column Kleur\n {2}--custom-field nam:integer --custom-field Kleur:string$/m,
  ],
  [
    'an unknown column and a mapped one that is unknown',
    'productNumber,colourCode,Kleur\nA,7,x\n',
    /Correct --map, or .*:\n {2}--map Kleur=FIELD\n {2}--ignore-column Kleur\n {2}--custom-field code:integer --/,
    'a.csv',
    ['colourCode=code'],
  ],
  ['a column twice', 'productNumber,name,name\nA,5,6\n', /the field name 2 times: "name", "name"\./],
  ['no key column', 'name\nA\n', /no column productNumber/],
  ['too many cells', 'productNumber,name\nA,x\nB,y,,z\n', /line 3 has "z" in cell 4, but .* 2 columns/],
  ['a title', '"Products; all"\n\nname;productNumber\n', /line 1 is no header: .*\n.* header on line 3/],
  [
    'a title with line breaks',
    '\n"a\nb";;\nx;y;z\n"name";"productNumber";ean\n',
    /line 2 is no header: .*\n.* header on line 5/,
  ],
  ['an open quote', 'productNumber,name\r\nA,"x\r\ny"\r\nB,"x\r\n', /row on line 4, cell 2: .* never closed/],
  ['text behind a quote', 'productNumber,name\nA,"x"y\n', /line 2, cell 2: there is text behind its closing/],
  ['a quote in a cell', 'productNumber,name\n\nA"B,x\n', /line 3, cell 1: it has a quote but does not begin/],
  ['no content', '', /is empty/],
  ['Latin-1', Buffer.from(CAFE.csv, 'latin1'), /it is not UTF-8\.\n.*\n {2}iconv -f WINDOWS-1252 .*\.csv$/m],
  ['UTF-16', Buffer.from(`\uFEFF${CAFE.csv}`, 'utf16le'), /it is UTF-16\./],
  ['UTF-16 without a mark', Buffer.from(CAFE.csv, 'utf16le'), /it is UTF-16\.(?:.|\n)*iconv -f UTF-16LE /],
  ['big-endian UTF-16', Buffer.from(CAFE.csv, 'utf16le').swap16(), /UTF-16\.(?:.|\n)*iconv -f UTF-16BE /],
  ['NDJSON in Latin-1', Buffer.from(CAFE.ndjson, 'latin1'), /it is not UTF-8\./, 'a.ndjson'],
  ['NDJSON under the name of CSV', CAFE.ndjson, /it is NDJSON\.\n.*Pass --format ndjson/],
  ['a JSON list', ' [\n{}]', /it is a JSON list\.(?:.|\n)*jq -c '\.\[\]'/, 'a.ndjson'],
  ['a JSON document', '{\n  "productNumber": "A"}', /it is a JSON document\.(?:.|\n)*jq /, 'a.ndjson'],
  ['JSON of one line', '{"products":[{"ean":"1"}]}', /it is a JSON document\.(?:.|\n)*jq /, 'a.json'],
  ['HTML', '<!DOCTYPE html>\n<html>', /it is XML or HTML\.\n.*xq.*\n {2}xq -c /],
  ['gzip', gzipSync(CAFE.csv), /compressed by gzip\.(?:.|\n)*gunzip -c \S+products\.csv > converted\.csv$/m],
  ['bzip2', Buffer.from('425a6839314159265359', 'hex'), /compressed by bzip2\.(?:.|\n)*bunzip2 -c /],
  ['xz', Buffer.from('fd377a585a000004e6d6b446', 'hex'), /compressed by xz\.(?:.|\n)*xz -dc /],
  ['zstd', Buffer.from('28b52ffd2400', 'hex'), /compressed by zstd\.(?:.|\n)*zstd -dc /],
  ['a zip archive', Buffer.from('PK\x03\x04products.csv'), /it is a zip archive\.(?:.|\n)*unzip -p /],
  [
    '.xlsx',
    Buffer.from('PK\x03\x04[Content_Types].xml'),
    /a spreadsheet \(\.xlsx.*\n.*"CSV UTF-8".*\n {2}soffice /,
  ],
  ['.ods', Buffer.from('PK\x03\x04mimetypeapplication/vnd.oasis.opendocument'), /\.ods/],
  ['.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex'), /\(\.xls\)/],
  [
    'an unknown field of NDJSON',
    '{"productNumber":"A","nam":"x"}\n',
    /line 1 names "nam" \(did you mean name\?\), which is (?:.|\n)*--custom-field nam:string$/m,
    'a.ndjson',
  ],
  ['a torn line', '{"productNumber":"A"}\n{"productNum', /line 2 is not a JSON object/, 'a.ndjson'],
  [
    'two columns of one field',
    'productNumber,net,gross\nA,1,2\n',
    /names the field salePrice 2 times: "net", "gross"\./,
    'a.csv',
    ['net=salePrice', 'gross=salePrice'],
  ],
  [
    'a member that is mapped to another',
    '{"productNumber":"A"}\n{"productNumber":"B","name":"x","Title":"y"}\n',
    /line 2 names the field name 2 times/,
    'a.ndjson',
    ['Title=name'],
  ],
  [
    'a member twice',
    '{"productNumber":"A","na\\u006de":"{\\"x\\":1}","tags":[{"name":"y"}],"name":"z"}\n',
    /line 1 names the field name 2 times: "name", "name"\./,
    'a.ndjson',
  ],
  ['no column of --map', 'productNumber\nA\n', /no column "X", which --map names/, 'a.csv', ['X=name']],
  [
    'no member of --map in any line',
    '{"productNumber":"A"}\n{"productNumber":"B"}\n',
    /no line names "X", which --map names/,
    'a.ndjson',
    ['X=name'],
  ],
])('push writes nothing for a file with %s', async (_, text, reason, name = 'products.csv', maps = []) => {
  const { sandbox, push } = withFile(text, { name });
  const { code, log } = await push('--yes', ...maps.flatMap((map) => ['--map', map]));
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
  let ended = pulled;
  const advised: string[] = [];
  // A line of NDJSON names the fields that it has.
  for (let line: string | undefined; ; advised.push(...words(line))) {
    ended = await push('--yes', ...flags, ...advised);
    line = /^ {2}(--custom-field .*)$/m.exec(ended.log)?.[1];
    if (line === undefined) break;
  }
  expect([ended.code, ended.log]).toEqual([0, `8 rows: 0 created, 0 updated, 8 unchanged.\n`]);
  expect(sandbox.journal).toEqual([]);
  expect(advised).toEqual(
    expect.arrayContaining(['packs:integer', 'isOak:boolean', 'sizes:array', 'shape:json']),
  );
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
});

/** Only some lines have a member of --map. */
const NDJSON_LINES =
  '{"productNumber":"2"}\n{"productNumber":"1","id":"EXT-9","createdAt":"2026-01-31","Updated":"x"}\n';
const CSV_LINES = 'productNumber,id,createdAt,Updated\n1,EXT-9,2026-01-31,x\n';

test.each([
  ['a.csv', CSV_LINES],
  ['a.ndjson', NDJSON_LINES],
])('push reads fields that the service fills as those that --map names: %s', async (name, text) => {
  const { sandbox, push } = withFile(text, { name });
  const maps = ['--map', ' id = name ', '--map', 'createdAt=validFrom', '--map', 'Updated=remark'];
  expect(await push('--yes', ...maps)).toMatchObject({ code: 0 });
  const filled = { name: 'EXT-9', validFrom: '2026-01-31', remark: 'x' };
  expect(products(sandbox)).toContainEqual(expect.objectContaining(filled));
});

/** A cell of each kind of field by the mark that is named, and its value, or undefined if its row is rejected. */
test.each<[kind: 'money' | 'number' | 'integer', decimal: '.' | ',', cell: string, value: unknown]>([
  ['integer', ',', '1.000', undefined],
  ['integer', ',', '1,0', undefined],
  ['integer', '.', '2.5', undefined],
  ['integer', '.', '1,000', undefined],
  ['integer', '.', '1e3', undefined],
  ['integer', '.', '-0012', -12],
  ['number', ',', '1.129,00', undefined],
  ['number', '.', '1,234', undefined],
  ['number', '.', '12.500', 12.5],
  ['money', ',', '1.234', undefined],
  ['money', '.', '1,234', undefined],
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
  ['salePrice', '1.234,567'],
  ['salePrice', '€ 12,5'],
  ['salePrice', '-0,5 '],
  ['stockQuantity', '2,5'],
])(
  'push asks for the decimal mark before it writes a file with a decimal comma: %s %s',
  async (field, cell) => {
    const { sandbox, push } = withFile(`productNumber;salePrice;${field}2\nA;1.234;\nB;;${cell}\n`);
    const isPrice = field === 'salePrice';
    const map = ['--yes', '--map', `${field}2=${field}`, ...(isPrice ? ['--ignore-column', field] : [])];
    const { code, log } = await push(...map);
    const asked =
      /line 3 has the \w+ ".*", with a decimal comma\.\n.*Pass --decimal , to read it, or --decimal \. /;
    expect([code, log]).toEqual([7, expect.stringMatching(asked)]);
    expect(sandbox.journal).toEqual([]);
    expect((await push(...map, '--decimal', '.')).code).toBe(9);
    expect(products(sandbox)).toHaveLength(1);
  },
);

test.each(['1,234', '1,234.50', 'a, 12'])(
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
  `5" or 6'`,
  '$price `cost`',
  'tab\there \\n it\'s "all"',
  '-y',
  'a:integer',
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

const cells = (text: string) =>
  ['a.csv', `productNumber,size\n${text.replaceAll(/^(?=.)/gm, 'A,')}`] as const;
const member = (value: string) => ['a.ndjson', `{"productNumber":"A","size":${value}}\n`] as const;

test.each([
  ['integer', cells('5\n7\n')],
  ['number', cells('5\n2.5\n')],
  ['money', cells('5.00\n2.5\n')],
  ['string', cells('true\n""\nfalse\n')],
  ['boolean', cells('true\nfalse\n')],
  ['string', cells('007\n')],
  ['string', ['a.csv', 'productNumber,size\nA,\n'] as const],
  ['array', cells('"[""S"",""M""]"\n[]\n')],
  ['json', cells('[1]\n{}\n')],
  ['integer', member('5')],
  ['number', member('2.5')],
  ['boolean', member('true')],
  ['array', member('["S"]')],
  ['json', member('{"a":1}')],
  ['string', member('null')],
])('push advises the kind %s for the values of an unknown field: %j', async (kind, [name, text]) => {
  expect((await withFile(text, { name }).push('--yes')).log).toContain(`--custom-field size:${kind}\n`);
});

test.each([
  ['a.csv', (text: string) => `productNumber,description\nA,${text}\nB,x\n`],
  ['a.ndjson', (text: string) => `{"productNumber":"A","tags":["${text}"]}\n{"productNumber":"B"}\n`],
])('push fails a row of %s with megabytes in a field before it sends it (%#)', async (name, textOf) => {
  const { sandbox, push } = withFile(textOf('x'.repeat(3_000_000)), { name });
  const { code, log } = await push('--yes');
  expect([code, log]).toEqual([
    9,
    expect.stringMatching(/A: .*: has 3,000,\d+ characters; at most 1,000,000 /),
  ]);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'B' }]);
});

test.each([
  ['a.csv', 'ean,name\n8.71E+12,a\n8711E,b\n1E5,c\n', 1],
  ['a.csv', 'upcCode,productNumber\n"8,71E+12",a\n9E+11,b\n7,c\n', 2],
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
