import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { products, withFile } from './support/products-file.ts';
import { ends, run } from './support/run.ts';
import { words } from './support/shell.ts';

const STORE = { unknownFields: 'store' } as const;
const BOOLEANS = { isStockItem: true, isWebShop: false };

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
  ['booleans of psql', 'productNumber,name,isStockItem,isWebShop\nA,Desk,t,f\n', BOOLEANS],
  ['booleans of a column of floats', 'productNumber,name,isStockItem,isWebShop\nA,Desk,1.0,0.0\n', BOOLEANS],
  [
    'booleans of other programs',
    'productNumber,name,isStockItem,isWebShop\nA,Desk,Y, TRUE\n',
    { isStockItem: true, isWebShop: true },
  ],
  [
    'booleans and lists of SQLite in NDJSON',
    '{"productNumber":"A","name":"Desk","isStockItem":1,"isWebShop":0,"tags":"[\\"alu\\",\\"slim\\"]"}\n',
    { ...BOOLEANS, tags: ['alu', 'slim'] },
  ],
  [
    'a column twice',
    'productNumber,name,name,EAN\nA,Desk,Lamp,1\n',
    { ean: null },
    words('--ignore-column name --ignore-column EAN'),
  ],
  [
    'a mapped column three times',
    'SKU,SKU,Note,name,Note,SKU\nA,B,x,Desk,y,C\n',
    {},
    words('--map SKU=productNumber --ignore-column SKU --ignore-column Note'),
  ],
  ['a name with an equals sign', 'productNumber,a=b\nA,Desk\n', {}, ['--map', 'a=b=name']],
  [
    'names in padded columns',
    'productNumber  ,name     \nA              ,Desk     \nB              ,Table    \n',
    {},
  ],
  [
    'a code in padded columns',
    'productNumber,ean\nA   ,012345678905 \nBB  ,4006381333931\n',
    { name: null, ean: '012345678905' },
  ],
  [
    'names of columns in its cells',
    'productNumber,name,brand,model,type,color\nA,Desk,productNumber,name,x,y\nB,brand\n',
    { brand: 'productNumber' },
  ],
  ['whole numbers of a column of floats', 'productNumber,name,packs\nA,Desk,2.0\n', { packs: 2 }],
  [
    'whole numbers of a column of floats with commas',
    'productNumber;name;packs\nA;Desk;-2,0\n',
    { packs: -2 },
    ['--decimal', ','],
  ],
  [
    'lists by another separator under the name of NDJSON',
    'productNumber;name;tags\nA;Desk;alu,slim\n',
    { tags: ['alu', 'slim'] },
    words('--format csv --list-separator , --delimiter ";"'),
  ],
  ['padded members in NDJSON', '{"SKU ":"A","name\u00a0 ":"Desk"}\n', {}, ['--map', 'SKU=productNumber']],
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
  [
    'long texts',
    `productNumber,description\nA,${LONG}\nB,x\n`,
    /has 1,000,001 characters; at most 1,000,000 characters are sent/,
  ],
  [
    'long texts in NDJSON',
    `{"productNumber":"A","tags":["${LONG}"]}\n{"productNumber":"B"}\n`,
    /has 1,000,005 characters; at most 1,000,000 characters are sent/,
  ],
  ['a code that a spreadsheet rounded', 'upcCode,productNumber\n"8,71E+12",A\n7,B\n', /column as text/],
  [
    'such a code in NDJSON',
    '{"productNumber":"A","ean":"8.7e+12"}\n{"productNumber":"B"}\n',
    /column as text/,
  ],
  [
    'a code as Java writes a float',
    'productNumber,ean\nA,4.006381333931E12\nB,1E5\n',
    /ean: ".*E12" is a num/,
  ],
  ['a word for no value in a code', 'productNumber,ean\nA,NULL\nB,7\n', /ean: "NULL" is what a program/],
  ['a quoted word for no value', 'productNumber,articleCode\nA,"nan"\nB,7\n', /"nan" is what a program/],
  [
    'a decimal in place of a whole number',
    'productNumber,packs\nA,2.50\nB,3.0\n',
    /packs: "2.50" is not a wh/,
  ],
  ['a typographic apostrophe', 'productNumber,ean\nA,’0012\nB,7\n', /ean: "’0012" begins with an apostrophe/],
  [
    'a number in a text of NDJSON',
    '{"productNumber":"A","ean":12}\n{"productNumber":"B"}\n',
    /: ean: must be a s/,
  ],
  [
    'an apostrophe that may be a part of a code',
    `productNumber,ean\nA,'x y\nB,7\n`,
    /ean: "'x y" begins with an ap/,
  ],
  ['a quoted apostrophe', `ean,productNumber\n"'0012",A\n7,B\n`, /ean: "'0012" begins with an apostrophe/],
  [
    'an apostrophe in NDJSON',
    `{"productNumber":"A","ean":"'1"}\n{"productNumber":"B"}\n`,
    /begins with an ap/,
  ],
  ['a formula in place of a code', 'productNumber,ean\nA,=B2&C2\nB,7\n', /ean: "=B2&C2" is a formula/],
  ['an error in place of a code', 'productNumber,articleCode\nA,#N/A\nB,7\n', /"#N\/A" is an error of a spr/],
  ['a code among decimals', 'productNumber,hsnCode\nA,1.0\nB,\nC,1.25\n', /hsnCode: "1\.0" may be a number/],
  ['a code that a float rounded', 'productNumber,ean\nA,9007199254740993.0\nB,\n', /may be a number/],
  ['a code with zeros', 'productNumber,ean\nA,0012.0\nB,\n', /may be a number/],
  [
    'booleans that are members of every object',
    'productNumber,isOak,isWebShop\nA,__proto__,constructor\nB,,\n',
    /isOak: "__proto__" is not true or false.*isWebShop: "constructor" is not true or false/,
  ],
  [
    'a list of Python',
    `productNumber,tags\nA,"['alu', 'slim']"\nB,\n`,
    /tags: .* is not a list such as a\|b, or in JSON \["a","b"\]/,
  ],
])('push sends the other rows of a file with %s', async (_, text, reason, flags = []) => {
  const { sandbox, push } = withFile(text, { name: nameOf(text), ...STORE });
  const fields = ['packs:integer', 'kilos:number', 'isOak:boolean', 'extra:json'];
  const kinds = fields.flatMap((field) => ['--custom-field', field]);
  const { log } = await ends(push('--yes', ...kinds, ...flags), 9, reason);
  expect(log).toMatch(/^line [12], A: /m);
  expect(products(sandbox)[0]).toMatchObject({ productNumber: 'B' });
});

test.each<[text: string, flags: string, expected: object, cleared?: string]>([
  [
    'productNumber,name,ean,brand\nA,"",0012,\n',
    '',
    { name: '', ean: '0012', brand: 'Oak' },
    'Warning: "" or blanks clear a text in 1 cell: line 2, A: name. Pass --empty ignore to keep the texts.',
  ],
  [
    'productNumber,name,brand,model\nZ,"",,\nA,"","",""\n',
    '--dry-run',
    { name: 'Desk', brand: 'Oak' },
    'Warning: "" or blanks clear a text in 2 cells: line 3, A: name; line 3, A: brand.',
  ],
  ['productNumber,name,brand\nA,"",\n', '--empty ignore', { name: 'Desk', brand: 'Oak' }],
  ['productNumber,name,brand\nA, ,"="""""\n', '--empty ignore', { name: 'Desk', brand: 'Oak' }],
  [
    'productNumber,name,brand\nA,\u00a0,"  "\n',
    '--dry-run',
    { name: 'Desk', brand: 'Oak' },
    'Warning: "" or blanks clear a text in 2 cells: line 2, A: name; line 2, A: brand.',
  ],
  ['productNumber,name,brand\nA,,""\n', '--empty ignore --dry-run', { name: 'Desk', brand: 'Oak' }],
  ['"productNumber","name","brand",\n"A","","",\n', '', { name: 'Desk', brand: 'Oak' }],
  ['productNumber,name,ean,brand\nA,"",,\n', '--empty clear', { name: '', ean: null, brand: null }],
  ['productNumber,salePrice,tags\nA,"",""\n', '', { salePrice: '5.0000' }],
  [
    '{"productNumber":"A","name":"","brand":null}\n',
    '--dry-run',
    { name: 'Desk', brand: 'Oak' },
    'Warning: "" or blanks clear a text in 1 cell: line 1, A: name. Pass --empty ignore to keep the texts.',
  ],
  ['{"productNumber":"A","name":"","brand":" "}\n', '--empty ignore', { name: 'Desk', brand: 'Oak' }],
  ['{"productNumber":"A","name":"","brand":null}\n', '--empty ignore', { name: 'Desk', brand: 'Oak' }],
  ['{"productNumber":"A","name":"","brand":null}\n', '--empty clear', { name: '', brand: null }],
])('push tells an empty text from an empty cell: %j %s', async (text, flags, expected, cleared) => {
  const existing = [{ productNumber: 'A', name: 'Desk', brand: 'Oak', salePrice: '5.0000' }];
  const { sandbox, push } = withFile(text, { name: nameOf(text), existing });
  const { code, log } = await push('--yes', ...words(flags));
  expect([code, log.match(/"" or blanks clear/g)?.length ?? 0]).toEqual([0, cleared === undefined ? 0 : 1]);
  expect(log).toContain(cleared ?? '');
  expect(products(sandbox)).toMatchObject([expected]);
});

test('push warns once of each kind of list that it read as one text, and names the row', async () => {
  const lists = 'B,"alu, slim"\nC,a;b\nD,"alu\nslim"\nE,"a\r\nb, c"\nF,"{""a"":1}"\nG,"{alu,slim}"\n';
  const text = `productNumber,tags\nA,x\nH,"alu|s;im"\nI,"[""a,b""]"\n${lists}`;
  const { code, log } = await withFile(text).push('--yes');
  const warnings = log.split('\n').filter((line) => line.startsWith('Warning: '));
  expect([code, warnings]).toEqual([
    0,
    [
      expect.stringMatching(
        / line 5, tags: "alu, slim" is one text .* \(and 1 more row\): .* --list-separator/,
      ),
      expect.stringMatching(
        / line 7, tags: "alu\\nslim" is one text .* \(and 1 more row\): .* no line break\.$/,
      ),
      expect.stringMatching(
        / line 11, tags: "\{\\"a\\":1\}" is one text .* \(and 1 more row\): .* begins with "\["/,
      ),
    ],
  ]);
  expect((await withFile(text).push('--yes', '--list-separator', '|')).log).not.toContain('Warning');
});

test.each<[what: string, text: string, product: object, said: RegExp, flags?: string]>([
  [
    'an apostrophe',
    `productNumber,ean\nA,'0012\n`,
    { ean: '0012' },
    /^1 cell that began with an apostrophe.*: line 2, ean: "'0012"\.$/m,
  ],
  ['an apostrophe before a key', `productNumber\n'A-1\n`, { productNumber: 'A-1' }, /apostrophe/],
  [
    'apostrophes in texts',
    `productNumber,name,brand\n1,'0012,'=1+1\n`,
    { name: '0012', brand: '=1+1' },
    /^2 cells .*apostrophe.*: "'0012" and 1 more\.$/m,
  ],
  [
    'apostrophes in a file that quotes every cell',
    `"productNumber","ean"\n"1","'0012"\n`,
    { ean: '0012' },
    /apostrophe/,
  ],
  [
    'a formula',
    'productNumber,ean,name\n"=""01""","=""0012""","=""5"""\n',
    { productNumber: '01', ean: '0012' },
    /^3 cells of the form =.* and 2 more\.$/m,
  ],
  [
    'a formula that is not quoted',
    'productNumber;ean;name\r\n="01";="0012";"a;=""x"";b"\r\n="2";="00;1"',
    { productNumber: '01', ean: '0012', name: 'a;="x";b' },
    /^4 cells of the form =.* and 3 more\.$/m,
  ],
  [
    'a tab',
    'productNumber,ean,name\n"\t01","\t0012",\t77\n',
    { productNumber: '01', ean: '0012', name: '77' },
    /^3 cells that began with a tab/m,
    '--delimiter ,',
  ],
  [
    'a point',
    'productNumber,ean,brand\n12.0,4006381333931.0,7.0\n',
    { productNumber: '12', ean: '4006381333931', brand: '7' },
    /^3 cells with a code as a decimal.*: line 2, productNumber: "12\.0" and 2 more/m,
  ],
  [
    'a comma',
    'ean;productNumber\n4006381333931,0;X\n',
    { ean: '4006381333931' },
    /code as a decimal/,
    '--decimal ,',
  ],
  [
    'blanks',
    'productNumber,name,brand\nA,Desk      ,Oak\nB,Side table,\n',
    { name: 'Desk' },
    /^1 cell filled up with blanks/m,
  ],
])('push reads a code or text with %s, and says so once', async (_, text, product, said, flags = '') => {
  const existing = [{ ...product, salePrice: '1.0000' }];
  const known = 'productNumber' in product;
  const { sandbox, push } = withFile(text, { existing: known ? existing : [] });
  const { code, log } = await push('--yes', ...words(flags));
  expect([code, log]).toEqual([0, expect.stringMatching(said)]);
  // It finds the product that has the code.
  expect(products(sandbox)[0]).toMatchObject({ ...product, ...(known ? { salePrice: '1.0000' } : {}) });
});

test('push reads every row of a long file, and a formula that is not quoted wherever a piece of it ends', async () => {
  const row = (at: number) => `="P${at}";="${'x'.repeat(300)}"\n`;
  const { push } = withFile(
    `productNumber;name\n${Array.from({ length: 1_200 }, (_, at) => row(at)).join('')}`,
  );
  await ends(push('--dry-run'), 0, /^1,200 rows: 1200 to create.*\n2,400 cells of the form =/);
});

test.each([
  [
    'texts',
    `productNumber,name,brand,model,depth,labels\nA,"'t Hof",'s-Gravenhage,'90s,12.0,"'0012"\n`,
    { name: `'t Hof`, brand: `'s-Gravenhage`, model: `'90s`, depth: '12.0', labels: `'0012` },
  ],
  ['decimals', 'productNumber,model\nA,2.0\nB,2.5\n', { model: '2.0' }],
  ['a quoted number', 'productNumber,model\nA,"2.0"\n', { model: '2.0' }],
  [
    'blanks that are meant',
    'productNumber,name,brand\nA,Desk ,"Oak  "\nB,Lamp2,"Birch"\n',
    { name: 'Desk ', brand: 'Oak  ' },
  ],
  ['codes in NDJSON', `{"productNumber":"A","name":"'12","brand":"2.0"}\n`, { name: `'12`, brand: '2.0' }],
])('push leaves %s as they are', async (_, text, product) => {
  const { sandbox, push } = withFile(text, { name: nameOf(text) });
  const { code, log } = await push('--yes');
  expect([code, log.split('\n').length]).toEqual([0, 2]);
  expect(products(sandbox)[0]).toMatchObject(product);
});

test.each<[flags: readonly string[], reason: string]>([
  [['--delimiter', '::'], 'Give one character, or tab.'],
  [['--custom-field', 'name:number'], 'name is a documented field'],
  [['--custom-field', 'colour:color'], 'The kinds are string, money'],
  [['--map', 'SKU=name', '--map', 'SKU=brand'], 'another --map'],
  [['--map', 'id=name', '--ignore-column', ' id'], '--ignore-column'],
  [['--map', 'SKU=createdAt'], 'createdAt, which the service fills: it cannot be written'],
  [['--map', 'SKU= id'], 'Pass --ignore-column SKU'],
  [['--custom-field', 'updatedAt:timestamp'], 'updatedAt is filled by the service: it cannot be written'],
])('push rejects %j', async (flags, reason) => {
  const running = withFile('productNumber,SKU,id\nA,B,C\n').push('--yes', ...flags);
  await ends(running, 2, reason);
});

/** The one message for a file that is no table, which names no spreadsheet. */
const NEITHER = /it is neither CSV nor NDJSON\.\n(?!.*soffice).*jq -c .* archive are pushed one by one\.$/m;
/** Every value as it is, and no file beside the spreadsheet overwritten. */
const SPREADSHEET =
  /it is a spreadsheet\.\n.*"CSV UTF-8".* as it shows them: .*\n {2}soffice --headless .*:44,34,76,1,,0,false,true,false" --outdir converted \S+a\.csv$/m;

test.each([
  [
    'columns without a field',
    'productNumber,name,Image Src\nA,Desk,1.png\n,,2.png\n,"",3.png\n',
    '--ignore-column "Image Src"',
  ],
  ['empty cells alone', 'productNumber,name\nA,Desk\n,\n , \n', ''],
  ['cells to clear', 'productNumber,name\nA,Desk\n,\n,\n', '--empty clear'],
  ['members without a value', '{"productNumber":"A"}\n{"productNumber":"","name":null}\n{}\n', ''],
  [
    'a custom field',
    'productNumber,name,Image Src\nA,Desk,1.png\n,,2.png\n,"",3.png\n',
    '--custom-field "Image Src"',
  ],
  [
    'a custom field of NDJSON',
    '{"productNumber":"A","image":"1.png"}\n{"image":"2.png"}\n{"name":null,"image":"3.png"}\n',
    '--custom-field image',
  ],
])('push skips and counts rows that have no value in a field, but %s', async (_, text, flags) => {
  const { sandbox, push } = withFile(text, { name: nameOf(text) });
  const said =
    /^1 row: 1 created, 0 updated, 0 unchanged\.\n2 rows without a value .*: line [23] and 1 more\.$/m;
  await ends(push('--yes', ...words(flags)), 0, said);
  expect(products(sandbox)).toHaveLength(1);
});

test('push skips no row that has a custom field as its key', async () => {
  const { env, file } = withFile('sku,name\nA,\n', STORE);
  const args = words('--key sku --custom-field sku --yes');
  await ends(run(env, ['push', file('products.csv'), ...args]), 0, '1 row: 1 created');
});

test.each([
  ['--decimal', ','],
  ['--delimiter', ';'],
  ['--list-separator', ','],
])('push rejects %s for NDJSON, where it has no effect', async (flag, value) => {
  const text = '{"productNumber":"A"}\n';
  const { sandbox, push } = withFile(text, { name: 'a.jsonl' });
  const said = `${flag} has no effect with NDJSON.\nLeave out ${flag}.`;
  await ends(push('--yes', flag, value), 2, said);
  await ends(withFile(text).push('--yes', flag, value, '--format', 'ndjson'), 2, said);
  expect(sandbox.count()).toBe(0);
});

test('push fails a row that has values, but no key', async () => {
  await ends(withFile('productNumber,name\nA,Desk\n,Lamp\n').push('--yes'), 9, /^line 3: .* no key/m);
});

test('push names an invalid cell of a row whose key is the name', async () => {
  const pushed = withFile('name,salePrice\nDesk,none\n').push('--yes', '--key', 'name');
  await ends(pushed, 9, /^line 2, Desk: invalid_input: salePrice: "none" is not /m);
});

test('push leaves out a member without a name, and says so', async () => {
  const text = '{"productNumber":"A","":""}\n{"productNumber":"B","":"x"}\n';
  const { sandbox, push } = withFile(text, { name: 'a.ndjson' });
  await ends(push('--yes'), 0, '2 rows with a member without a name, read without it: line 1 and 1 more.');
  expect(products(sandbox)).toHaveLength(2);
});

const CAFE = 'productNumber,name\nA,Café\n';

test.each<[what: string, reason: RegExp, text: string | Buffer, maps?: string[]]>([
  [
    'unknown columns',
    /"nam" \(did you mean name\?\), "Kleur", which .*\n.*same command again:\n {2}--map nam=name --map Kleur=FIELD\n {2}--ignore-column nam --ignore-column Kleur\n {2}--custom-field nam:integer --custom-field Kleur:string$/m,
    'productNumber,nam,Kleur\nA,5,x\n',
  ],
  [
    'an exclamation mark and a percent sign in names',
    /--ignore-column 'Sale!' --ignore-column 'VAT %'$/m,
    'productNumber,Sale!,VAT %\nA,1,2\n',
  ],
  ['a mapped column that is unknown', /Correct --map, or /, 'productNumber,colour\nA,7\n', ['colour=code']],
  [
    'a column twice',
    /the field name 2 times: "name", "name"\.\n.* all but the first with --ignore-column name,/,
    'productNumber,name,name\nA,5,6\n',
  ],
  [
    'two columns of one field',
    /the field name 2 times: "name", "Title"\.\n.* all but one with --ignore-column, or correct --map /,
    'productNumber,name,Title\nA,5,6\n',
    ['Title=name'],
  ],
  [
    'a header again',
    /line 3 is a header again.*\n.* by itself/,
    'productNumber,name\nA,x\nproductNumber,name\n',
  ],
  [
    'a header again in another case',
    /line 3 is a header/,
    'productNumber,name,\nA,x\n PRODUCTNUMBER , Name\nB,\n',
  ],
  [
    'a header again behind a byte order mark',
    /line 3 is a/,
    'productNumber,name\nA,x\n\uFEFFproductNumber,name\n',
  ],
  [
    'a header again of mapped columns',
    /line 3 is a/,
    'SKU,name\nA,x\nSKU,name\nB,y\n',
    ['SKU=productNumber'],
  ],
  [
    'a header again by its fields',
    /line 3 is a/,
    'SKU,name\nA,x\nproductNumber,name\n',
    ['SKU=productNumber'],
  ],
  [
    'a header again in another order',
    /line 3 is a/,
    'productNumber,name,ean\nA,x\nname,productNumber\nx,B\n',
  ],
  [
    'a header again with other columns',
    /line 3 is a/,
    'productNumber,name,ean\nA\nproductNumber,name,brand\n',
  ],
  [
    'a header again with another delimiter',
    /line 3 is a/,
    'productNumber,name\nA,x\nname;productNumber\nx;B\n',
  ],
  ['a header again with more columns', /line 3 is a/, 'productNumber,name\nA,x\nproductNumber,name,brand\n'],
  [
    'a header again in another layout',
    /line 3 is a/,
    'productNumber,name,brand\nA,x\nsku,productNumber,name\nx,B\n',
  ],
  [
    'a header again behind a byte order mark, in quotes',
    /line 3 is a header again/,
    '\uFEFF"productNumber","name"\n"A","x"\n\uFEFF"productNumber","name"\n',
  ],
  ['a header again of one column', /line 3 is a header again/, 'productNumber\nA\nproductNumber\nB\n'],
  ['no key column', /no column productNumber/, 'name\nA\n'],
  ['one cell too many', /line 2 has "oak" in cell 3, but .* 2 columns/, 'productNumber,name\nA,Desk,oak\n'],
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
  [
    'Latin-1 far behind its beginning',
    /it is not UTF-8\./,
    Buffer.from(`productNumber,name\n${`A,${'x'.repeat(20_000)}\n`.repeat(20)}B,Café\n`, 'latin1'),
  ],
  ['half of its last character', /it is not UTF-8\./, Buffer.from('productNumber,name\nA,é').subarray(0, -1)],
  ['UTF-16', /it is UTF-16\.(?:.|\n)*iconv -f UTF-16LE /, Buffer.from(CAFE, 'utf16le')],
  ['big-endian UTF-16', /UTF-16\.(?:.|\n)*iconv -f UTF-16BE /, Buffer.from(CAFE, 'utf16le').swap16()],
  ['NDJSON under the name of CSV', /it is NDJSON\.\n.*Pass --format ndjson/, '{"productNumber":"A"}\n'],
  ['a JSON list', NEITHER, ' [\n{}]'],
  ['JSON of one line', NEITHER, '{"products":[{"ean":"1"}]}'],
  ['JSON of several lines', NEITHER, '{\n  "productNumber": "A"\n}'],
  ['HTML', NEITHER, '<!DOCTYPE html>\n<html>'],
  ['XML', NEITHER, '<?xml version="1.0"?>\n<products/>'],
  ['gzip', NEITHER, gzipSync(CAFE)],
  ['zstd', NEITHER, Buffer.from('28b52ffd0458910000', 'hex')],
  ['a zip archive', NEITHER, Buffer.from('PK\x03\x04\x14\x00\x00\x00\x08\x00a.csv')],
  ['.xlsx', SPREADSHEET, Buffer.from('PK\x03\x04[Content_Types].xml')],
  ['.ods', SPREADSHEET, Buffer.from('PK\x03\x04mimetypeapplication/vnd.oasis.opendocument.spreadsheet')],
  ['.xls', SPREADSHEET, Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['no column of --map', /no column "X", which --map names\.$/m, 'productNumber\nA\n', ['X=name']],
  [
    'two columns in one --map',
    /names\. Repeat --map for each column\./,
    'A,B\n1,2\n',
    ['A=productNumber,B=name'],
  ],
])('push writes nothing for a file with %s', async (_, reason, text, maps = []) => {
  const { sandbox, push } = withFile(text, { name: 'a.csv' });
  const { log } = await ends(push('--yes', ...maps.flatMap((map) => ['--map', map])), 7, reason);
  expect(log).toMatch(/^Nothing was written\. .*[.:]$/m);
  expect(sandbox.journal).toEqual([]);
});

test.each<[what: string, reason: RegExp, text: string, maps?: string[]]>([
  ['an unknown field', /line 1 names "nam" \(did you mean name\?\)/, '{"productNumber":"A","nam":"x"}\n'],
  [
    'a header again',
    /line 2 is a header again/,
    '{"productNumber":"A","name":"x"}\n{"productNumber":"productNumber","name":"name"}\n',
  ],
  [
    'a header again of mapped members',
    /line 2 is a header/,
    '{"SKU":"A","name":"x"}\n{"SKU":"SKU","name":"name"}',
    ['SKU=productNumber'],
  ],
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
  { labels: "'0012", model: '2.0', remark: 'two\rlines', hsnCode: "0012'" },
  { name: ' x ', brand: '=1+1', description: '\ufeffé 😀 \\ud83d', ean: '0012' },
  { tags: ['a|b', 'c, d', ''], stockDocumentTypes: [], isWebShop: false, isSaleItem: true },
  { stockQuantity: 0.30000000000000004, stockMinimalQuantity: 1e-7, salePriceDecimals: -2 },
  { salePrice: '-0.1000', saleRrpPrice: '123456789012345678.12345678', tags: ['alu, slim'] },
  { packs: 5, isOak: true, sizes: ['S', 'M'], shape: { a: [{ b: null }] }, grade: '', depthMm: 2.5 },
  { packs: -7, isOak: false, sizes: [], shape: {}, grade: 'A', depthMm: 12345678901234.5, fee: '5.0000' },
  { big: '12345678901234567890', code: '007', exponent: '1e5' },
  // Every object has members of these names.
  { constructor: 'x', ['__proto__']: '007', toString: '' },
];

/** Texts that `push` reads as others in a file that is not of `pull`. */
const WRITTEN: readonly Readonly<Record<string, unknown>>[] = [
  { productNumber: '="0012"', model: 'A1  ', ean: 'NULL', upcCode: '1.000', hsnCode: '8,71E+12' },
  { productNumber: "'=1+1", model: 'B2  ', ean: "'12", name: '\t12', articleCode: '#N/A' },
  { name: '=""', model: 'C3  ', brand: "'-5", serialNumber: '="a', description: 'x,="a",y\n="b"' },
];

test('push of what pull wrote to CSV changes nothing of texts that look like those of other programs', async () => {
  const { sandbox, env, file, push } = withFile('');
  for (const [row, product] of WRITTEN.entries())
    sandbox.store.products.insert({ productNumber: `P-${row}`, ...product } as never);
  await ends(run(env, ['pull', 'products', '--out', file('products.csv')]), 0);
  await ends(push('--yes'), 0, /^3 rows: 0 created, 0 updated, 3 unchanged\./);
  expect(sandbox.journal).toEqual([]);
});

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
  expect([ended.code, ended.log]).toEqual([0, `10 rows: 0 created, 0 updated, 10 unchanged.\n`]);
  expect(sandbox.journal).toEqual([]);
});

test('pull names the record with half of a surrogate pair, which CSV cannot keep', async () => {
  const { sandbox, env, file } = withFile('');
  sandbox.store.products.insert({ name: 'half \ud83d' });
  const csv = run(env, ['pull', 'products', '--out', file('a.CSV')]);
  await ends(csv, 0, /^Warning: name of the record "1" has half of a surrogate pair/m);
  expect((await run(env, ['pull', 'products', '--out', file('b')])).log).not.toContain('Warning');
});
