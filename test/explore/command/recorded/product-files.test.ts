import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startEvenClock, useVirtualClock } from '../../../support/virtual-clock.ts';
import { folder, openSandbox, run } from '../support/run.ts';

useVirtualClock();

/** What a file is called if its name says nothing. */
const CSV = 'p.csv';
const NDJSON = 'p.ndjson';

const lines = (...texts: string[]) => `${texts.join('\n')}\n`;

/** Files by what is special about them: the text, flags, and a name. */
const FILES: Readonly<Record<string, readonly [text: string | Buffer, flags?: string, name?: string]>> = {
  // Values by kind.
  'each kind of field': [
    lines(
      'productNumber,name,salePrice,isSaleItem,stockQuantity,tags,validFrom,labels',
      'A-1,Desk,129,true,12,a|b,2026-01-31,x',
      'A-2,Lamp,-0.50,no,-3,"[""a"",""b""]",2026-01-31,x',
      'A-3,Sofa,1e3,T,2.0,one,2026-02-30,x',
      'A-4,Bed,,,,,,',
    ),
  ],
  'values that are invalid': [
    lines(
      'productNumber,salePrice,isSaleItem,stockQuantity,tags,validFrom',
      'A-1,1 000,maybe,1.5,[1,31-01-2026',
      'A-2,"1,000.00",2,12345678901234567890,"{""a"":1}",2026-1-31',
      'A-3,€ 5,-,1e3,"[{""a"":12345678901234567890}]",x',
    ),
  ],
  'a point and a comma': [
    lines(
      'productNumber;salePrice;stockQuantity',
      'A-1;129,00;3',
      'A-2;1.039,50;3',
      'A-3;129.00;3',
      'A-4;1,5e2;3',
    ),
    '--decimal ,',
  ],
  'a decimal comma without a flag': [lines('productNumber;salePrice', 'A-1;5', 'A-2;129,00')],
  'a decimal comma that is rejected': [
    lines('productNumber;salePrice', 'A-1;5', 'A-2;129,00'),
    '--decimal .',
  ],
  'what may be thousands': [lines('productNumber;salePrice', 'A-1;1,234')],
  'lists with other marks': [
    lines(
      'productNumber,tags',
      'A-1,"a, b"',
      'A-2,a;b',
      'A-3,"a\nb"',
      'A-4,"{a,b}"',
      'A-5,"a,b"',
      'A-6,|a||b|',
    ),
  ],
  'lists of another separator': [lines('productNumber,tags', 'A-1,"a, b"', 'A-2,a|b'), '--list-separator ,'],
  // Empty cells.
  'empty cells': [lines('productNumber,name,brand', 'E-1,,""', 'E-1b,"","  "', 'A-1,x,')],
  'empty cells that clear': [lines('productNumber,name,brand', 'E-1,,""', 'A-1,"",x'), '--empty clear'],
  'empty cells that are ignored': [
    lines('productNumber,name,brand', 'E-1,,""', 'A-1,"  ",x'),
    '--empty ignore',
  ],
  'empty cells in quotes everywhere': [lines('"productNumber","name","brand"', '"E-1","",""')],
  'rows without a value': [lines('productNumber,name', '', ',', 'A-1,x', ' , ', '"",""')],
  'rows without a key': [lines('productNumber,name', ',x', 'A-1,y')],
  // Codes.
  'codes as programs write them': [
    lines(
      'productNumber,ean,name,length',
      '\'0012,="0034",\'=1+1,12.0',
      '\t0013,12.0,7.0,1.5',
      '"\'0014",1.5E+12,\'s-Gravenhage,x',
      '=A1,nan,=B1,x',
      '#N/A,None,5,x',
      '0015.00,"0015.00",5,x',
      '1E5,1E+5,"=""0016""",x',
    ),
  ],
  'columns filled up with blanks': [
    lines('productNumber,name', 'A-1  ,Desk    ', 'A-22 ,Lamp    ', 'A-333,Sofa bed'),
  ],
  'blanks in some cells': [lines('productNumber,name', ' A-1 , Desk ', 'A-2,Lamp')],
  // Columns.
  'a column that is no field': [lines('productNumber,colour,size', 'A-1,red,1.50', 'A-2,blue,2.00')],
  'columns of other names': [
    lines('SKU,Titel,Prijs', 'A-1,Desk,5'),
    '--map SKU=productNumber --map Titel=name --map Prijs=salePrice',
  ],
  'a column of --map that is not there': [lines('productNumber,name', 'A-1,x'), '--map Titel=name'],
  'a --map to no field': [lines('productNumber,Titel', 'A-1,x'), '--map Titel=title'],
  'a --map to a field of the service': [lines('productNumber,x', 'A-1,1'), '--map x=id'],
  'a --map of a column that is ignored': [
    lines('productNumber,x', 'A-1,1'),
    '--map x=name --ignore-column x',
  ],
  'a --map twice': [lines('productNumber,x', 'A-1,1'), '--map x=name --map x=brand'],
  'a column that is ignored': [lines('productNumber,colour,name', 'A-1,red,x'), '--ignore-column colour'],
  'fields of the service': [lines('id,productNumber,createdAt,updatedAt,name', '7,A-1,x,y,Desk')],
  'two columns of one name': [lines('productNumber,name,name', 'A-1,x,y')],
  'two columns of one name, one ignored': [
    lines('productNumber,name,name', 'A-1,x,y'),
    '--ignore-column name',
  ],
  'two columns of one field': [lines('productNumber,name,Titel', 'A-1,x,y'), '--map Titel=name'],
  'no column of the key': [lines('name,brand', 'x,y')],
  'a column without a name': [lines('productNumber,,name', 'A-1,z,x')],
  'custom fields': [
    lines('productNumber,grade,depthCm,flags,box', 'A-1,a,1.50,x|y,"{""a"":[1]}"', 'A-2,,x,,nope'),
    '--custom-field grade --custom-field depthCm:number --custom-field flags:array --custom-field box:json',
  ],
  'a custom field alone in a row': [lines('productNumber,grade', 'A-1,a', ',b'), '--custom-field grade'],
  // Headers and rows.
  'a byte order mark and sep=': [`\uFEFF${lines('sep=;', 'productNumber;name', 'A-1;x,y')}`],
  tabs: [lines('productNumber\tname', 'A-1\tx'), '--delimiter tab'],
  'an unusual delimiter': [lines('productNumber^name', 'A-1^x'), '--delimiter ^'],
  'lines that end with a carriage return': ['productNumber,name\rA-1,x\rA-2,"y\rz"\r'],
  'lines before the header': [lines('Products of 2026', '', 'productNumber,name', 'A-1,x')],
  'two files in one': [lines('productNumber,name', 'A-1,x', 'productNumber,name', 'A-2,y')],
  'a row that is too long': [lines('productNumber,name', 'A-1,x,y')],
  'a row that is too short': [lines('productNumber,name,brand', 'A-1')],
  'a quote that is not closed': [lines('productNumber,name', 'A-1,"x', 'A-2,y')],
  'text behind a quote': [lines('productNumber,name', 'A-1,"x"y')],
  'a quote in a cell': [lines('productNumber,name', 'A-1,24" screen')],
  'a header alone': [lines('productNumber,name')],
  'nothing but line breaks': [lines('', '')],
  // Other formats.
  'a spreadsheet': [Buffer.from('PK\u0003\u0004[Content_Types].xml')],
  'an archive': [Buffer.from('PK\u0003\u0004readme.txt')],
  JSON: [lines('[{"productNumber":"A-1"}]')],
  'NDJSON in a file of CSV': [lines('{"productNumber":"A-1"}')],
  'Windows-1252': [Buffer.from('productNumber,name\nA-1,Caf\xe9\n', 'latin1')],
  'UTF-16': [Buffer.from('productNumber,name\nA-1,x\n', 'utf16le')],
  HTML: [lines('<html><table></table></html>')],
  // NDJSON.
  'NDJSON of each kind': [
    lines(
      '{"productNumber":"A-1","salePrice":"1.50","isSaleItem":1,"tags":"[\\"a\\"]","stockQuantity":3}',
      '{"productNumber":"A-2","salePrice":1.5,"isSaleItem":"yes","tags":["a"],"stockQuantity":"3"}',
      '{"productNumber":" A-3 ","name":null,"brand":""}',
    ),
    '',
    NDJSON,
  ],
  'NDJSON with a number that loses digits': [
    lines('{"productNumber":"A-1","stockQuantity":12345678901234567890}'),
    '',
    NDJSON,
  ],
  'NDJSON with unknown members': [lines('{"productNumber":"A-1","colour":"red","size":1.5}'), '', NDJSON],
  'NDJSON with members of other names': [
    lines('{"sku":"A-1","title":"x"}', '{"sku":"A-2"}'),
    '--map sku=productNumber --map title=name',
    NDJSON,
  ],
  'NDJSON with a member of --map that is nowhere': [
    lines('{"productNumber":"A-1"}'),
    '--map title=name',
    NDJSON,
  ],
  'NDJSON with a member twice': [lines('{"productNumber":"A-1","name":"x","name":"y"}'), '', NDJSON],
  'NDJSON with codes of programs': [lines('{"productNumber":"=\\"0012\\"","ean":"12.0"}'), '', NDJSON],
  'NDJSON without a value': [lines('{"name":null}', '', '{"productNumber":"A-1"}'), '', NDJSON],
  'NDJSON without names': [lines('{"":1,"productNumber":"A-1","name":"x"}'), '', NDJSON],
  'NDJSON with a second header': [
    lines('{"productNumber":"A-1","name":"x"}', '{"productNumber":"productNumber","name":"name"}'),
    '',
    NDJSON,
  ],
  'NDJSON with a second header after a row of other members': [
    lines(
      '{"productNumber":"A-1","name":"x"}',
      '{"brand":"y","productNumber":"A-2"}',
      '{"productNumber":"productNumber","name":"name"}',
    ),
    '',
    NDJSON,
  ],
  'NDJSON with null cleared and ignored': [
    lines('{"productNumber":"E-1","name":null,"brand":"  "}'),
    '--empty ignore',
    NDJSON,
  ],
  'NDJSON with empty texts': [lines('{"productNumber":"E-1","name":"","brand":"x"}'), '', NDJSON],
  'a line that is a list': [lines('{"productNumber":"A-1"}', '[1]'), '', NDJSON],
  'a file that does not exist': ['', '', 'none/p.csv'],
};

test('a dry run of a push reads each file as it is recorded', async () => {
  const text: string[] = [];
  const inFolder = folder();
  for (const [what, [content, flags = '', name = CSV]] of Object.entries(FILES)) {
    startEvenClock();
    const { env, sandbox } = openSandbox({ clock: { now: () => Date.now() }, unknownFields: 'store' });
    sandbox.store.products.insert({ productNumber: 'E-1', name: 'Existing', brand: 'Brand' });
    if (!name.includes('/')) writeFileSync(inFolder(name), content);
    const [file, results] = [inFolder(name), inFolder('results.ndjson')];
    const options = ['--key', 'productNumber', '--dry-run', '--results', results];
    const ran = await run(env, ['push', file, ...options, ...flags.split(' ').filter(Boolean)]);
    const rows = ran.code === 0 || ran.code === 9 ? readFileSync(results, 'utf8') : '';
    text.push(
      `# ${what} ${flags}`.trimEnd(),
      ...[
        ...ran.log
          .trimEnd()
          .split('\n')
          .map((line) => `! ${line}`),
        ...rows.trimEnd().split('\n'),
      ].filter(Boolean),
      `= ${ran.code}`,
      '',
    );
  }
  const recorded = text.join('\n').replaceAll(inFolder(''), '');
  await expect(recorded).toMatchFileSnapshot('./product-files.txt');
});
