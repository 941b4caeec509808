import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { products, withFile } from './support/products-file.ts';
import { ends, run } from './support/run.ts';
import { words } from './support/shell.ts';

const STORE = { unknownFields: 'store' } as const;

/** The name of a file of this text. */
const nameOf = (text: string) => (/^\uFEFF?\{/.test(text) ? 'a.ndjson' : 'a.csv');

/** The product A of a file, whose name is Desk unless the row says another. */
test.each<[what: string, text: string, product: object, flags?: readonly string[]]>([
  ['a byte order mark, semicolons, mixed line ends', '\uFEFFproductNumber;name\r\nA;Desk\n', { brand: null }],
  [
    'a byte order mark and the line separators of Unicode in NDJSON',
    '\uFEFF{"productNumber":"A","name":"Desk\u2028of oak\u2029"}\r\n\n',
    { name: 'Desk\u2028of oak\u2029' },
  ],
  ['tabs and commas', 'productNumber\tname\nA\tDesk, oak\n', { name: 'Desk, oak' }],
  ['as many commas as columns', 'productNumber;"name"\nA;"Desk, x"\n', { name: 'Desk, x' }],
  ['a quoted SEP=|', '\uFEFF"SEP=|"\r\nproductNumber|name\r\nA|Desk, x; y\r\n', { name: 'Desk, x; y' }],
  ['empty lines before the header, and shorter rows', '\r\n  \n\nproductNumber;name;ean\nA;Desk\n', {}],
  ['longer rows and empty ones', 'productNumber;name\n;\n ; \n"";\nA;Desk;; ;\n;;;\n', {}],
  ['columns without a name', ';productNumber;;name;\nx;A;y;Desk;z\n', {}],
  ['a line break in a name', 'productNumber|"na\nme"|name\nA|x|Desk\n', {}, ['--ignore-column', 'na\nme']],
  ['marks in a name', 'productNumber\ta|b, c,d\tname\nA\t1,2|3\tDesk\n', {}, ['--ignore-column', 'a|b, c,d']],
  ['a delimiter of its own', 'productNumber^name\nA^Desk\n', {}, ['--delimiter', '^']],
  ['another delimiter than its sep=', 'sep=;\nproductNumber\tname\nA\tDesk\n', {}, ['--delimiter', '\\t']],
  ['a list', 'productNumber,name,tags\nA,Desk, alu | slim |\n', { tags: ['alu', 'slim'] }],
  ['an empty list and no list', 'productNumber,name,tags,sizes\nA,Desk,|, \n', { tags: [] }],
  [
    'lists by another separator, and as JSON',
    'productNumber,name,tags,sizes\nA,Desk,alu / slim|x,"[""a"",""b / c""]"\n',
    { tags: ['alu', 'slim|x'], sizes: ['a', 'b / c'] },
    ['--list-separator', ' / '],
  ],
  [
    'numbers and amounts with a point',
    'productNumber;name;packs;kilos;fee;isOak;stockQuantity\nA;Desk;-0012;12.500;1.234;no;0.30000000000000004\n',
    { packs: -12, kilos: 12.5, fee: '1.234', isOak: false, stockQuantity: 0.30000000000000004 },
  ],
  [
    'numbers and amounts with a comma',
    'productNumber;name;kilos;fee;isOak\nA;Desk;2,5;1,234;YES\n',
    { kilos: 2.5, fee: '1.234', isOak: true },
    ['--decimal', ','],
  ],
  [
    'columns of other names, those that the service fills too',
    'Variant SKU,id,createdAt\n A ,EXT-9,2026-01-31\n',
    { name: 'EXT-9', validFrom: '2026-01-31' },
    words(`--map ' id = name ' --map createdAt=validFrom --map 'Variant SKU=productNumber'`),
  ],
  [
    'members of other names in NDJSON, of which some lines have each',
    '{"SKU":"A","id":"EXT-9","Note":"y"}\n{"SKU":"B"}\n',
    { name: 'EXT-9' },
    ['--map', 'SKU=productNumber', '--map', 'id=name', '--ignore-column', 'Note'],
  ],
])('push reads a file with %s', async (_, text, product, flags = []) => {
  const name = nameOf(text);
  const { sandbox, env, file } = withFile(text, { name, ...STORE });
  const custom = ['packs:integer', 'kilos:number', 'fee:money', 'isOak:boolean', 'sizes:array'];
  const kinds = custom.flatMap((field) => ['--custom-field', field]);
  // The file last, so that no option may take it for a value of its own.
  const args = ['--key', 'productNumber', '--yes', ...kinds, ...flags, file(name)];
  const { code, log } = await run(env, ['push', ...args]);
  expect([code, log]).toEqual([0, expect.not.stringContaining('Warning')]);
  expect(products(sandbox)[0]).toMatchObject({ productNumber: 'A', name: 'Desk', ...product });
});

const LONG = 'x'.repeat(1_000_001);

test.each<[what: string, text: string, reason: RegExp, flags?: readonly string[]]>([
  [
    'thousands and a decimal comma',
    'productNumber;packs;kilos;salePrice\nA;1.000;1.129,00;1.234\nB;;;\n',
    /packs: "1.000" is not .*kilos: "1.129,00" is not .*salePrice: "1.234" is not /,
    ['--decimal', ','],
  ],
  [
    'a point and thousands',
    'productNumber;packs;kilos;salePrice\nA;2.5;1,234;1,234.50\nB;;;\n',
    /packs: "2.5" is not .*kilos: "1,234" is not .*salePrice: "1,234.50" is not /,
  ],
  ['too many digits', 'productNumber,stockQuantity\nA,9007199254740993\nB,\n', /: .*more digits than a JSON/],
  ['too many digits in JSON', 'productNumber,extra\nA,[1e400]\nB,\n', /: .*more digits than a JSON/],
  [
    'too many digits in NDJSON',
    '{"productNumber":"A","extra":[{"deep":9007199254740993}]}\n{"productNumber":"B"}\n',
    /: .*more digits than a JSON/,
  ],
  ['long texts', `productNumber,description\nA,${LONG}\nB,x\n`, /has 1,000,\d+ characters; at most/],
  [
    'long texts in NDJSON',
    `{"productNumber":"A","tags":["${LONG}"]}\n{"productNumber":"B"}\n`,
    /has 1,000,\d+ characters; at most/,
  ],
  ['a code that a spreadsheet rounded', 'upcCode,productNumber\n"8,71E+12",A\n7,B\n', /column as text/],
  [
    'such a code in NDJSON',
    '{"productNumber":"A","ean":"8.7E+12"}\n{"productNumber":"B"}\n',
    /column as text/,
  ],
])('push sends the other rows of a file with %s', async (_, text, reason, flags = []) => {
  const { sandbox, push } = withFile(text, { name: nameOf(text), ...STORE });
  const kinds = ['packs:integer', 'kilos:number', 'extra:json'].flatMap((kind) => ['--custom-field', kind]);
  const { log } = await ends(push('--yes', ...kinds, ...flags), 9, reason);
  expect(log).toMatch(/^line [12], A: /m);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'B' }]);
});

test.each([
  ['productNumber,name,ean,brand\nA,"",0012,\n', [], { name: '', ean: '0012', brand: 'Oak' }],
  ['"productNumber","name","brand"\n"A","",""\n', [], { name: 'Desk', brand: 'Oak' }],
  ['productNumber,name,ean,brand\nA,"",,\n', ['--empty', 'clear'], { name: '', ean: null, brand: null }],
])('push tells an empty text from an empty cell: %j %j', async (text, flags, expected) => {
  const existing = [{ productNumber: 'A', name: 'Desk', brand: 'Oak', salePrice: '5.0000' }];
  const { sandbox, push } = withFile(text, { existing });
  expect((await push('--yes', ...flags)).code).toBe(0);
  expect(products(sandbox)).toMatchObject([expected]);
});

test('push warns once of lists that it read as one text, and names the row', async () => {
  const text = 'productNumber,tags\nA,x\nB,"alu, slim"\nC,a;b\n';
  const { code, log } = await withFile(text).push('--yes');
  const said =
    /^Warning: line 3, tags: "alu, slim" is one text of a list \(and 1 more row\): .* --list-separator/m;
  expect([code, log, log.match(/Warning/g)]).toEqual([0, expect.stringMatching(said), ['Warning']]);
  expect((await withFile(text).push('--yes', '--list-separator', '|')).log).not.toContain('Warning');
});

test.each<[flags: readonly string[], reason: string]>([
  [['--delimiter', '::'], 'Give one character, or tab.'],
  [['--custom-field', 'name:number'], 'name is a documented field'],
  [['--custom-field', 'colour:color'], 'The kinds are string, money'],
  [['--map', 'SKU=name', '--map', 'SKU=brand'], 'another --map'],
  [['--map', 'id=name', '--ignore-column', ' id'], '--ignore-column'],
])('push rejects %j', async (flags, reason) => {
  const running = withFile('productNumber,SKU,id\nA,B,C\n').push('--yes', ...flags);
  await ends(running, 2, reason);
});

const CAFE = 'productNumber,name\nA,Café\n';

test.each<[what: string, reason: RegExp, text: string | Buffer, maps?: string[]]>([
  [
    'unknown columns',
    /"nam" \(did you mean name\?\), "Kleur", which .*\n.*same command again:\n {2}--map nam=name --map Kleur=FIELD\n {2}--ignore-column nam --ignore-column Kleur\n {2}--custom-field nam:integer --custom-field Kleur:string$/m,
    'productNumber,nam,Kleur\nA,5,x\n',
  ],
  ['a mapped column that is unknown', /Correct --map, or /, 'productNumber,colour\nA,7\n', ['colour=code']],
  ['a column twice', /the field name 2 times: "name", "name"\./, 'productNumber,name,name\nA,5,6\n'],
  ['no key column', /no column productNumber/, 'name\nA\n'],
  ['too many cells', /line 3 has "z" in cell 4, but .* 2 columns/, 'productNumber,name\nA,x\nB,y,,z\n'],
  [
    'a title with line breaks',
    /line 2 is no header: .*\n.* on line 5/,
    '\n"a\nb";;\nx;y;z\n"productNumber"\n',
  ],
  ['an open quote', /row on line 4, cell 2: .* never closed/, 'productNumber,name\r\nA,"x\r\ny"\r\nB,"x\r\n'],
  ['a quote in a cell', /line 3, cell 1: it has a quote but does not begin/, 'productNumber,name\n\nA"B,x\n'],
  [
    'a decimal comma',
    /line 3 has the \w+ "1\.234,567", with a decimal comma\.\n.*Pass --decimal , to read it, or --decimal \. /,
    'productNumber;salePrice\nA;1.234\nB;1.234,567\n',
  ],
  ['no content', /is empty/, ''],
  ['Latin-1', /it is not UTF-8\.\n.*\n {2}iconv -f WINDOWS-1252 .*\.csv$/m, Buffer.from(CAFE, 'latin1')],
  ['UTF-16', /it is UTF-16\.(?:.|\n)*iconv -f UTF-16LE /, Buffer.from(CAFE, 'utf16le')],
  ['big-endian UTF-16', /UTF-16\.(?:.|\n)*iconv -f UTF-16BE /, Buffer.from(CAFE, 'utf16le').swap16()],
  ['NDJSON under the name of CSV', /it is NDJSON\.\n.*Pass --format ndjson/, '{"productNumber":"A"}\n'],
  ['a JSON list', /it is a JSON list\.(?:.|\n)*jq -c '\.\[\]'/, ' [\n{}]'],
  ['JSON of one line', /it is a JSON document\.(?:.|\n)*jq /, '{"products":[{"ean":"1"}]}'],
  ['HTML', /it is XML or HTML\.\n.*xq.*\n {2}xq -c /, '<!DOCTYPE html>\n<html>'],
  ['gzip', /by gzip\.(?:.|\n)*gunzip -c \S+a\.csv > converted\.csv$/m, gzipSync(CAFE)],
  ['.xlsx', /\(\.xlsx.*\n.*"CSV UTF-8".*\n {2}soffice /, Buffer.from('PK\x03\x04[Content_Types].xml')],
  ['no column of --map', /no column "X", which --map names/, 'productNumber\nA\n', ['X=name']],
])('push writes nothing for a file with %s', async (_, reason, text, maps = []) => {
  const { sandbox, push } = withFile(text, { name: 'a.csv' });
  const { log } = await ends(push('--yes', ...maps.flatMap((map) => ['--map', map])), 7, reason);
  expect(log).toMatch(/^Nothing was written\. .*[.:]$/m);
  expect(sandbox.journal).toEqual([]);
});

test.each<[what: string, reason: RegExp, text: string, maps?: string[]]>([
  ['an unknown field', /line 1 names "nam" \(did you mean name\?\)/, '{"productNumber":"A","nam":"x"}\n'],
  ['a torn line', /line 2 is not a JSON object/, '{"productNumber":"A"}\n{"productNum'],
  ['a member twice', /line 1 names the field name 2 times/, '{"na\\u006de":1,"name":"z"}\n'],
  ['a field twice', /line 1 names the field name 2 times/, '{"name":"x","Title":"y"}\n', ['Title=name']],
  ['no member of --map', /no line names "X", which --map/, '{"productNumber":"A"}\n', ['X=name']],
])('push writes nothing for NDJSON with %s', async (_, reason, text, maps = []) => {
  const { sandbox, push } = withFile(text, { name: 'a.ndjson' });
  const { code, log } = await push('--yes', ...maps.flatMap((map) => ['--map', map]));
  expect([code, log, sandbox.journal]).toEqual([7, expect.stringMatching(reason), []]);
});

test('push advises the kind of each unknown field, in a command that works when it is pasted into a shell', async () => {
  const columns: readonly (readonly [kind: string, cells: readonly string[], json?: string])[] = [
    ['integer', ['5', '7'], '5'],
    ['number', ['5', '2.5'], '2.5'],
    ['money', ['5.00', '2.5']],
    ['boolean', ['true', 'false'], 'true'],
    ['string', ['007', 'true'], 'null'],
    ['string', ['', '']],
    ['array', ['"[""S"",""M""]"', '[]'], '["S"]'],
    ['json', ['[1]', '{}'], '{"a":1}'],
  ];
  const odd = `-y, 5" or 6' $price \`cost\`\there \\n:integer`;
  const header = ['productNumber', `"${odd.replaceAll('"', '""')}"`, ...columns.map((_, at) => `f${at}`)];
  const rows = [0, 1].map((row) => [`P${row}`, 'x', ...columns.map(([, cells]) => cells[row])]);
  const { sandbox, push } = withFile([header, ...rows].map((row) => `${row.join()}\n`).join(''), STORE);
  const advised = (log: string) => words(/^ {2}(--custom-field .*)$/m.exec(log)?.[1] ?? '');
  const { code, log } = await push('--yes');
  const kinds = columns.map(([kind], at) => `f${at}:${kind}`);
  expect(code).toBe(7);
  expect(words(/^ {2}(--ignore-column .*)$/m.exec(log)?.[1] ?? '')[1]).toBe(odd);
  expect(advised(log).filter((_, at) => at % 2)).toEqual([`${odd}:string`, ...kinds]);
  expect((await push('--yes', ...advised(log))).code).toBe(0);
  expect(products(sandbox)).toMatchObject([{ [odd]: 'x', f2: '5.00' }, {}]);

  const ndjson = columns.flatMap(([, , json], at) => (json === undefined ? [] : [`"f${at}":${json}`]));
  const line = withFile(`{"productNumber":"A",${ndjson.join()}}\n`, { name: 'a.ndjson' });
  const known = kinds.filter((_, at) => columns[at]?.[2] !== undefined);
  expect(advised((await line.push('--yes')).log).filter((_, at) => at % 2)).toEqual(known);
});

/** Values that a file, a spreadsheet or JavaScript could change. */
const DELICATE: readonly Readonly<Record<string, unknown>>[] = [
  { name: '', brand: null, description: 'two\r\nlines, "quoted"; a|b\u2028' },
  { name: ' x ', brand: '=1+1', description: '\ufeffé 😀 \\ud83d', ean: '0012' },
  { tags: ['a|b', 'c, d', ''], stockDocumentTypes: [], isWebShop: false, isSaleItem: true },
  { stockQuantity: 0.30000000000000004, stockMinimalQuantity: 1e-7, salePriceDecimals: -2 },
  { salePrice: '-0.1000', saleRrpPrice: '123456789012345678.12345678', tags: ['alu, slim'] },
  { packs: 5, isOak: true, sizes: ['S', 'M'], shape: { a: [{ b: null }] }, grade: '', depthMm: 2.5 },
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
});

test('pull names the record with half of a surrogate pair, which CSV cannot keep', async () => {
  const { sandbox, env, file } = withFile('');
  sandbox.store.products.insert({ name: 'half \ud83d' });
  const csv = run(env, ['pull', 'products', '--out', file('a.CSV')]);
  await ends(csv, 0, /^Warning: name of the record "1" has half of a surrogate pair/m);
  expect((await run(env, ['pull', 'products', '--out', file('b')])).log).not.toContain('Warning');
});
