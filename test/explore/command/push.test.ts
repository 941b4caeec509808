import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { productSchema } from 'accounting-data-sdk/schemas';
import { describe, expect, test, vi } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { products, withFile } from './support/products-file.ts';
import { ends, records, run } from './support/run.ts';

const numbered = (...numbers: string[]) => numbers.map((productNumber) => ({ productNumber }));

test('push creates and updates the products of a CSV file, and sends nothing the second time', async () => {
  const { sandbox, push, file } = withFile(
    'productNumber,name,salePrice,tags\nA,"Desk, oak",129,new|sale\nB,Chair,,\n',
    { existing: [{ productNumber: 'B', name: 'Stool', salePrice: '5.0000' }] },
  );
  const first = await push('--yes', '--quiet', '--results', file('results.ndjson'));
  expect(first).toMatchObject({ code: 0, log: '2 rows: 1 created, 1 updated, 0 unchanged.\n' });
  expect(products(sandbox)).toMatchObject([
    { productNumber: 'B', name: 'Chair', salePrice: '5.0000' },
    { productNumber: 'A', name: 'Desk, oak', salePrice: '129.0000', tags: ['new', 'sale'] },
  ]);
  const results = records(readFileSync(file('results.ndjson'), 'utf8'));
  expect(results.find(({ key }) => key === 'B')).toMatchObject({
    action: 'updated',
    id: '1',
    fields: ['name'],
  });
  sandbox.clearLogs();
  const second = await push('-y', '--json');
  expect(second.log).toContain('0 created, 0 updated, 2 unchanged.');
  expect(JSON.parse(second.out)).toMatchObject({ rows: 2, counts: { unchanged: 2 } });
  expect(sandbox.journal).toEqual([]);
});

test.each([1, 5])('push has as many writes in flight as --concurrency says: %i', async (concurrency) => {
  const { push } = withFile('productNumber\nA\nB\nC\nD\nE\n');
  const { fetch } = globalThis;
  const { promise: areAllSent, resolve: goOn } = Promise.withResolvers<void>();
  const counts: number[] = [];
  let inFlight = 0;
  vi.stubGlobal('fetch', async (...[request, init]: Parameters<typeof fetch>) => {
    if (!(request instanceof Request) || request.method !== 'POST') return fetch(request, init);
    counts.push(++inFlight);
    if (inFlight === concurrency) goOn();
    await areAllSent;
    const response = await fetch(request, init);
    inFlight -= 1;
    return response;
  });
  expect((await push('--yes', '--concurrency', `${concurrency}`)).code).toBe(0);
  expect([counts.length, Math.max(...counts)]).toEqual([5, concurrency]);
});

test('push prints the first row of each reason by its line, in whatever order the writes end', async () => {
  const { sandbox, push } = withFile('productNumber\nA\nB\nC\n');
  const isFirst = ({ body }: { body: Uint8Array }) => new TextDecoder().decode(body).includes('"A"');
  sandbox.faults.add({ kind: 'delay', ms: 100 }, { method: 'POST', when: isFirst });
  sandbox.faults.add({ kind: 'status', status: 422 }, { method: 'POST' });
  await ends(push('--yes'), 9, /^line 2, A: .* Also lines 3, 4\.$/m);
});

test.each<[what: string, args: string, code: number, said: string]>([
  ['its own file with --results', 'FILE --yes --results LINK', 2, '--results names the file to push'],
  ['a file that does not exist', 'LINK.csv --yes', 7, 'ENOENT'],
  ['a wrong key field', 'FILE --yes --key productNumbr', 2, 'Did you mean productNumber?'],
  [
    'a column as key field',
    'FILE --yes --key SKU',
    2,
    'If its column has another name, pass --map COLUMN=FIELD too.',
  ],
  ['a state that cannot be written', 'FILE --yes --state LINK/state', 2, '--state'],
  ['no --yes without a terminal', 'FILE', 2, 'Pass --yes to write'],
])('push sends nothing and fails with %s', async (_, args, code, said) => {
  const { sandbox, env, file } = withFile('productNumber\nA\n');
  symlinkSync(file('products.csv'), file('link'));
  const paths = args.replace('FILE', file('products.csv')).replace('LINK', file('link'));
  const ran = await run(env, ['push', '--key', 'productNumber', ...paths.split(' ')]);
  expect([ran.code, ran.log, sandbox.count()]).toEqual([code, expect.stringContaining(said), 0]);
  expect(readFileSync(file('products.csv'), 'utf8')).toBe('productNumber\nA\n');
});

test.each([true, false])('push asks before it writes, not with --dry-run: %s', async (confirmed) => {
  const { sandbox, env, file, push } = withFile('productNumber\nA\n');
  expect(await push('--dry-run')).toMatchObject({ code: 0, log: expect.stringContaining('1 to create') });
  expect(sandbox.journal).toEqual([]);
  const questions: string[] = [];
  const confirm = async (question: string) => {
    questions.push(question);
    // The question has the line of the status for itself.
    expect(shown.at(-1)).toBeUndefined();
    return confirmed;
  };
  const shown: (string | undefined)[] = [];
  const status = (text: string | undefined) => void shown.push(text);
  const io = { prompt: { confirm, secret: async () => '' }, status };
  const { code, log } = await run(env, ['push', file('products.csv'), '--key', 'productNumber'], io);
  expect([code, log.includes('Nothing was written.')]).toEqual([confirmed ? 0 : 2, !confirmed]);
  expect(questions).toEqual([expect.stringContaining('1 to create, 0 to update')]);
  expect(products(sandbox)).toHaveLength(Number(confirmed));
  expect(shown).toContain('0 products read');
  expect(shown.includes('[==========] 1 of 1 written')).toBe(confirmed);
  // Nor if there is nothing to write.
  if (confirmed) {
    await ends(run(env, ['push', file('products.csv'), '--key', 'productNumber'], io), 0, '1 unchanged');
    expect(questions).toHaveLength(1);
  }
  // Standard input has the rows: a question would read them.
  await ends(run(env, ['push', '-', '--key', 'productNumber'], io), 2, 'Pass --yes');
});

describe('a create whose end is unknown', () => {
  useVirtualClock();

  test.each([
    [2, []],
    [1, ['--no-repeat-creates']],
  ])('ends in %i products with %j, for which it waits --visible-after', async (count, flags) => {
    const { sandbox, push } = withFile('productNumber\nA\n', { idempotency: { replay: 'ignored' } });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
    const startedAt = Date.now();
    const { code } = await push('--yes', '--visible-after', '10m', ...flags);
    expect([code, products(sandbox).length]).toEqual([0, count]);
    expect(Math.round((Date.now() - startedAt) / 600_000)).toBe(flags.length);
  });
});

test('push writes a result for each row, and fails if some were not written', async () => {
  const text = 'productNumber,salePrice,name\nA,none,x\nB,5,"two\nlines"\n\nB,6,y\n,7,z\nC,8,z\nB,9,y\n';
  const { push, file } = withFile(text.replaceAll('\n', '\r\n'), { existing: numbered('C', 'C') });
  // A file of an earlier push is replaced.
  const dryRun = push('--dry-run', '--results', file('results.ndjson'));
  await ends(dryRun, 9, '5 of 6 rows would not be written.');
  const { code, log } = await push('--yes', '--results', file('results.ndjson'));
  expect(code).toBe(9);
  expect(log).toContain('1 created, 0 updated, 0 unchanged, 2 failed, 1 in conflict, 2 duplicate');
  expect(log).toContain('line 6, B: duplicate: line 3 has the same key, and the first row wins. Also line 9');
  expect(log).toContain('5 of 6 rows were not written.\nResolve the errors above, and');
  const results = records(readFileSync(file('results.ndjson'), 'utf8'));
  expect(results.toSorted((a, b) => Number(a.line) - Number(b.line))).toMatchObject([
    {
      line: 2,
      key: 'A',
      action: 'failed',
      error: { code: 'invalid_input', message: expect.stringMatching(/^salePrice: "none" is not/) },
    },
    {
      line: 3,
      key: 'B',
      action: 'created',
      id: expect.any(String),
    },
    { line: 6, key: 'B', action: 'duplicate', reason: 'line 3 has the same key, and the first row wins' },
    { line: 7, action: 'failed' },
    { line: 8, key: 'C', action: 'conflict', ids: ['1', '2'] },
    { line: 9 },
  ]);
});

test('push --dry-run writes into its results what a create would send, and the old and new values of an update', async () => {
  const { push, file } = withFile('productNumber,salePrice\nA,5\nB,7\nC,8\n', {
    existing: [{ productNumber: 'B', salePrice: '6' }, ...numbered('C')],
  });
  const { code } = await push('--dry-run', '--results', file('results.ndjson'));
  const changes = records(readFileSync(file('results.ndjson'), 'utf8')).map(({ key, action, changes }) => [
    key,
    action,
    changes,
  ]);
  expect([code, changes]).toEqual([
    0,
    [
      [
        'A',
        'created',
        [
          { field: 'productNumber', from: null, to: 'A' },
          { field: 'salePrice', from: null, to: '5.0000' },
        ],
      ],
      ['B', 'updated', [{ field: 'salePrice', from: '6.0000', to: '7.0000' }]],
      ['C', 'updated', [{ field: 'salePrice', from: null, to: '8.0000' }]],
    ],
  ]);
});

test('push prints the first row of each reason why rows failed, with violations, and the lines of the others', async () => {
  // Of more than twenty rows, a random sample is sent first.
  const rows = Array.from({ length: 40 }, (_, n) => `P-${n},${n < 12 ? ['none', 'open'][n % 2] : 5},sold`);
  const { push, file } = withFile(`productNumber,salePrice,status\nC,1,new\n${rows.join('\n')}\n`, {
    allowedStatuses: ['new'],
    problemType: 'api-platform',
    existing: numbered('C', 'C'),
  });
  const { code, log } = await push('--yes', '--concurrency', '8', '--results', file('results.ndjson'));
  const results = records(readFileSync(file('results.ndjson'), 'utf8'));
  const violations = [{ propertyPath: 'status', message: expect.any(String) }];
  expect(results.find(({ line }) => line === 15)).toMatchObject({ error: { violations } });
  expect([code, log.split('\n').filter((line) => /^line \d+, |^and /.test(line))]).toEqual([
    9,
    [
      /^line 3, P-0: invalid_input: salePrice: "none" is not .*\. Also lines 4, .*, 12 and 2 more\.$/,
      /^line 2, C: conflict: products 1, 2 have this key\.$/,
      /^line 15, P-12: validation_failed: POST \/products returned 422: status: [^;:]+\. Also lines 16, .* more\.$/,
    ].map((line) => expect.stringMatching(line)),
  ]);
});

test('push counts the rows of reasons that it does not print', async () => {
  const fields = Object.keys(productSchema.shape)
    .filter((name) => /Price$|^is[A-Z]/.test(name))
    .slice(0, 12);
  const rows = fields.map((bad, row) => [row, ...fields.map((field) => (field === bad ? 'x' : ''))].join());
  // Two of the last reason.
  rows.push(rows.at(-1)?.replace('11', '12') ?? '');
  const { push } = withFile(`productNumber,${fields}\n${rows.join('\n')}\n`);
  const said = 'and 3 rows for other reasons; pass --results <file> to see them';
  expect((await push('--yes')).log).toContain(said);
});

test('push warns of fields that the service did not store, in the report and the results too', async () => {
  const { sandbox, push, file } = withFile('productNumber,name,colour\nA\u001bx,Desk,red\nB,Chair ,blue\n');
  sandbox.faults.add({ kind: 'rewrite', body: (sent) => sent.replace('Chair ', 'Chair') });
  const args = ['--yes', '--json', '--custom-field', 'colour', '--concurrency', '1'];
  const { code, log, out } = await push(...args, '--results', file('results'));
  expect([code, log.split('\n').filter((line) => line.startsWith('Warning'))]).toEqual([
    0,
    [
      'Warning: colour was not stored as sent. line 2, A x: sent "red", returned null (and 1 more row).',
      'Warning: name was not stored as sent. line 3, B: sent "Chair ", returned "Chair".',
    ],
  ]);
  const notStored = [{ field: 'colour', rows: 2, key: 'A\u001bx' }, { field: 'name' }];
  expect(JSON.parse(out)).toMatchObject({ notStored });
  const [, second] = records(readFileSync(file('results'), 'utf8'));
  expect(second).toMatchObject({ line: 3, notStored: [{ sent: 'blue', returned: null }, { field: 'name' }] });
});

test.runIf(existsSync('/dev/full'))(
  'push writes the products if the disk of --results is full, and says so',
  async () => {
    const { sandbox, push } = withFile('productNumber\nA\nB\n');
    await ends(push('--yes', '--results', '/dev/full'), 7, '/dev/full cannot be written: ENOSPC');
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
  const { log } = await ends(push('-y', '--concurrency', '1'), 3, advice);
  expect(log).toContain(`(2 rows read; ${skip} created, 0 updated)`);
  expect(log.includes('Completed writes are kept; run the same command again')).toBe(skip > 0);
});

test('push reads standard input, and names all invalid cells of a row', async () => {
  const { sandbox, env } = withFile('');
  async function* stdin() {
    yield Buffer.from('productNumber,salePrice,isWebShop\nA,5,yes\nB,5.x,may');
    yield Buffer.from('be\n');
  }
  const said = /line 3, B: invalid_input: salePrice: "5.x" is not .*isWebShop: "maybe" is not true or false/;
  await ends(run(env, ['push', '-', '--key', 'productNumber', '--yes'], { stdin: stdin() }), 9, said);
  expect(products(sandbox)).toMatchObject([{ productNumber: 'A', isWebShop: true }]);
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
