import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ProductDraft } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { folder, openSandbox, records, run } from './support/run.ts';

interface SetUp extends SandboxOptions {
  readonly name?: string | undefined;
  readonly existing?: readonly ProductDraft[];
}

/** A file of products, and the command that pushes it. */
function withFile(text: string | Buffer, { name = 'products.csv', existing = [], ...service }: SetUp = {}) {
  const { sandbox, env } = openSandbox(service);
  for (const product of existing) sandbox.store.products.insert({ ...product });
  const file = folder();
  writeFileSync(file(name), text);
  const push = (...args: string[]) => run(env, ['push', file(name), '--key', 'productNumber', ...args]);
  return { sandbox, env, file, push };
}

const products = (sandbox: Sandbox) => sandbox.store.products.all();

test('push creates and updates the products of a CSV file, and sends nothing the second time', async () => {
  const { sandbox, push } = withFile(
    'productNumber,name,salePrice,isWebShop,stockQuantity,tags\r\nA,"Desk, oak",129,yes,2.5,new|sale\r\nB,Chair,,no,,\r\n',
  );
  sandbox.store.products.insert({ productNumber: 'B', name: 'Stool', salePrice: '5.0000' });
  const first = await push('--yes');
  expect(first).toMatchObject({ code: 0, log: expect.stringContaining('2 rows: 1 created, 1 updated') });
  expect(products(sandbox)).toMatchObject([
    { productNumber: 'B', name: 'Chair', salePrice: '5.0000', isWebShop: false },
    {
      productNumber: 'A',
      name: 'Desk, oak',
      salePrice: '129.0000',
      isWebShop: true,
      stockQuantity: 2.5,
      tags: ['new', 'sale'],
    },
  ]);
  sandbox.clearLogs();
  const second = await push('-y', '--json');
  expect(second.log).toContain('0 created, 0 updated, 2 unchanged.');
  expect(JSON.parse(second.out)).toMatchObject({ rows: 2, counts: { unchanged: 2 } });
  expect(sandbox.journal).toEqual([]);
});

test.each([
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
])('push reads a file with %s', async (_, text, file, name = 'Desk') => {
  const { sandbox, push } = withFile(text, { name: file });
  expect(await push('--yes')).toMatchObject({ code: 0, log: expect.stringContaining('1 row: 1 created') });
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', name }]);
});

test('push does not overwrite its own file with --results', async () => {
  const { sandbox, push, file } = withFile('productNumber\nA\n');
  symlinkSync(file('products.csv'), file('link'));
  for (const name of ['products.csv', 'link']) {
    const { code, log } = await push('--yes', '--results', file(name));
    expect([code, log]).toEqual([2, expect.stringContaining('--results names the file to push')]);
  }
  expect(readFileSync(file('products.csv'), 'utf8')).toBe('productNumber\nA\n');
  expect(sandbox.count()).toBe(0);
});

test('push keeps leading zeros, and clears fields only with --empty clear', async () => {
  const { sandbox, push } = withFile('productNumber,ean,brand\n007,0012,\n');
  sandbox.store.products.insert({ productNumber: '007', ean: '0012', brand: 'Oak' });
  await push('--yes');
  expect(products(sandbox)).toMatchObject([{ productNumber: '007', ean: '0012', brand: 'Oak' }]);
  await push('--yes', '--empty', 'clear');
  expect(products(sandbox)).toMatchObject([{ brand: null }]);
});

test('push rejects a row with a number that would lose digits', async () => {
  const { sandbox, push } = withFile('productNumber,stockQuantity\nA,1234567890123456\nB,123456789012345\n');
  expect((await push('--yes')).code).toBe(9);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'B', stockQuantity: 123456789012345 }]);
});

describe('a create whose response is lost, on a service that ignores Idempotency-Key', () => {
  useVirtualClock();

  test.each([
    ['is repeated', [], 2],
    [
      'is not repeated with --no-repeat-creates, but looked for after --visible-after',
      ['--no-repeat-creates'],
      1,
    ],
  ])('%s', async (_, flags, count) => {
    const { sandbox, push } = withFile('productNumber\nA\n', { idempotency: { replay: 'ignored' } });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
    const startedAt = Date.now();
    const { code } = await push('--yes', '--visible-after', '1h', ...flags);
    expect([code, products(sandbox).length]).toEqual([0, count]);
    const hours = (Date.now() - startedAt) / 3_600_000;
    expect(Math.round(hours)).toBe(flags.length);
  });
});

test('push writes nothing with --dry-run, and without a terminal only with --yes', async () => {
  const { sandbox, push } = withFile('productNumber\nA\nB\n');
  expect(await push()).toMatchObject({ code: 2, log: expect.stringContaining('Pass --yes to write') });
  expect(sandbox.requests).toEqual([]);
  expect(await push('--dry-run')).toMatchObject({ code: 0, log: expect.stringContaining('2 to create') });
  expect(sandbox.journal).toEqual([]);
});

test.each([
  ['y', true, 1],
  ['n', false, 0],
])('push asks for confirmation before it writes (%s)', async (_, confirmed, count) => {
  const { sandbox, env, file } = withFile('productNumber\nA\n');
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    return confirmed;
  };
  const prompt = { confirm, secret: async () => '' };
  const { code, log } = await run(env, ['push', file('products.csv'), '--key', 'productNumber'], { prompt });
  expect([code, log.includes('Nothing was written.')]).toEqual([confirmed ? 0 : 2, !confirmed]);
  expect(questions).toEqual([expect.stringContaining('1 to create, 0 to update')]);
  expect(products(sandbox)).toHaveLength(count);
});

test.each(['\n', '\r\n'])(
  'push writes a result for each row and ends with its own exit code if some failed: %j',
  async (end) => {
    const text = 'productNumber,salePrice,name\nA,none,x\nB,5,"two\nlines"\n\nB,6,y\n,7,z\nC,8,z\n';
    const { sandbox, push, file } = withFile(text.replaceAll('\n', end));
    sandbox.store.products.insert({ productNumber: 'C' });
    sandbox.store.products.insert({ productNumber: 'C' });
    const { code, log } = await push('--yes', '--results', file('results.ndjson'));
    expect(code).toBe(9);
    expect(log).toContain('1 created, 0 updated, 0 unchanged, 2 failed, 1 in conflict, 1 duplicate');
    expect(log).toContain('3 of 5 rows were not written');
    const results = records(readFileSync(file('results.ndjson'), 'utf8'));
    const byLine = results.toSorted((a, b) => Number(a.line) - Number(b.line));
    expect(byLine).toMatchObject([
      { line: 2, key: 'A', action: 'failed', error: { code: 'invalid_input' } },
      { line: 3, key: 'B', action: 'created', id: expect.any(String) },
      { line: 6, key: 'B', action: 'duplicate' },
      { line: 7, action: 'failed' },
      { line: 8, key: 'C', action: 'conflict', ids: ['1', '2'] },
    ]);
  },
);

test('push prints the first row of each reason why rows failed, with violations, and the lines of the others', async () => {
  const rows = Array.from({ length: 20 }, (_, n) => `P-${n},${n < 12 ? ['none', 'open'][n % 2] : 5},sold`);
  const { push } = withFile(`productNumber,salePrice,status\nC,1,new\n${rows.join('\n')}\n`, {
    allowedStatuses: ['new'],
    problemType: 'api-platform',
    existing: [{ productNumber: 'C' }, { productNumber: 'C' }],
  });
  const { code, log } = await push('--yes', '--concurrency', '1');
  expect(code).toBe(9);
  const printed = log.split('\n').filter((line) => /^line \d+, |^and /.test(line));
  expect(printed).toEqual([
    expect.stringMatching(
      /^line 3, P-0: invalid_input: salePrice: "none" is not .*\. Also lines 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more\.$/,
    ),
    expect.stringMatching(/^line 2, C: conflict: products 1, 2 have this key\.$/),
    expect.stringMatching(
      /^line 15, P-12: validation_failed: POST \/products returned 422: status: [^;:]+\. Also lines 16, 17, 18, 19, 20, 21, 22\.$/,
    ),
  ]);
});

test('push prints one of the missing products that could not be deleted, and counts the others', async () => {
  const { sandbox, push } = withFile('productNumber\nA\n', {
    existing: ['A', 'B', 'C\u001b', 'D'].map((productNumber) => ({ productNumber })),
  });
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method: 'DELETE', times: 9 });
  const { code, log } = await push('--yes', '--missing', 'delete', '--concurrency', '1');
  expect([code, log]).toEqual([9, expect.stringMatching(/^B: forbidden: DELETE .*\. Also 2 more\.$/m)]);
});

test('push counts the rows of reasons that it does not print', async () => {
  const text = 'ean brand model type version remark infoUrl serialNumber labels status hsnCode upcCode'.split(
    ' ',
  );
  const whole = Object.fromEntries(text.map((name) => [name, 'x']));
  const rows = text.map((name) => JSON.stringify({ ...whole, productNumber: name, [name]: undefined }));
  const { push, file } = withFile(`${rows.join('\n')}\n`, { name: 'a.ndjson', requiredFields: text });
  expect((await push('--yes')).log).toMatch(
    /^and 2 rows for other reasons; pass --results <file> to see them$/m,
  );
  const { log } = await push('--yes', '--results', file('results'));
  expect(log).toContain(`and 2 rows for other reasons; see ${file('results')}`);
});

test('push warns of fields that the service did not store, in the report and the results too', async () => {
  const text = 'productNumber,name,salePrice,colour\nA\u001bx, Desk,1.50,red\nB,Chair ,2,blue\n';
  const { sandbox, push, file } = withFile(text);
  const body = (sent: string) => sent.replace(/("name":") *([^"]*?) *"/g, '$1$2"');
  sandbox.faults.add({ kind: 'rewrite', body });
  const args = ['--yes', '--json', '--custom-fields', 'colour', '--concurrency', '1'];
  const { code, log, out } = await push(...args, '--results', file('results'));
  expect(code).toBe(0);
  expect(log.split('\n').filter((line) => line.startsWith('Warning'))).toEqual([
    'Warning: colour was not stored as sent. line 2, A x: sent "red", returned null (and 1 more row).',
    'Warning: name was not stored as sent. line 2, A x: sent " Desk", returned "Desk" (and 1 more row).',
  ]);
  expect(JSON.parse(out)).toMatchObject({
    notStored: [
      { field: 'colour', rows: 2 },
      { field: 'name', key: 'A\u001bx' },
    ],
  });
  expect(records(readFileSync(file('results'), 'utf8'))[1]).toMatchObject({
    line: 3,
    notStored: [{ field: 'colour', sent: 'blue', returned: null }, { field: 'name' }],
  });
});

test('push creates and compares custom fields of the kinds that --custom-fields names', async () => {
  const { sandbox, push } = withFile('productNumber,colour,kilos,isOak\nA,red,"2,5",yes\nB,,x,\n', {
    unknownFields: 'store',
  });
  const args = ['--yes', '--decimal', ',', '--custom-fields', 'colour, kilos:number,isOak:boolean'];
  const { code, log } = await push(...args);
  expect([code, log]).toEqual([9, expect.stringContaining('kilos: "x" is not a number with a comma')]);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', colour: 'red', kilos: 2.5, isOak: true }]);
  expect((await push(...args)).log).toContain('0 created, 0 updated, 1 unchanged');
  const rejected = [
    ['name:number', 'name is a documented field'],
    ['colour:color', 'The kinds are string, money'],
  ] as const;
  for (const [fields, reason] of rejected) {
    const wrong = await push('--custom-fields', fields);
    expect([wrong.code, wrong.log]).toEqual([2, expect.stringContaining(reason)]);
  }
});

test.runIf(existsSync('/dev/full'))(
  'push writes the products if the disk of --results is full, and says so',
  async () => {
    const { sandbox, push } = withFile('productNumber\nA\nB\n');
    const { code, log } = await push('--yes', '--results', '/dev/full');
    expect(code).toBe(7);
    expect(log).toContain('/dev/full cannot be written: ENOSPC');
    expect(products(sandbox)).toHaveLength(2);
  },
);

const CAFE = { csv: 'productNumber,name\nA,Café\n', ndjson: '{"productNumber":"A","name":"Café"}\n' };

test.each<[what: string, text: string | Buffer, reason: RegExp, name?: string]>([
  ['an unknown column', 'productNumber,salesPrice\nA,5\n', /salesPrice.*did you mean salePrice\?/s],
  ['a column that can be mapped', 'productNumber,SKU\nA,5\n', /--map "SKU=field".*--ignore-columns/s],
  [
    'several unknown columns',
    'productNumber,nam,Kleur\nA,5,x\n',
    /"nam" \(did you mean name\?\), "Kleur", which are not documented fields.*Correct the file, or pass --map "nam=field", --map "Kleur=field", --ignore-columns "nam,Kleur" or --custom-fields "nam,Kleur", and run/s,
  ],
  [
    'a column twice',
    'productNumber,name,name\nA,5,6\n',
    /the header names the field name 2 times: "name", "name"\./,
  ],
  ['no key column', 'name\nA\n', /no column productNumber/],
  ['a row with too few cells', 'productNumber,name\nA,x\nB\n', /line 3 has 1 cells/],
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
  ['UTF-16', Buffer.from(`\uFEFF${CAFE.csv}`, 'utf16le'), /it is not UTF-8\./],
  [
    'a field of NDJSON that does not exist',
    '{"productNumber":"A","nam":"x"}\n',
    /line 1 names "nam" \(did you mean name\?\), which is not a documented field of a product\.\n.*--custom-fields "nam"/,
    'a.ndjson',
  ],
  ['a torn line of NDJSON', '{"productNumber":"A"}\n{"productNum', /line 2 is not a JSON object/, 'a.ndjson'],
  ['NDJSON in Latin-1', Buffer.from(CAFE.ndjson, 'latin1'), /it is not UTF-8\./, 'a.ndjson'],
])('push writes nothing for a file with %s', async (_, text, reason, name) => {
  const { sandbox, push } = withFile(text, { name });
  const { code, log } = await push('--yes');
  expect([code, log]).toEqual([7, expect.stringMatching(reason)]);
  expect(sandbox.journal).toEqual([]);
});

test('push names a missing file, a wrong key field and a rejected API key', async () => {
  const { sandbox, env, file } = withFile('productNumber\nA\n');
  expect(await run(env, ['push', file('none.csv'), '--key', 'ean', '--yes'])).toMatchObject({ code: 7 });
  const wrong = await run(env, ['push', file('products.csv'), '--key', 'productNumbr', '--yes']);
  expect(wrong).toMatchObject({ code: 2, log: expect.stringContaining('Did you mean productNumber?') });
  sandbox.revokeKey(sandbox.keys.full);
  const denied = await run(env, ['push', file('products.csv'), '--key', 'productNumber', '--yes']);
  expect(denied).toMatchObject({ code: 3, log: expect.stringContaining('The push of default stopped') });
  expect(denied.log.trim()).toMatch(/\.\nCheck ACCOUNTING_API_KEY, and that it belongs to this service\.$/);
});

test('push says what to do about a state folder of another service', async () => {
  const { file, push } = withFile('productNumber\nA\n');
  const state = ['--state', file('state'), '--yes'];
  expect((await push(...state)).code).toBe(0);
  const { env } = openSandbox();
  const args = ['push', file('products.csv'), '--key', 'productNumber', ...state];
  const { code, log } = await run(env, args);
  expect([code, log.trim()]).toEqual([
    7,
    expect.stringMatching(
      /belongs to another base URL or tenant\.\nFor another company, pass another tenant\. .* has moved, delete the state/,
    ),
  ]);
  expect((await run(env, [...args, '--tenant', 'other'])).code).toBe(0);
});

test('push says that what was written stays written if the service stops responding', async () => {
  const { sandbox, push } = withFile('productNumber\nA\nB\n');
  sandbox.faults.add({ kind: 'status', status: 401 }, { method: 'POST', skip: 1, times: 9 });
  const { log } = await push('--yes', '--concurrency', '1');
  expect(log.trim()).toMatch(
    /\(2 rows read; 1 created, 0 updated\): .*\n.* What was written stays written; run the same command again to continue\.$/,
  );
});

test('push accepts a file that pull wrote and a spreadsheet changed', async () => {
  const { sandbox, env, file } = withFile('');
  sandbox.store.products.insert({ productNumber: 'A', name: 'Desk', salePrice: '5.0000', tags: ['x'] });
  const pulled = await run(env, ['pull', 'products', '--format', 'csv']);
  writeFileSync(file('edited.csv'), pulled.out.replace('Desk', 'Table'));
  sandbox.clearLogs();
  const { code, log } = await run(env, ['push', file('edited.csv'), '--key', 'productNumber', '--yes']);
  expect([code, log]).toEqual([0, expect.stringContaining('0 created, 1 updated')]);
  expect(sandbox.requests.at(-1)?.body).toEqual({ name: 'Table' });
});

test('push maps and ignores columns, and trims the key', async () => {
  const { sandbox, env, file } = withFile('Variant SKU,Title,Note\n A ,Desk,x\n');
  const names = ['--ignore-columns', 'Note, other', '--map', 'Title=name'];
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
  expect(sandbox.journal).toEqual([]);
});

test.each([
  [['--map', 'SKU=name', '--map', 'SKU=brand'], 'another --map'],
  [['--map', 'SKU=name', '--map', 'SKU=name'], 'another --map'],
  [['--map', 'SKU=name', '--ignore-columns', 'SKU'], '--ignore-columns'],
  [['--map', 'id=name', '--ignore-columns', 'x, id'], '--ignore-columns'],
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
    expect.stringContaining(
      'a product.\nNothing was written. Correct --map, or pass --map "Kleur=field", --ignore-columns "colourCode,Kleur" or --custom-fields "code,Kleur", and run',
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
  const { code, log } = await push('--yes', '--decimal', decimal, '--custom-fields', `size:${kind}`);
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
      ...(field === 'salePrice' ? ['--ignore-columns', 'salePrice'] : []),
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

test('push reads standard input, and names all invalid cells of a row', async () => {
  const { sandbox, env } = withFile('');
  async function* stdin() {
    yield Buffer.from('productNumber,salePrice,isWebShop\nA,5,yes\nB,5.x,may');
    yield Buffer.from('be\n');
  }
  const { code, log } = await run(env, ['push', '-', '--key', 'productNumber', '--yes'], { stdin: stdin() });
  expect(code).toBe(9);
  expect(log).toContain('line 3, B: invalid_input: salePrice: "5.x" is not');
  expect(log).toContain('isWebShop: "maybe" is not true or false');
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', isWebShop: true }]);
});

test.each([
  ['keep', [], [{ productNumber: 'A' }, { productNumber: 'B' }]],
  ['deactivate', [], [{ productNumber: 'A' }, { productNumber: 'B', isInactive: true }]],
  ['delete', ['--max-candidates', 'all'], [{ productNumber: 'A' }]],
  ['delete', ['--max-candidates', '0'], [{ productNumber: 'A' }, { productNumber: 'B' }], 1],
] as const)(
  'push applies --missing %s with %j to missing products',
  async (missing, args, expected, exitCode: number = 0) => {
    const { sandbox, push } = withFile('productNumber\nA\n', {
      existing: [{ productNumber: 'A' }, { productNumber: 'B' }],
    });
    expect((await push('--yes', '--missing', missing, ...args)).code).toBe(exitCode);
    expect(products(sandbox)).toMatchObject(expected);
    expect(products(sandbox)).toHaveLength(expected.length);
  },
);

test('push --missing delete says that it kept the missing products because a row has no key', async () => {
  const { sandbox, push } = withFile('productNumber,name\nA,x\n,y\n', {
    existing: [{ productNumber: 'A' }, { productNumber: 'B' }],
  });
  const said = 'Products that no row has were kept, because a row has no key.';
  expect((await push('--yes', '--missing', 'delete')).log).toContain(said);
  expect((await push('--yes')).log).not.toContain(said);
  expect(products(sandbox)).toHaveLength(2);
});

describe('a row whose create was lost while the service says that it is still running', () => {
  useVirtualClock();

  test('is printed with its error and with what to do', async () => {
    const { sandbox, push } = withFile('productNumber\nA\n');
    const body = JSON.stringify({ type: 'request_in_progress', title: 'Running', status: 409 });
    const headers = { 'Content-Type': 'application/problem+json' };
    const running = { kind: 'rewrite', committed: false, status: 409, headers, body } as const;
    sandbox.faults.add(running, { method: 'POST', times: Number.POSITIVE_INFINITY });
    const { code, log } = await push('--yes', '--max-outage', '1s', '--visible-after', '1s');
    expect(code).toBe(9);
    expect(log).toContain('1 of 1 row was not written');
    expect(log).toMatch(/^line 2, A: \w+: .*409 .*run the push again/m);
  });
});

describe('the state of push', () => {
  test('is in the folder .accounting-data-sdk, which git ignores, and a dry run creates none', async () => {
    const { env, file } = withFile('productNumber\nA\n');
    const push = (...args: string[]) =>
      run(env, ['push', file('products.csv'), '--key', 'productNumber', ...args], { cwd: file('') });
    expect((await push('--dry-run')).code).toBe(0);
    expect(existsSync(file('.accounting-data-sdk'))).toBe(false);
    expect((await push('--yes')).code).toBe(0);
    expect(readFileSync(file('.accounting-data-sdk/.gitignore'), 'utf8')).toBe('*\n');
    const entries = readdirSync(file('.accounting-data-sdk'));
    expect(entries.filter((name) => name.includes('default~products-push'))).not.toEqual([]);
    expect((await push('--yes')).log).toContain('1 unchanged');
  });

  test('must be in a folder that can be written', async () => {
    const { sandbox, push, file } = withFile('productNumber\nA\n');
    const { code, log } = await push('--yes', '--state', file('products.csv/state'));
    expect([code, log]).toEqual([2, expect.stringContaining('--state')]);
    expect(sandbox.count()).toBe(0);
  });
});
