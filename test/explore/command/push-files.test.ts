import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { products, withFile } from './support/products-file.ts';
import { run } from './support/run.ts';
import { words } from './support/shell.ts';

/** The only product of a file. */
const DESK = { productNumber: 'A', name: 'Desk' };
const STORE = { unknownFields: 'store' } as const;

test.each<[what: string, text: string, file?: string, name?: string]>([
  ['a byte order mark, semicolons and mixed line endings', '\uFEFFproductNumber;name\r\nA;Desk\n'],
  [
    'a byte order mark and the line separators of Unicode in NDJSON',
    '\uFEFF{"productNumber":"A","name":"Desk\u2028of oak\u2029"}\r\n\n',
    'products.ndjson',
    'Desk\u2028of oak\u2029',
  ],
  ['as many commas in the header as columns', 'productNumber;"name"\nA;"Desk, x"\n', 'a.csv', 'Desk, x'],
  ['tabs and commas', 'productNumber\tname\nA\tDesk, oak\n', 'a.txt', 'Desk, oak'],
  [
    'a line break in a quoted name',
    'productNumber|"na\nme"|name\nA|x|Desk; oak, x\n',
    'a.csv',
    'Desk; oak, x',
  ],
  ['a quoted SEP=|', '\uFEFF"SEP=|"\r\nproductNumber|name\r\nA|Desk, x; y\r\n', 'a.csv', 'Desk, x; y'],
  ['empty lines before the header, and shorter rows', '\r\n  \n\nproductNumber;name;brand;ean\nA;Desk\n'],
  ['longer rows and rows without content', 'productNumber;name\n;\n ; \n"";\nA;Desk;; ;\n;;;\n'],
  ['columns without a name', ';productNumber;;name;\nx;A;y;Desk;z\n'],
])('push reads a file with %s', async (_, text, file, name = 'Desk') => {
  const { sandbox, push } = withFile(text, { name: file });
  const { code, log } = await push('--yes', '--ignore-column', 'na\nme');
  expect([code, log]).toEqual([0, expect.stringContaining('1 row: 1 created')]);
  expect(products(sandbox)).toMatchObject([{ ...DESK, name, brand: null }]);
});

test.each([
  [[], 'productNumber,"name, colour"\nA,Desk\n', ['--map', 'name, colour=name']],
  [[], 'productNumber\tSize (S|M|L), a,b\tname\nA\t1,2|3\tDesk\n', ['--ignore-column', 'Size (S|M|L), a,b']],
  [['--delimiter', '^'], 'productNumber^name\nA^Desk\n', []],
  [['--delimiter', '\\t'], 'sep=;\nproductNumber\tname\nA\tDesk\n', []],
])('push finds the delimiter of a header with another mark: %j %j', async (flags, text, more) => {
  const { sandbox, push } = withFile(text);
  expect(await push('--yes', ...flags, ...more)).toMatchObject({ code: 0 });
  expect(products(sandbox)).toMatchObject([DESK]);
});

test.each<[cell: string, flags: readonly string[], tags: unknown]>([
  [' alu | slim |', [], ['alu', 'slim']],
  ['|', [], []],
  [' ', [], null],
  ['"[""a"",""b|c""]"', ['--list-separator', ','], ['a', 'b|c']],
  ['alu / slim|x', ['--list-separator', ' / '], ['alu', 'slim|x']],
])('push reads the list %j with %j', async (cell, flags, tags) => {
  const { sandbox, push } = withFile(`productNumber\tname\ttags\nA\tDesk\t${cell}\n`);
  const { code, log } = await push('--yes', ...flags);
  expect([code, log]).toEqual([0, expect.not.stringContaining('Warning')]);
  expect(products(sandbox)).toMatchObject([{ ...DESK, tags }]);
});

test('push warns once of lists that it read as one text, and names the row', async () => {
  const text = 'productNumber\ttags\tsizes\nA\tx\t\nB\talu, slim\tS\nC\ta;b\tS, M\n';
  const { sandbox, push } = withFile(text, STORE);
  const flags = ['--yes', '--custom-field', 'sizes:array'];
  const { code, log } = await push(...flags, '-q');
  expect([code, log.split('\n').filter((line) => line.startsWith('Warning'))]).toEqual([
    0,
    [
      'Warning: line 3, tags: "alu, slim" is one text of a list (and 2 more rows): "|" separates several, or what --list-separator names.',
    ],
  ]);
  expect(products(sandbox)).toMatchObject([{}, { tags: ['alu, slim'] }, { tags: ['a;b'], sizes: ['S, M'] }]);
  expect((await push(...flags, '--list-separator', '|')).log).not.toContain('Warning');
});

test.each<[number: string, value: number | undefined, isJson?: boolean]>([
  ['0.30000000000000004', 0.30000000000000004],
  ['9007199254740993', undefined],
  ['1e400', undefined, true],
])('push reads the number %s only if it keeps its digits', async (number, value, isJson = false) => {
  const files = [
    ['a.ndjson', `{"productNumber":"A","stockQuantity":${number}}\n{"productNumber":"B"}\n`],
    ['a.ndjson', `{"productNumber":"A","extra":[{"deep":${number}}]}\n{"productNumber":"B"}\n`],
    ['a.csv', `productNumber,stockQuantity\nA,${number}\nB,\n`],
    ['a.csv', `productNumber,extra\nA,[${number}]\nB,\n`],
  ] as const;
  for (const [name, text] of isJson ? files.slice(0, 2) : files) {
    const { sandbox, push } = withFile(text, { name, ...STORE });
    const { code, log } = await push('--yes', '--custom-field', 'extra:json', '--state', name + text.length);
    const said = value === undefined ? /^line [12], A: .*has more digits than a JSON number/m : /2 created/;
    expect([code, log]).toEqual([value === undefined ? 9 : 0, expect.stringMatching(said)]);
    if (value !== undefined) expect(JSON.stringify(products(sandbox)[0])).toContain(`${value}`);
  }
});

test.each([
  ['productNumber,name,ean,brand\nA,"",0012,\n', [], { name: '', ean: '0012', brand: 'Oak' }],
  ['productNumber,name,ean,brand\n"A","",0012,""\n', [], { name: '', brand: '' }],
  ['"productNumber","name","brand"\n"A","",""\n', [], { name: 'Desk', brand: 'Oak' }],
  ['productNumber,name,ean,brand\nA,"",,\n', ['--empty', 'clear'], { name: '', ean: null, brand: null }],
  ['"productNumber","name","brand"\n"A","",\n', ['--empty', 'clear'], { name: null, brand: null }],
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
  const { sandbox, push } = withFile('productNumber,colour,kilos,isOak\nA,red,"2,5",yes\nB,,x,\n', STORE);
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
const magic = (hex: string) => Buffer.from(hex, 'hex');

test.each<[what: string, reason: RegExp, text: string | Buffer, name?: string, maps?: string[]]>([
  ['an unknown column', /salesPrice.*did you mean salePrice\?/s, 'productNumber,salesPrice\nA,5\n'],
  [
    'several unknown columns',
    /"nam" \(did you mean name\?\), "Kleur", which .*\n.*same command again:\n {2}--map nam=name --map Kleur=FIELD\n {2}--ignore-column nam --ignore-column Kleur\n {2}--custom-field nam:integer --custom-field Kleur:string$/m,
    'productNumber,nam,Kleur\nA,5,x\n',
  ],
  [
    'an unknown column and a mapped one that is unknown',
    /Correct --map, or .*:\n {2}--map Kleur=FIELD\n {2}--ignore-column Kleur\n {2}--custom-field code:integer --/,
    'productNumber,colourCode,Kleur\nA,7,x\n',
    'a.csv',
    ['colourCode=code'],
  ],
  ['a column twice', /the field name 2 times: "name", "name"\./, 'productNumber,name,name\nA,5,6\n'],
  ['no key column', /no column productNumber/, 'name\nA\n'],
  ['too many cells', /line 3 has "z" in cell 4, but .* 2 columns/, 'productNumber,name\nA,x\nB,y,,z\n'],
  [
    'a title with line breaks',
    /line 2 is no header: .*\n.* header on line 5/,
    '\n"a\nb";;\nx;y;z\n"name";"productNumber";ean\n',
  ],
  ['an open quote', /row on line 4, cell 2: .* never closed/, 'productNumber,name\r\nA,"x\r\ny"\r\nB,"x\r\n'],
  ['a quote in a cell', /line 3, cell 1: it has a quote but does not begin/, 'productNumber,name\n\nA"B,x\n'],
  ['no content', /is empty/, ''],
  ['Latin-1', /it is not UTF-8\.\n.*\n {2}iconv -f WINDOWS-1252 .*\.csv$/m, Buffer.from(CAFE.csv, 'latin1')],
  ['UTF-16', /it is UTF-16\.(?:.|\n)*iconv -f UTF-16LE /, Buffer.from(CAFE.csv, 'utf16le')],
  ['big-endian UTF-16', /UTF-16\.(?:.|\n)*iconv -f UTF-16BE /, Buffer.from(CAFE.csv, 'utf16le').swap16()],
  ['NDJSON in Latin-1', /it is not UTF-8\./, Buffer.from(CAFE.ndjson, 'latin1'), 'a.ndjson'],
  ['NDJSON under the name of CSV', /it is NDJSON\.\n.*Pass --format ndjson/, CAFE.ndjson],
  ['a JSON list', /it is a JSON list\.(?:.|\n)*jq -c '\.\[\]'/, ' [\n{}]', 'a.ndjson'],
  ['JSON of one line', /it is a JSON document\.(?:.|\n)*jq /, '{"products":[{"ean":"1"}]}', 'a.json'],
  ['HTML', /it is XML or HTML\.\n.*xq.*\n {2}xq -c /, '<!DOCTYPE html>\n<html>'],
  ['gzip', /by gzip\.(?:.|\n)*gunzip -c \S+products\.csv > converted\.csv$/m, gzipSync(CAFE.csv)],
  ['bzip2', /compressed by bzip2\.(?:.|\n)*bunzip2 -c /, magic('425a6839314159265359')],
  ['a zip archive', /it is a zip archive\.(?:.|\n)*unzip -p /, Buffer.from('PK\x03\x04products.csv')],
  ['.xlsx', /\(\.xlsx.*\n.*"CSV UTF-8".*\n {2}soffice /, Buffer.from('PK\x03\x04[Content_Types].xml')],
  ['.xls', /\(\.xls\)/, magic('d0cf11e0a1b11ae1')],
  [
    'an unknown field of NDJSON',
    /line 1 names "nam" \(did you mean name\?\), which is (?:.|\n)*--custom-field nam:string$/m,
    '{"productNumber":"A","nam":"x"}\n',
    'a.ndjson',
  ],
  ['a torn line', /line 2 is not a JSON object/, '{"productNumber":"A"}\n{"productNum', 'a.ndjson'],
  [
    'two columns of one field',
    /names the field salePrice 2 times: "net", "gross"\./,
    'productNumber,net,gross\nA,1,2\n',
    'a.csv',
    ['net=salePrice', 'gross=salePrice'],
  ],
  [
    'a member that is mapped to another',
    /line 2 names the field name 2 times/,
    '{"productNumber":"A"}\n{"productNumber":"B","name":"x","Title":"y"}\n',
    'a.ndjson',
    ['Title=name'],
  ],
  [
    'a member twice',
    /line 1 names the field name 2 times: "name", "name"\./,
    '{"productNumber":"A","na\\u006de":"{\\"x\\":1}","tags":[{"name":"y"}],"name":"z"}\n',
    'a.ndjson',
  ],
  ['no column of --map', /no column "X", which --map names/, 'productNumber\nA\n', 'a.csv', ['X=name']],
  ['no member of --map', /no line names "X", which --map/, '{"productNumber":"A"}\n', 'a.ndjson', ['X=name']],
])('push writes nothing for a file with %s', async (_, reason, text, name = 'products.csv', maps = []) => {
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
  ['a.txt', ['--format', 'ndjson']],
])('push of what pull wrote to %s changes nothing with %j', async (name, flags) => {
  const { sandbox, env, file, push } = withFile('', { name, ...STORE });
  for (const [row, product] of DELICATE.entries())
    sandbox.store.products.insert({ productNumber: `P-${row}`, ...product } as never);
  let ended = await run(env, ['pull', 'products', '--out', file(name)]);
  expect([ended.code, ended.log]).toEqual([0, expect.not.stringContaining('Warning')]);
  const advised: string[] = [];
  // A line of NDJSON names the fields that it has.
  for (let line: string | undefined; ; advised.push(...line.split(' '))) {
    ended = await push('--yes', ...flags, ...advised);
    line = /^ {2}(--custom-field .*)$/m.exec(ended.log)?.[1];
    if (line === undefined) break;
  }
  expect([ended.code, ended.log]).toEqual([0, `8 rows: 0 created, 0 updated, 8 unchanged.\n`]);
  expect(sandbox.journal).toEqual([]);
  const kinds = ['packs:integer', 'isOak:boolean', 'sizes:array', 'shape:json'];
  expect(advised).toEqual(expect.arrayContaining(kinds));
});

test('pull names the record with half of a surrogate pair in CSV, and keeps it in NDJSON', async () => {
  const { sandbox, env, file } = withFile('', { existing: [{ productNumber: 'A', name: 'x' }] });
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

test.each([
  ['a.csv', 'Variant SKU,id,createdAt,Updated,Note\n A ,EXT-9,2026-01-31,x,y\n'],
  // Only some lines have a member of --map.
  [
    'a.ndjson',
    '{"Variant SKU":"B"}\n{"Variant SKU":"A","id":"EXT-9","createdAt":"2026-01-31","Updated":"x","Note":"y"}\n',
  ],
])(
  'push maps and ignores columns, those that the service fills too, and trims the key: %s',
  async (name, text) => {
    const { sandbox, env, file } = withFile(text, { name });
    const maps = [' id = name ', 'createdAt=validFrom', 'Updated=remark', 'Variant SKU=productNumber'];
    const ignored = ['--ignore-column', ' Note', '--ignore-column', 'other'];
    // The file last, so that no option may take it for a value of its own.
    const given = [...ignored, ...maps.flatMap((map) => ['--map', map]), file(name)];
    expect((await run(env, ['push', '--key', 'productNumber', '--yes', ...given])).code).toBe(0);
    const filled = { productNumber: 'A', name: 'EXT-9', validFrom: '2026-01-31', remark: 'x' };
    expect(products(sandbox)).toContainEqual(expect.objectContaining(filled));
  },
);

/** A cell of each kind of field by the mark that is named, and its value, or undefined if its row is rejected. */
test.each<[kind: 'money' | 'number' | 'integer', decimal: '.' | ',', cell: string, value: unknown]>([
  ['integer', ',', '1.000', undefined],
  ['integer', '.', '2.5', undefined],
  ['integer', '.', '1e3', undefined],
  ['integer', '.', '-0012', -12],
  ['number', ',', '1.129,00', undefined],
  ['number', '.', '1,234', undefined],
  ['number', '.', '12.500', 12.5],
  ['money', ',', '1.234', undefined],
  ['money', ',', '1,234', '1.234'],
  ['money', '.', '1.234', '1.234'],
])('push reads %s with --decimal %s: %s', async (kind, decimal, cell, value) => {
  const { sandbox, push } = withFile(`productNumber;size\nA;${cell}\nB;\n`, STORE);
  const { code, log } = await push('--yes', '--decimal', decimal, '--custom-field', `size:${kind}`);
  const isRead = value !== undefined;
  expect([code, products(sandbox).length]).toEqual(isRead ? [0, 2] : [9, 1]);
  expect(products(sandbox)[0]).toMatchObject(isRead ? { size: value } : { productNumber: 'B' });
  if (isRead) return;
  expect(log).toContain(`line 2, A: invalid_input: size: "${cell}" is not `);
  expect(log).not.toContain('--decimal');
});

test.each([
  ['salePrice', '1.234,567'],
  ['salePrice', '€ -12,5 '],
  ['stockQuantity', '2,5'],
])(
  'push asks for the decimal mark before it writes a file with a decimal comma: %s %s',
  async (field, cell) => {
    const { sandbox, push } = withFile(`productNumber;salePrice;${field}2\nA;1.234;\nB;;${cell}\n`);
    const ignored = field === 'salePrice' ? ['--ignore-column', field] : [];
    const map = ['--yes', '--map', `${field}2=${field}`, ...ignored];
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

test.each([`-y, 5" or 6' $price \`cost\`\there \\n:integer`, '-y'])(
  'push prints options for the column %j that work when they are pasted into a shell',
  async (name) => {
    const cell = `"${name.replaceAll('"', '""')}"`;
    const { sandbox, push } = withFile(`productNumber|${cell}\nA|x\n`, STORE);
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
  },
);

test.each([
  ['integer', ['5', '7'], '5'],
  ['number', ['5', '2.5'], '2.5'],
  ['money', ['5.00', '2.5'], undefined],
  ['boolean', ['true', 'false'], 'true'],
  ['string', ['true', '""', 'false'], 'null'],
  ['string', ['007'], undefined],
  ['string', [''], undefined],
  ['array', ['"[""S"",""M""]"', '[]'], '["S"]'],
  ['json', ['[1]', '{}'], '{"a":1}'],
])(
  'push advises the kind %s for an unknown field with the cells %j, or the JSON %s',
  async (kind, cells, json) => {
    const advice = `--custom-field size:${kind}\n`;
    const csv = `productNumber,size\n${cells.map((cell) => `A,${cell}\n`).join('')}`;
    expect((await withFile(csv).push('--yes')).log).toContain(advice);
    if (json === undefined) return;
    const line = `{"productNumber":"A","size":${json}}\n`;
    expect((await withFile(line, { name: 'a.ndjson' }).push('--yes')).log).toContain(advice);
  },
);

test.each([
  ['a.csv', 'productNumber,description\nA,TEXT\nB,x\n'],
  ['a.ndjson', '{"productNumber":"A","tags":["TEXT"]}\n{"productNumber":"B"}\n'],
])(
  'push fails a row of %s with more than a million characters in a field before it sends it',
  async (name, text) => {
    const { sandbox, push } = withFile(text.replace('TEXT', 'x'.repeat(1_000_001)), { name });
    const { code, log } = await push('--yes');
    const said = /A: .*: has 1,000,\d+ characters; at most 1,000,000 /;
    expect([code, log]).toEqual([9, expect.stringMatching(said)]);
    expect(products(sandbox)).toMatchObject([{ productNumber: 'B' }]);
  },
);

test.each([
  ['a.csv', 'upcCode,productNumber\n"8,71E+12",a\n9E+11,b\n7,c\n', 2],
  ['a.ndjson', '{"productNumber":"a","ean":"8.71122E+12"}\n', 1],
])('push fails rows of %s with codes that a spreadsheet took for numbers: %j', async (name, text, failed) => {
  const { code, log } = await withFile(text, { name }).push('--yes', '--quiet');
  expect([code, log]).toEqual([9, expect.stringContaining(`${failed} failed`)]);
  expect(log).toMatch(/: "\d.*E\+\d+" is a number that a spreadsheet rounded: format the column as text/);
});
