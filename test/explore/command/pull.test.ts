import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { collectionNames, createClient } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { parse } from 'csv-parse/sync';
import { describe, expect, test, vi } from 'vitest';
import { MONEY_AS_NUMBERS } from '../../support/money-as-numbers.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { folder, openSandbox, records, run } from './support/run.ts';

/** A signal that fires with the request of this number. */
function stopAt(sandbox: Sandbox, request: number): AbortSignal {
  const stop = new AbortController();
  const from = sandbox.count();
  sandbox.onRequest(() => sandbox.count() - from === request && stop.abort());
  return stop.signal;
}

/** Ten pages of accounts, a folder, and the pull of them into its file `a`. */
function pullOfAccounts(options: SandboxOptions = {}) {
  const { sandbox, env } = openSandbox({ records: { accounts: 100 }, pageSize: 10, ...options });
  const file = folder();
  const pull = (args: readonly string[] = [], io?: Parameters<typeof run>[2]) =>
    run(env, ['pull', 'accounts', '--out', file('a'), ...args], io);
  return { sandbox, file, pull, text: (name = 'a') => readFileSync(file(name), 'utf8') };
}

/** The rows of CSV by an independent parser, or of NDJSON. */
const rowsOf = (format: string, text: string): Record<string, unknown>[] =>
  format === 'csv' ? parse(text, { columns: true }) : records(text);
const FORMATS = ['ndjson', 'csv'] as const;

test('pull prints every record on a line of its own, as the service sends it, each page at once', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 40, products: 25 }, pageSize: 10 });
  for (const name of ['accounts', 'products'] as const) {
    for (const pagination of ['keyset', 'page']) {
      const pieces: string[] = [];
      const write = async (text: string) => void pieces.push(text);
      const { code } = await run(env, ['pull', name, '--pagination', pagination], { write });
      expect([code, records(pieces.join(''))]).toEqual([0, sandbox.store[name].all()]);
      expect(pieces.length).toBeGreaterThan(2);
      expect(sandbox.count(({ query }) => 'id[gt]' in query) > 0).toBe(pagination === 'keyset');
      sandbox.clearLogs();
    }
  }
});

test('pull prints invalid records too', async () => {
  const { sandbox, env } = openSandbox({ records: { products: 25 } });
  sandbox.faults.add(MONEY_AS_NUMBERS);
  const { code, out } = await run(env, ['pull', 'products']);
  expect([code, records(out).length, typeof records(out)[0]?.salePrice]).toEqual([0, 25, 'number']);

  const numbers = openSandbox({ records: { accounts: 5 }, ids: { numbers: true } });
  const odd = await run(numbers.env, ['pull', 'accounts']);
  const said = /^GET \/accounts returned rows whose id cannot be read: .*JSON number 1\b.*\.\nRun "probe/m;
  expect([odd.code, records(odd.out).length, odd.log]).toEqual([5, 5, expect.stringMatching(said)]);
  // Of a state that it does not have it says nothing.
  expect(odd.log).not.toMatch(/watermark|deletion/);
});

test.each(FORMATS)('pull leaves out rows that are no object, and fails: %s', async (format) => {
  for (const row of ['null', '"x"', '[1]']) {
    const { sandbox, env } = openSandbox({ records: { accounts: 3 } });
    sandbox.faults.add({ kind: 'rewrite', body: (text) => text.replace(/\{"id":"2"[^}]*\}/, row) });
    const { code, out } = await run(env, ['pull', 'accounts', '--format', format]);
    expect([code, rowsOf(format, out).map(({ id }) => id)]).toEqual([5, ['1', '3']]);
  }
});

describe('pull on a terminal', () => {
  useVirtualClock();

  test('says how far it is, that it waits for the quota, and nothing with --quiet', async () => {
    const { sandbox, env } = openSandbox({ records: { accounts: 60 } });
    const shown: (string | undefined)[] = [];
    const status = (text: string | undefined) => void shown.push(text);
    sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 1 }, { skip: 2, times: 1 });
    const { log, out } = await run(env, ['pull', 'accounts'], { status });
    expect(records(out)).toEqual(sandbox.store.accounts.all());
    expect(shown).toContainEqual(expect.stringMatching(/^accounts: 60 records in \d+ pages/));
    expect(shown).toContainEqual(expect.stringMatching(/waiting.* for the quota of the key$/));
    expect(log).toMatch(/^60 records of accounts in \d+ pages, [\d.]+ s: complete\.$/m);

    shown.length = 0;
    const quiet = await run(env, ['pull', 'accounts', '--quiet'], { status });
    expect([shown.filter((text) => text !== undefined), quiet.log]).toEqual([[], '']);
  });
});

describe('a pull into a file', () => {
  test.each([
    ['an error', 3, 'ndjson'],
    ['Ctrl-C', 130, 'csv'],
  ])(
    'leaves one that exists as it was after %s, with exit code %i, as %s, and nothing beside it',
    async (_, code, format) => {
      const { sandbox, pull, file, text } = pullOfAccounts();
      writeFileSync(file('a'), 'older\n', { mode: 0o640 });
      symlinkSync(file('a'), file('link'));
      const args = ['--out', file('link'), '--format', format];
      if (code === 3)
        sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 6, times: 1 });
      const failed = await pull(args, code === 130 ? { signal: stopAt(sandbox, 5) } : {});
      expect([failed.code, readdirSync(file('.')), text()]).toEqual([code, ['a', 'link'], 'older\n']);
      expect(failed.log.includes(`${file('link')} is unchanged.`)).toBe(code === 130);

      expect((await pull(args)).code).toBe(0);
      expect(rowsOf(format, text()).map(({ id }) => id)).toEqual(sandbox.store.accounts.ids());
      expect(readdirSync(file('.'))).toEqual(['a', 'link']);
      expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
      expect(statSync(file('a')).mode & 0o777).toBe(0o640);
    },
  );

  test('is rejected before a request is sent if it cannot be written', async () => {
    const { sandbox, env } = openSandbox();
    const file = folder();
    writeFileSync(file('taken'), '');
    mkdirSync(file('data/pull.lock'), { recursive: true });
    await using server = createServer().listen(file('socket'));
    await once(server, 'listening');
    for (const [line, reason] of [
      ['pull accounts --out taken/a', /EEXIST|ENOTDIR/],
      ['pull accounts --out .', /is a folder/],
      ['pull accounts --out socket', /not a regular file/],
      ['discover --out taken/b/schemas.ts', /EEXIST|ENOTDIR/],
      ['pull --all --out taken', /Name a folder\./],
      ['pull --all --out data', /cannot be locked/],
    ] as const) {
      const args = line.split(' ');
      const { code, log } = await run(env, [...args.slice(0, -1), file(args.at(-1) ?? '')]);
      expect([line, code, log]).toEqual([line, 7, expect.stringMatching(reason)]);
      expect(log).toMatch(/^.*\n.+\n$/);
    }
    expect([sandbox.count(), statSync(file('socket')).isSocket()]).toEqual([0, true]);
  });

  test.each([
    ['appendFile', 'ndjson'],
    ['writeFile', 'csv'],
  ] as const)('leaves nothing behind if the disk is full: %s', async (method, format) => {
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    const { pull, file } = pullOfAccounts();
    const handle = await open(file('scratch'), 'w');
    vi.spyOn(Object.getPrototypeOf(handle), method).mockRejectedValue(full);
    await handle.close();
    const { code, log } = await pull(['--format', format]);
    expect([code, log, readdirSync(file('.'))]).toEqual([7, expect.stringContaining('ENOSPC'), ['scratch']]);
  });

  test.each([
    ['ndjson', 'a.part'],
    ['csv', 'a.tmp'],
  ])(
    'that cannot be replaced leaves every record beside it, and the command names the file: %s',
    async (format, left) => {
      const { sandbox, pull, file, text } = pullOfAccounts();
      // A rename cannot replace a folder, nor a file that is mounted or, on Windows, open.
      sandbox.onRequest(() => sandbox.count() === 2 && mkdirSync(file('a')));
      const { code, log } = await pull(['--format', format]);
      expect([code, log]).toEqual([7, expect.stringContaining(`Every record is in ${file(left)}. Rename`)]);
      expect(readdirSync(file('.'))).toEqual(['a', left]);
      expect(rowsOf(format, text(left))).toHaveLength(100);
    },
  );

  test.each(FORMATS)(
    'is not overwritten through a link under the name of a temporary file: %s',
    async (format) => {
      const { pull, file, text } = pullOfAccounts();
      writeFileSync(file('victim'), 'untouched\n', { mode: 0o666 });
      for (const end of ['part', 'tmp']) symlinkSync(file('victim'), file(`a.${end}`));
      writeFileSync(file('a'), 'older\n', { mode: 0o600 });
      expect((await pull(['--format', format])).code).toBe(0);
      expect(text('victim')).toBe('untouched\n');
      expect([lstatSync(file('a')).isFile(), statSync(file('a')).mode & 0o777]).toEqual([true, 0o600]);
    },
  );

  test('is not replaced by half of it while another pull writes to the same file', async () => {
    const { sandbox, pull, file } = pullOfAccounts();
    sandbox.onRequest(() => {
      if (!existsSync(file('a.part'))) return;
      rmSync(file('a.part'));
      writeFileSync(file('a.part'), '{"id":"1"}\n');
    });
    const { code, log } = await pull();
    expect([code, log]).toEqual([7, expect.stringContaining('was replaced by another program')]);
    expect(existsSync(file('a'))).toBe(false);
  });
});

test('pull --format csv writes the columns of all records, and every value as the service sent it', async () => {
  const { sandbox, env } = openSandbox();
  const note = 'two\nlines\u2028end';
  const big = '12345678901234567890';
  sandbox.store.accounts.insert({ name: 'Cash, "petty"', amount: '0012.3400', note });
  sandbox.store.accounts.insert({ tags: ['a', 'b,c'], empty: '', nothing: null, big });
  const { code, out } = await run(env, ['pull', 'accounts', '--format', 'csv']);
  expect([code, out.split('\n')[0]]).toEqual([0, 'id,name,amount,note,tags,empty,nothing,big']);
  expect(rowsOf('csv', out)).toMatchObject([
    { name: 'Cash, "petty"', amount: '0012.3400', note, tags: '' },
    { name: '', tags: '["a","b,c"]', nothing: '', big },
  ]);
  // An empty string is not null.
  expect(out.trimEnd().split('\n').at(-1)).toContain(',"",,');

  sandbox.store.boms.insert({ toString: 'x', code: ' 7' });
  sandbox.store.boms.insert({});
  const boms = await run(env, ['pull', 'boms', '--format', 'csv']);
  expect(boms.out).toBe('id,toString,code\n1,x," 7"\n2,,\n');
});

/** A pull of everything into a folder. */
function pullOfAll(options: SandboxOptions) {
  const { sandbox, env } = openSandbox(options);
  const file = folder();
  const pull = (
    args: readonly string[] = [],
    { settings = env, ...io }: { settings?: typeof env; signal?: AbortSignal } = {},
  ) => run(settings, ['pull', '--all', '--out', file('data'), ...args], io);
  return { sandbox, env, file, pull, files: () => readdirSync(file('data')) };
}

describe('pull --all', () => {
  test('writes a file and a line for each collection that the key may read', async () => {
    const { sandbox, file, pull, files } = pullOfAll({ records: 150 });
    const { code, out, log } = await pull();
    expect([code, out, files().length]).toEqual([0, '', collectionNames.length]);
    const client = createClient(sandbox.clientOptions);
    for (const name of collectionNames) {
      const text = readFileSync(file(`data/${client[name].segment}.ndjson`), 'utf8');
      expect(records(text)).toEqual(sandbox.store[name].all());
    }
    const lines = log.trimEnd().split('\n');
    expect(lines).toHaveLength(collectionNames.length);
    expect(lines[0]).toMatch(/^\d+ records of accounts in \d+ pages, [\d.]+ s: complete\.$/);
  });

  test('that is stopped changes no file', async () => {
    const counts = { accounts: 20, accountAddresses: 20, products: 30 };
    const { sandbox, file, pull, files } = pullOfAll({ records: counts, pageSize: 10 });
    mkdirSync(file('data'));
    writeFileSync(file(`data/accounts.csv`), 'older\n');
    const stop = new AbortController();
    const unlisten = sandbox.onRequest(({ path }) => path.endsWith('/products') && stop.abort());
    const { code, log } = await pull(['--format', 'csv'], { signal: stop.signal });
    unlisten();
    expect([code, log]).toEqual([130, expect.stringContaining(`No file of ${file('data')} was changed.`)]);
    expect(files()).toEqual(['accounts.csv']);
    expect(readFileSync(file('data/accounts.csv'), 'utf8')).toBe('older\n');

    expect((await pull(['--format', 'csv'])).code).toBe(0);
    expect(files()).toHaveLength(collectionNames.length);
    expect(rowsOf('csv', readFileSync(file('data/accounts.csv'), 'utf8'))).toHaveLength(20);
  });

  test('is rejected while another one writes into the folder', async () => {
    const { sandbox, pull, files } = pullOfAll({ records: 200 });
    const first = pull();
    while (sandbox.count() < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await pull();
    expect([second.code, second.log]).toEqual([7, expect.stringContaining('Another pull')]);
    expect((await first).code).toBe(0);
    expect(files()).not.toContain('pull.lock');
  });

  test('writes no file for a collection that the key may not read, and fails if it loses its rights', async () => {
    const { sandbox, env, pull, files } = pullOfAll({ records: { accounts: 100 }, pageSize: 10 });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 8, times: 1 });
    expect([(await pull()).code, files()]).toEqual([3, []]);
    const settings = { ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly };
    const { code, log } = await pull([], { settings });
    expect([code, files()]).toEqual([0, ['products.ndjson']]);
    expect(log).toContain('This key may not read accounts (scope_required).');
  });
});

const EVERYWHERE = { timestampsEverywhere: true, records: { accounts: 100 } } as const;

test.each<[what: string, options: SandboxOptions, warning: RegExp]>([
  [
    'a record may be missing',
    { hiddenRecords: 0.05, order: 'updated-desc' },
    /in the order of ids, or hides records/,
  ],
  [
    'a list repeated records',
    { ids: { form: 'uuid' }, order: 'updated-asc', ties: 'each-page', clock: '2026-05-01T12:00:00Z' },
    /Warning: the list of accounts repeated \d+ records?, so it may lack as many\./,
  ],
])('pull warns if %s, but not with --quiet', async (_, options, warning) => {
  const { sandbox, env } = openSandbox({ ...EVERYWHERE, ...options });
  const { accounts } = sandbox.store;
  if (options.ties) for (const id of accounts.ids()) accounts.update(id, { name: 'imported' });
  const { log } = await run(env, ['pull', 'accounts']);
  expect(log).toMatch(warning);
  expect(log).not.toContain('Read by page');
  expect((await run(env, ['pull', 'accounts', '--quiet'])).log).toBe('');
});

test('pull names the collections that were read by page once', async () => {
  const { env, file, pull } = pullOfAll({ records: { accounts: 100, boms: 100 }, ids: { form: 'uuid' } });
  const logs = [
    (await pull()).log,
    (await run(env, ['pull', '--all', '--to', file('books.sqlite'), '--tenant', 'acme'])).log,
  ];
  for (const log of logs) {
    expect(log).not.toContain('Warning');
    expect(log.match(/Read by page: .*/g)).toEqual([
      'Read by page: accounts, boms. If a record was deleted during the read, another one may be missing.',
    ]);
  }
});
