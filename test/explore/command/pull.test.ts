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
import { useVirtualClock } from '../../support/virtual-clock.ts';
import { ends, folder, openSandbox, records, run } from './support/run.ts';

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

test.each(['keyset', 'page'])(
  'pull prints every record as the service sends it: by %s',
  async (pagination) => {
    const { sandbox, env } = openSandbox({ records: { products: 25 }, pageSize: 10 });
    // Even if they are invalid.
    const body = (text: string) => text.replaceAll(/"(-?\d+\.\d+)"/g, '$1');
    sandbox.faults.add({ kind: 'rewrite', body });
    const pieces: string[] = [];
    const write = async (text: string) => void pieces.push(text);
    const { code } = await run(env, ['pull', 'products', '--pagination', pagination], { write });
    const sent = JSON.parse(body(JSON.stringify(sandbox.store.products.all())));
    expect([code, records(pieces.join(''))]).toEqual([0, sent]);
    expect(pieces.length).toBeGreaterThan(2);
    expect(sandbox.count(({ query }) => 'id[gt]' in query) > 0).toBe(pagination === 'keyset');
  },
);

test('pull says how many records of all its pages are invalid', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 25 }, pageSize: 10 });
  const body = (text: string) => text.replaceAll(/"id":"(?:3|14)",/g, '$&"limit":1e400,');
  sandbox.faults.add({ kind: 'rewrite', body });
  const { log, out } = await run(env, ['pull', 'accounts', '--pagination', 'page']);
  expect(records(out).filter(({ limit }) => limit === null)).toHaveLength(2);
  expect(log).toMatch(/^25 records of accounts in .*\n2 of them are invalid: /m);
});

test.each(FORMATS)('pull prints rows with odd ids, none that is no object, and fails: %s', async (format) => {
  const { sandbox, env } = openSandbox({ records: { accounts: 4 }, ids: { numbers: true } });
  const body = (text: string) => text.replace(/\{"id":2[^}]*\}/, '"x"').replace(/\{"id":3[^}]*\}/, '[1]');
  sandbox.faults.add({ kind: 'rewrite', body });
  const { code, out, log } = await run(env, ['pull', 'accounts', '--format', format]);
  expect([code, rowsOf(format, out).map(({ id }) => String(id))]).toEqual([5, ['1', '4']]);
  const said = /^GET \/accounts returned rows whose id cannot be read: .*JSON number 1\b.*\.\nRun "probe/m;
  expect(log).toMatch(said);
});

describe('pull on a terminal', () => {
  useVirtualClock();

  test('says how far it is, that it waits for the quota, and nothing with --quiet', async () => {
    const { sandbox, env } = openSandbox({ records: { accounts: 60 } });
    const shown: (string | undefined)[] = [];
    const status = (text: string | undefined) => void shown.push(text);
    sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 30 }, { skip: 2, times: 1 });
    const { log } = await run(env, ['pull', 'accounts'], { status });
    // The response has come.
    expect(shown.join()).not.toContain('waiting for a response');
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
  ])('leaves one that exists as it was after %s (%i, %s), and nothing beside it', async (_, code, format) => {
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
    if (code !== 130) return;
    const stopped = pull(['--out', file('new')], { signal: stopAt(sandbox, 5) });
    await ends(stopped, 130, `${file('new')} was not written.`);
  });

  test('is rejected before a request is sent if it cannot be written', async () => {
    const { sandbox, env } = openSandbox();
    const file = folder();
    writeFileSync(file('taken'), '');
    mkdirSync(file('data/pull.lock'), { recursive: true });
    mkdirSync(file('more/products.ndjson'), { recursive: true });
    await using server = createServer().listen(file('socket'));
    await once(server, 'listening');
    for (const [what, name, reason] of [
      ['accounts', 'taken/a', /EEXIST|ENOTDIR/],
      ['accounts', '.', /is a folder/],
      ['accounts', 'socket', /not a regular file/],
      ['--all', 'taken', /Name a folder\./],
      ['--all', 'data', /cannot be locked/],
      ['--all', 'more', /products\.ndjson is a folder/],
    ] as const)
      await ends(run(env, ['pull', what, '--out', file(name)]), 7, reason);
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
  ])('that cannot be replaced leaves every record beside it: %s in %s', async (format, left) => {
    const { sandbox, pull, file, text } = pullOfAccounts();
    // A rename cannot replace a folder, nor a file that is mounted or, on Windows, open.
    sandbox.onRequest(() => sandbox.count() === 2 && mkdirSync(file('a')));
    await ends(pull(['--format', format]), 7, `Every record is in ${file(left)}. Rename`);
    expect([readdirSync(file('.')), rowsOf(format, text(left)).length]).toEqual([['a', left], 100]);
  });

  test.each(FORMATS)('is not overwritten through a link of its temporary file: %s', async (format) => {
    const { pull, file, text } = pullOfAccounts();
    writeFileSync(file('victim'), 'untouched\n', { mode: 0o666 });
    for (const end of ['part', 'tmp']) symlinkSync(file('victim'), file(`a.${end}`));
    writeFileSync(file('a'), 'older\n', { mode: 0o600 });
    expect((await pull(['--format', format])).code).toBe(0);
    expect(text('victim')).toBe('untouched\n');
    expect([lstatSync(file('a')).isFile(), statSync(file('a')).mode & 0o777]).toEqual([true, 0o600]);
  });

  test('is not replaced by half of it while another pull writes to the same file', async () => {
    const { sandbox, pull, file } = pullOfAccounts();
    sandbox.onRequest(() => {
      if (!existsSync(file('a.part'))) return;
      rmSync(file('a.part'));
      writeFileSync(file('a.part'), '{"id":"1"}\n');
    });
    await ends(pull(), 7, 'was replaced by another program');
    expect(existsSync(file('a'))).toBe(false);
  });
});

test('pull --format csv writes the columns of all records', async () => {
  const { sandbox, env } = openSandbox();
  for (const record of [{ name: 'Cash, "petty"' }, { tags: ['a'], empty: '' }])
    sandbox.store.accounts.insert(record);
  const file = folder();
  vi.stubEnv('TMPDIR', file('.'));
  const isOwn = (name: string) => name.startsWith('accounting-data-sdk');
  let out = '';
  const write = async (text: string) => {
    out += text;
    // Its lines are in a temporary file, which no other user can read.
    const lines = readdirSync(file('.')).filter(isOwn);
    expect(lines.map((name) => statSync(file(name)).mode & 0o777)).toEqual([0o600]);
  };
  expect((await run(env, ['pull', 'accounts', '--format', 'csv'], { write })).code).toBe(0);
  expect(out).toBe('id,name,tags,empty\n1,"Cash, ""petty""",,\n2,,"[""a""]",""\n');
  expect(readdirSync(file('.')).filter(isOwn)).toEqual([]);
});

test.each(FORMATS)('pull --format %s writes each record once, however large they are', async (format) => {
  const { sandbox, env } = openSandbox();
  for (let n = 0; n < 30; n++) sandbox.store.accounts.insert({ name: `${n} ${'x'.repeat(9_000)}` });
  const { out } = await run(env, ['pull', 'accounts', '--format', format]);
  const written = rowsOf(format, out).map(({ name }) => name);
  expect(written).toEqual(sandbox.store.accounts.all().map(({ name }) => name));
});

describe('pull --all', () => {
  /** A pull of everything into a folder. */
  function pullOfAll(options: SandboxOptions) {
    const { sandbox, env } = openSandbox(options);
    const file = folder();
    const pull = (apiKey = sandbox.keys.full, args: readonly string[] = [], io?: Parameters<typeof run>[2]) =>
      run({ ...env, ACCOUNTING_API_KEY: apiKey }, ['pull', '--all', '--out', file('data'), ...args], io);
    return { sandbox, file, pull, files: () => readdirSync(file('data')) };
  }

  test('writes a file and a line for each collection, and is rejected while another one writes', async () => {
    const { sandbox, file, pull, files } = pullOfAll({ records: 150 });
    // The first one goes on when the second one has ended.
    const { promise: hasEnded, resolve: goOn } = Promise.withResolvers<void>();
    const { fetch } = globalThis;
    let requests = 0;
    vi.stubGlobal('fetch', async (...request: Parameters<typeof fetch>) => {
      if (++requests > 5) await hasEnded;
      return await fetch(...request);
    });
    const first = pull();
    await expect.poll(() => requests).toBeGreaterThan(5);
    await ends(pull(), 7, 'Another pull').finally(goOn);
    const { code, out, log } = await first;
    expect([code, out, files().length]).toEqual([0, '', collectionNames.length]);
    const client = createClient(sandbox.clientOptions);
    for (const name of collectionNames) {
      const text = readFileSync(file(`data/${client[name].segment}.ndjson`), 'utf8');
      expect(records(text)).toEqual(sandbox.store[name].all());
    }
    expect(log).toMatch(/^\d+ records of accounts in \d+ pages, [\d.]+ s: complete\.$/m);
  });

  test('replaces the other files if one cannot be replaced', async () => {
    const { sandbox, file, pull, files } = pullOfAll({ records: { accounts: 3, products: 3 } });
    sandbox.onRequest(() => sandbox.count() === 2 && mkdirSync(file('data/accounts.ndjson')));
    await ends(pull(), 7, `Every record is in ${file('data/accounts.ndjson.part')}.`);
    expect(records(readFileSync(file('data/products.ndjson'), 'utf8'))).toHaveLength(3);
    expect(files()).toHaveLength(collectionNames.length + 1);
  });

  test('writes every file if one collection has ids that cannot be read, and fails', async () => {
    const ids = { accounts: { numbers: true } } as const;
    const { pull, file, files } = pullOfAll({ records: { accounts: 3, products: 3 }, ids });
    await ends(pull(), 5, 'GET /accounts returned rows whose id cannot be read');
    expect(files()).toHaveLength(collectionNames.length);
    for (const name of ['accounts', 'products'])
      expect(records(readFileSync(file(`data/${name}.ndjson`), 'utf8'))).toHaveLength(3);
  });

  test('that is stopped changes no file', async () => {
    const counts = { accounts: 20, accountAddresses: 20, products: 30 };
    const { sandbox, file, pull, files } = pullOfAll({ records: counts, pageSize: 10 });
    mkdirSync(file('data'));
    writeFileSync(file(`data/accounts.csv`), 'older\n');
    const stopped = pull(undefined, ['--format', 'csv'], { signal: stopAt(sandbox, 8) });
    await ends(stopped, 130, `No file of ${file('data')} was changed.`);
    expect([files(), readFileSync(file('data/accounts.csv'), 'utf8')]).toEqual([['accounts.csv'], 'older\n']);
    expect((await pull(undefined, ['--format', 'csv'])).code).toBe(0);
    expect(rowsOf('csv', readFileSync(file('data/accounts.csv'), 'utf8'))).toHaveLength(20);
  });

  test('writes no file for a collection that the key may not read, and fails if it loses its rights', async () => {
    const { sandbox, pull, files } = pullOfAll({ records: { accounts: 100 }, pageSize: 10 });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 8, times: 1 });
    expect([(await pull()).code, files()]).toEqual([3, []]);
    const { code, log } = await pull(sandbox.keys.productsOnly);
    expect([code, files()]).toEqual([0, ['products.ndjson']]);
    expect(log).toContain('This key may not read accounts (scope_required).');
  });
});

const UUIDS = { ids: { form: 'uuid' } } as const;

test.each<[what: string, options: SandboxOptions, warning: RegExp]>([
  [
    'records may be hidden',
    { hiddenRecords: 0.05, order: 'updated-desc' },
    /does not list in the order of ids/,
  ],
  ['a list repeats', { ...UUIDS, order: 'updated-asc', ties: 'each-page' }, /records came twice/],
  ['it read by page', UUIDS, /the list has several pages/],
])(
  'pull warns if %s, and then never says that it is complete, but not with --quiet',
  async (_, options, warning) => {
    const common = { timestampsEverywhere: true, clock: '2026-05-01T12:00:00Z' };
    const { sandbox, env } = openSandbox({ records: { accounts: 100 }, ...common, ...options });
    const { accounts } = sandbox.store;
    if (options.ties) for (const id of accounts.ids()) accounts.update(id, { name: 'imported' });
    const { log } = await run(env, ['pull', 'accounts']);
    expect(log).toMatch(RegExp(`^Warning: records of accounts may be missing: .*${warning.source}`, 'm'));
    expect(log).toMatch(/^\d+ records of accounts in .* s: records may be missing\.$/m);
    expect(log).not.toContain('complete');
    const byPage = /^Ids are not integers: reading page by page\.$/gm;
    expect(log.match(byPage)?.length ?? 0).toBe(options.ids ? 1 : 0);
    const profile = { client: { pagination: { accounts: 'page' } }, sync: {}, sandbox: {} };
    const service = folder()('service.json');
    writeFileSync(service, JSON.stringify(profile));
    for (const how of [
      ['--pagination', 'page'],
      ['--service', service],
    ]) {
      const asked = await run(env, ['pull', 'accounts', ...how]);
      expect(asked.log).toMatch(/^\d+ records of accounts in 4 pages, /m);
      expect(asked.log).not.toMatch(byPage);
    }
    expect((await run(env, ['pull', 'accounts', '--quiet'])).log).toBe('');
  },
);
