import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { productSchema } from 'accounting-data-sdk/schemas';
import { describe, expect, test } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { products, withFile } from './support/products-file.ts';
import { records, run } from './support/run.ts';

const numbered = (...numbers: string[]) => numbers.map((productNumber) => ({ productNumber }));

test('push creates and updates the products of a CSV file, and sends nothing the second time', async () => {
  const { sandbox, push } = withFile(
    'productNumber,name,salePrice,tags\nA,"Desk, oak",129,new|sale\nB,Chair,,\n',
    { existing: [{ productNumber: 'B', name: 'Stool', salePrice: '5.0000' }] },
  );
  const first = await push('--yes', '--quiet');
  expect(first).toMatchObject({ code: 0, log: '2 rows: 1 created, 1 updated, 0 unchanged.\n' });
  expect(products(sandbox)).toMatchObject([
    { productNumber: 'B', name: 'Chair', salePrice: '5.0000' },
    { productNumber: 'A', name: 'Desk, oak', salePrice: '129.0000', tags: ['new', 'sale'] },
  ]);
  sandbox.clearLogs();
  const second = await push('-y', '--json');
  expect(second.log).toContain('0 created, 0 updated, 2 unchanged.');
  expect(JSON.parse(second.out)).toMatchObject({ rows: 2, counts: { unchanged: 2 } });
  expect(sandbox.journal).toEqual([]);
});

test.each<[what: string, args: (file: (name: string) => string) => string[], code: number, said: string]>([
  [
    'its own file with --results',
    (file) => [file('products.csv'), '--results', file('link')],
    2,
    '--results names the file to push',
  ],
  ['a file that does not exist', (file) => [file('none.csv')], 7, 'ENOENT'],
  [
    'a wrong key field',
    (file) => [file('products.csv'), '--key', 'productNumbr'],
    2,
    'Did you mean productNumber?',
  ],
  [
    'a state that cannot be written',
    (file) => [file('products.csv'), '--state', file('link/state')],
    2,
    '--state',
  ],
  ['no --yes without a terminal', (file) => [file('products.csv')], 2, 'Pass --yes to write'],
])('push sends nothing and fails with %s', async (what, args, code, said) => {
  const { sandbox, env, file } = withFile('productNumber\nA\n');
  symlinkSync(file('products.csv'), file('link'));
  const yes = what.startsWith('no --yes') ? [] : ['--yes'];
  const ran = await run(env, ['push', '--key', 'productNumber', ...yes, ...args(file)]);
  expect([ran.code, ran.log, sandbox.count()]).toEqual([code, expect.stringContaining(said), 0]);
  expect(readFileSync(file('products.csv'), 'utf8')).toBe('productNumber\nA\n');
});

test.each([
  ['writes', true, 1],
  ['writes nothing', false, 0],
])(
  'push --dry-run writes nothing, and push %s if its question is answered with %s',
  async (_, confirmed, count) => {
    const { sandbox, env, file, push } = withFile('productNumber\nA\n');
    expect(await push('--dry-run')).toMatchObject({ code: 0, log: expect.stringContaining('1 to create') });
    expect(sandbox.journal).toEqual([]);
    const questions: string[] = [];
    const confirm = async (question: string) => {
      questions.push(question);
      return confirmed;
    };
    const io = { prompt: { confirm, secret: async () => '' } };
    const { code, log } = await run(env, ['push', file('products.csv'), '--key', 'productNumber'], io);
    expect([code, log.includes('Nothing was written.')]).toEqual([confirmed ? 0 : 2, !confirmed]);
    expect(questions).toEqual([expect.stringContaining('1 to create, 0 to update')]);
    expect(products(sandbox)).toHaveLength(count);
  },
);

describe('a create whose end is unknown', () => {
  useVirtualClock();

  test.each([
    [2, []],
    [1, ['--no-repeat-creates']],
  ])('ends in %i products with %j, for which it waits --visible-after', async (count, flags) => {
    const { sandbox, push } = withFile('productNumber\nA\n', { idempotency: { replay: 'ignored' } });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
    const startedAt = Date.now();
    const { code } = await push('--yes', '--visible-after', '1h', ...flags);
    expect([code, products(sandbox).length]).toEqual([0, count]);
    const hours = (Date.now() - startedAt) / 3_600_000;
    expect(Math.round(hours)).toBe(flags.length);
  });

  test('is printed with its error and with what to do', async () => {
    const { sandbox, push } = withFile('productNumber\nA\n');
    const running = { kind: 'status', status: 409, type: 'request_in_progress' } as const;
    sandbox.faults.add(running, { method: 'POST', times: Number.POSITIVE_INFINITY });
    const { code, log } = await push('--yes', '--max-outage', '1s', '--visible-after', '1s');
    expect([code, log]).toEqual([9, expect.stringContaining('1 of 1 row was not written')]);
    expect(log).toMatch(/^line 2, A: \w+: .*409 .*run the push again/m);
  });
});

test.each(['\n', '\r\n'])(
  'push writes a result for each row, and fails if some were not written: %j',
  async (end) => {
    const text = 'productNumber,salePrice,name\nA,none,x\nB,5,"two\nlines"\n\nB,6,y\n,7,z\nC,8,z\nB,9,y\n';
    const { push, file } = withFile(text.replaceAll('\n', end), { existing: numbered('C', 'C') });
    const { code, log } = await push('--yes', '--results', file('results.ndjson'));
    expect(code).toBe(9);
    expect(log).toContain('1 created, 0 updated, 0 unchanged, 2 failed, 1 in conflict, 2 duplicate');
    expect(log).toContain(
      'line 6, B: duplicate: line 3 has the same key, and the first row wins. Also line 9.',
    );
    expect(log).toContain('5 of 6 rows were not written.\nCorrect them, and');
    const results = records(readFileSync(file('results.ndjson'), 'utf8'));
    expect(results.toSorted((a, b) => Number(a.line) - Number(b.line))).toMatchObject([
      { line: 2, key: 'A', action: 'failed', error: { code: 'invalid_input' } },
      { line: 3, key: 'B', action: 'created', id: expect.any(String) },
      { line: 6, key: 'B', action: 'duplicate', reason: 'line 3 has the same key, and the first row wins' },
      { line: 7, action: 'failed' },
      { line: 8, key: 'C', action: 'conflict', ids: ['1', '2'] },
      { line: 9 },
    ]);
  },
);

test('push prints the first row of each reason why rows failed, with violations, and the lines of the others', async () => {
  // Of more than twenty rows, a random sample is sent first.
  const rows = Array.from({ length: 40 }, (_, n) => `P-${n},${n < 12 ? ['none', 'open'][n % 2] : 5},sold`);
  const { push } = withFile(`productNumber,salePrice,status\nC,1,new\n${rows.join('\n')}\n`, {
    allowedStatuses: ['new'],
    problemType: 'api-platform',
    existing: numbered('C', 'C'),
  });
  const { code, log } = await push('--yes', '--concurrency', '8');
  expect(code).toBe(9);
  const printed = log.split('\n').filter((line) => /^line \d+, |^and /.test(line));
  expect(printed).toEqual([
    expect.stringMatching(
      /^line 3, P-0: invalid_input: salePrice: "none" is not .*\. Also lines 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more\.$/,
    ),
    expect.stringMatching(/^line 2, C: conflict: products 1, 2 have this key\.$/),
    expect.stringMatching(
      /^line 15, P-12: validation_failed: POST \/products returned 422: status: [^;:]+\. Also lines 16, 17, 18, 19, 20, 21, 22, 23, 24 and 18 more\.$/,
    ),
  ]);
});

test('push prints one of the missing products that could not be deleted, and counts the others', async () => {
  const { sandbox, push } = withFile('productNumber\nA\n', { existing: numbered('A', 'B', 'C\u001b', 'D') });
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method: 'DELETE', times: 9 });
  const { code, log } = await push('--yes', '--missing', 'delete', '--concurrency', '1');
  expect([code, log]).toEqual([9, expect.stringMatching(/^B: forbidden: DELETE .*\. Also 2 more\.$/m)]);
});

test('push counts the rows of reasons that it does not print', async () => {
  const fields = Object.keys(productSchema.shape)
    .filter((name) => /Price$|^is[A-Z]/.test(name))
    .slice(0, 12);
  const rows = fields.map((bad, row) => [row, ...fields.map((field) => (field === bad ? 'x' : ''))].join());
  const { push, file } = withFile(`productNumber,${fields}\n${rows.join('\n')}\n`);
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
  const args = ['--yes', '--json', '--custom-field', 'colour', '--concurrency', '1'];
  const { code, log, out } = await push(...args, '--results', file('results'));
  expect(code).toBe(0);
  expect(log.split('\n').filter((line) => line.startsWith('Warning'))).toEqual([
    'Warning: colour was not stored as sent. line 2, A x: sent "red", returned null (and 1 more row).',
    'Warning: name was not stored as sent. line 2, A x: sent " Desk", returned "Desk" (and 1 more row).',
  ]);
  const notStored = [
    { field: 'colour', rows: 2 },
    { field: 'name', key: 'A\u001bx' },
  ];
  expect(JSON.parse(out)).toMatchObject({ notStored });
  expect(records(readFileSync(file('results'), 'utf8'))[1]).toMatchObject({
    line: 3,
    notStored: [{ field: 'colour', sent: 'blue', returned: null }, { field: 'name' }],
  });
});

test.runIf(existsSync('/dev/full'))(
  'push writes the products if the disk of --results is full, and says so',
  async () => {
    const { sandbox, push } = withFile('productNumber\nA\nB\n');
    const { code, log } = await push('--yes', '--results', '/dev/full');
    expect([code, log]).toEqual([7, expect.stringContaining('/dev/full cannot be written: ENOSPC')]);
    expect(products(sandbox)).toHaveLength(2);
  },
);

test.each([
  ['text/html', '<html>Access denied</html>', 0, 'check the API key, and what a proxy or firewall'],
  ['application/json', '{"message":"Invalid token"}', 1, 'Check ACCOUNTING_API_KEY, and that it belongs'],
])('push names the key for a 401, and the firewall if it is a page: %s', async (type, body, skip, advice) => {
  const { sandbox, push } = withFile('productNumber\nA\nB\n');
  const headers = { 'Content-Type': type };
  sandbox.faults.add({ kind: 'rewrite', status: 401, headers, body }, { method: 'POST', skip, times: 9 });
  const { code, log } = await push('-y', '--concurrency', '1');
  expect([code, log]).toEqual([3, expect.stringContaining(advice)]);
  expect(log).toContain(`(2 rows read; ${skip} created, 0 updated)`);
  if (skip > 0)
    expect(log).toContain('What was written stays written; run the same command again to continue.');
});

test('push reads standard input, and names all invalid cells of a row', async () => {
  const { sandbox, env } = withFile('');
  async function* stdin() {
    yield Buffer.from('productNumber,salePrice,isWebShop\nA,5,yes\nB,5.x,may');
    yield Buffer.from('be\n');
  }
  const { code, log } = await run(env, ['push', '-', '--key', 'productNumber', '--yes'], { stdin: stdin() });
  expect([code, log]).toEqual([
    9,
    expect.stringContaining('line 3, B: invalid_input: salePrice: "5.x" is not'),
  ]);
  expect(log).toContain('isWebShop: "maybe" is not true or false');
  expect(log).toContain('1 of 2 rows was not written.\nCorrect it, and');
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', isWebShop: true }]);
});

const [A, B] = numbered('A', 'B');

test.each([
  ['keep', [], [A, B], 0],
  ['deactivate', [], [A, { ...B, isInactive: true }], 0],
  ['delete', ['--max-candidates', 'all'], [A], 0],
  ['delete', ['--max-candidates', '0'], [A, B], 1],
] as const)(
  'push applies --missing %s with %j to missing products',
  async (missing, args, expected, code) => {
    const { sandbox, push } = withFile('productNumber\nA\n', { existing: numbered('A', 'B') });
    expect((await push('--yes', '--missing', missing, ...args)).code).toBe(code);
    expect(products(sandbox)).toMatchObject(expected);
    expect(products(sandbox)).toHaveLength(expected.length);
  },
);

test('push --missing delete says that it kept the missing products because a row has no key', async () => {
  const { sandbox, push } = withFile('productNumber,name\nA,x\n,y\n', { existing: numbered('A', 'B') });
  const said = 'Products that no row has were kept, because a row has no key.';
  expect((await push('--yes', '--missing', 'delete')).log).toContain(said);
  expect((await push('--yes')).log).not.toContain(said);
  expect(products(sandbox)).toHaveLength(2);
});

test('the state of push is in the folder .accounting-data-sdk, which git ignores, and a dry run creates none', async () => {
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
