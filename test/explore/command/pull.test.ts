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
  const args = ['pull', 'accounts', '--out', file('a')];
  return { sandbox, env, file, args, pulled: () => records(readFileSync(file('a'), 'utf8')) };
}

/** The rows of CSV by an independent parser. */
const rows = (text: string): Record<string, string>[] => parse(text, { columns: true });

describe('pull', () => {
  test('prints every record on a line of its own, as the service sends it', async () => {
    const { sandbox, env } = openSandbox({ records: 150 });
    for (const name of ['accounts', 'products'] as const) {
      for (const pagination of ['keyset', 'page']) {
        const { code, out } = await run(env, ['pull', name, '--pagination', pagination]);
        expect(code).toBe(0);
        expect(records(out)).toEqual(sandbox.store[name].all());
        expect(sandbox.count(({ query }) => 'id[gt]' in query) > 0).toBe(pagination === 'keyset');
        sandbox.clearLogs();
      }
    }
  });

  test('prints each page at once', async () => {
    const { env } = openSandbox({ records: { accounts: 70 }, pageSize: 10 });
    const pieces: string[] = [];
    await run(env, ['pull', 'accounts'], { write: async (text) => void pieces.push(text) });
    expect(pieces.length).toBeGreaterThan(6);
    expect(records(pieces.join('')).length).toBe(70);
  });

  test('prints invalid records too', async () => {
    const { sandbox, env } = openSandbox({ records: { products: 25 } });
    sandbox.faults.add(MONEY_AS_NUMBERS);
    const { code, out } = await run(env, ['pull', 'products']);
    expect([code, records(out).length, typeof records(out)[0]?.salePrice]).toEqual([0, 25, 'number']);

    const numbers = openSandbox({ records: { accounts: 5 }, ids: { numbers: true } });
    const odd = await run(numbers.env, ['pull', 'accounts']);
    expect([odd.code, records(odd.out).length]).toEqual([5, 5]);
    expect(odd.log).toMatch(
      /^GET \/accounts returned rows whose id cannot be read: .*JSON number 1\b.*\.\nRun "probe/m,
    );
    // Of a state that it does not have it says nothing.
    expect(odd.log).not.toMatch(/watermark|deletion/);
  });

  test('says how far it is on a terminal, and nothing with --quiet', async () => {
    const { env } = openSandbox({ records: { accounts: 60 } });
    const shown: (string | undefined)[] = [];
    const { log } = await run(env, ['pull', 'accounts'], { status: (text) => void shown.push(text) });
    expect(shown).toContainEqual(expect.stringMatching(/^accounts: 60 records in \d+ pages/));
    expect(log).toMatch(/^60 records of accounts in \d+ pages, [\d.]+ s: complete\.$/m);

    shown.length = 0;
    const quiet = await run(env, ['pull', 'accounts', '--quiet'], {
      status: (text) => void shown.push(text),
    });
    expect(shown.filter((text) => text !== undefined)).toEqual([]);
    expect(quiet.log).toBe('');
  });
});

describe('a pull over the quota of the key', () => {
  useVirtualClock();

  test('waits, says so, and reads everything', async () => {
    const { sandbox, env } = openSandbox({ records: 200 });
    sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 1 }, { skip: 2, times: 1 });
    const shown: (string | undefined)[] = [];
    const { code, out } = await run(env, ['pull', 'accounts'], { status: (text) => void shown.push(text) });
    expect([code, records(out)]).toEqual([0, sandbox.store.accounts.all()]);
    expect(shown).toContainEqual(expect.stringMatching(/waiting.* for the quota of the key$/));
  });
});

describe('a pull into a file', () => {
  test('reads by page from the start if an id is not an integer', async () => {
    const { sandbox, env, args, pulled } = pullOfAccounts();
    sandbox.store.accounts.insert({ id: 'A-1', name: 'By hand' });
    const { code, log } = await run(env, args);
    expect([code, log]).toEqual([0, expect.stringContaining('Ids are not integers')]);
    const ids = pulled().map(({ id }) => id);
    expect(ids.toSorted()).toEqual(sandbox.store.accounts.ids().toSorted());
  });

  test.each([
    ['an error', 3, 'ndjson'],
    ['Ctrl-C', 130, 'ndjson'],
    ['Ctrl-C', 130, 'csv'],
  ])(
    'leaves one that exists as it was after %s, with exit code %i, as %s, and nothing beside it',
    async (_, code, format) => {
      const { sandbox, env, file, args: ofFile } = pullOfAccounts();
      writeFileSync(file('a'), 'older\n', { mode: 0o640 });
      symlinkSync(file('a'), file('link'));
      const args = [...ofFile.with(3, file('link')), '--format', format];
      if (code === 3) {
        sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 6, times: 1 });
      }
      const failed = await run(env, args, code === 130 ? { signal: stopAt(sandbox, 5) } : {});
      expect([failed.code, readdirSync(file('.'))]).toEqual([code, ['a', 'link']]);
      expect(readFileSync(file('a'), 'utf8')).toBe('older\n');
      expect(failed.log.includes(`${file('link')} is unchanged.`)).toBe(code === 130);

      expect((await run(env, args)).code).toBe(0);
      const text = readFileSync(file('a'), 'utf8');
      const ids = (format === 'csv' ? rows(text) : records(text)).map(({ id }) => id);
      expect(ids).toEqual(sandbox.store.accounts.ids());
      expect(readdirSync(file('.'))).toEqual(['a', 'link']);
      expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
      expect(statSync(file('a')).mode & 0o777).toBe(0o640);
    },
  );

  test('is rejected before a request is sent if it cannot be written', async () => {
    const { sandbox, env } = openSandbox({ records: 200 });
    const file = folder();
    writeFileSync(file('taken'), '');
    mkdirSync(file('data/pull.lock'), { recursive: true });
    await using server = createServer().listen(file('socket'));
    await once(server, 'listening');
    for (const [line, reason] of [
      ['pull accounts --out taken/a', /EEXIST|ENOTDIR/],
      ['pull accounts --out .', /is a folder/],
      ['discover --out taken/b/schemas.ts', /EEXIST|ENOTDIR/],
      ['pull accounts --out socket', /not a regular file/],
      ['discover --out socket', /not a regular file/],
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
    const { env } = openSandbox({ records: { accounts: 50 } });
    const file = folder();
    const handle = await open(file('scratch'), 'w');
    vi.spyOn(Object.getPrototypeOf(handle), method).mockRejectedValue(full);
    await handle.close();
    const { code, log } = await run(env, ['pull', 'accounts', '--format', format, '--out', file('a')]);
    expect([code, log]).toEqual([7, expect.stringContaining('ENOSPC')]);
    expect(readdirSync(file('.'))).toEqual(['scratch']);
  });

  test.each([
    ['ndjson', 'a.part'],
    ['csv', 'a.tmp'],
  ])(
    'that cannot be replaced leaves every record beside it, and the command names the file: %s',
    async (format, left) => {
      const { sandbox, env } = openSandbox({ records: { accounts: 90 } });
      const file = folder();
      // A rename cannot replace a folder, nor a file that is mounted or, on Windows, open.
      sandbox.onRequest(() => sandbox.count() === 2 && mkdirSync(file('a')));
      const { code, log } = await run(env, ['pull', 'accounts', '--out', file('a'), '--format', format]);
      expect([code, log]).toEqual([7, expect.stringContaining(`Every record is in ${file(left)}. Rename`)]);
      expect(readdirSync(file('.'))).toEqual(['a', left]);
      const text = readFileSync(file(left), 'utf8');
      expect(text.trimEnd().split('\n')).toHaveLength(format === 'csv' ? 91 : 90);
    },
  );

  test.each(['ndjson', 'csv'])(
    'is not overwritten through a link under the name of a temporary file: %s',
    async (format) => {
      const { env } = openSandbox({ records: { accounts: 50 } });
      const file = folder();
      writeFileSync(file('victim'), 'untouched\n', { mode: 0o666 });
      for (const end of ['part', 'tmp']) symlinkSync(file('victim'), file(`a.${end}`));
      writeFileSync(file('a'), 'older\n', { mode: 0o600 });
      const args = ['pull', 'accounts', '--out', file('a'), '--format', format];
      expect((await run(env, args)).code).toBe(0);
      expect(readFileSync(file('victim'), 'utf8')).toBe('untouched\n');
      expect([lstatSync(file('a')).isFile(), statSync(file('a')).mode & 0o777]).toEqual([true, 0o600]);
    },
  );

  test('is not replaced by half of it while another pull writes to the same file', async () => {
    const { sandbox, env } = openSandbox({ records: { accounts: 100 }, pageSize: 10 });
    const file = folder();
    sandbox.onRequest(() => {
      if (!existsSync(file('a.part'))) return;
      rmSync(file('a.part'));
      writeFileSync(file('a.part'), '{"id":"1"}\n');
    });
    const { code, log } = await run(env, ['pull', 'accounts', '--out', file('a')]);
    expect([code, log]).toEqual([7, expect.stringContaining('was replaced by another program')]);
    expect(existsSync(file('a'))).toBe(false);
  });
});

describe('pull --format csv', () => {
  test('writes the columns of all records, and every value as the service sent it', async () => {
    const { sandbox, env } = openSandbox();
    const note = 'two\nlines\u2028end';
    sandbox.store.accounts.insert({ name: 'Cash, "petty"', amount: '0012.3400', note });
    sandbox.store.accounts.insert({
      tags: ['a', 'b,c'],
      empty: '',
      nothing: null,
      big: '12345678901234567890',
    });
    const { code, out } = await run(env, ['pull', 'accounts', '--format', 'csv']);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe('id,name,amount,note,tags,empty,nothing,big');
    expect(rows(out)).toEqual([
      expect.objectContaining({ name: 'Cash, "petty"', amount: '0012.3400', note, tags: '' }),
      expect.objectContaining({ name: '', tags: '["a","b,c"]', nothing: '', big: '12345678901234567890' }),
    ]);
    // An empty string is not null.
    expect(out.trimEnd().split('\n').at(-1)).toContain(',"",,');

    sandbox.store.boms.insert({ toString: 'x', code: ' 7' });
    sandbox.store.boms.insert({});
    const boms = await run(env, ['pull', 'boms', '--format', 'csv']);
    expect(boms.out).toBe('id,toString,code\n1,x," 7"\n2,,\n');
  });

  test.each(['ndjson', 'csv'])('leaves out rows that are no object, and fails: %s', async (format) => {
    for (const row of ['null', '"x"', '[1]']) {
      const { sandbox, env } = openSandbox({ records: { accounts: 3 } });
      const body = (text: string) => text.replace(/\{"id":"2"[^}]*\}/, row);
      sandbox.faults.add({ kind: 'rewrite', body });
      const { code, out } = await run(env, ['pull', 'accounts', '--format', format]);
      const found = format === 'csv' ? rows(out) : records(out);
      expect([code, found.map(({ id }) => id)]).toEqual([5, ['1', '3']]);
    }
  });

  test.each(['ndjson', 'csv'])(
    'creates an empty file, with the permissions of any new one, for an empty collection: %s',
    async (format) => {
      const { env } = openSandbox();
      const file = folder();
      writeFileSync(file('any'), '');
      expect((await run(env, ['pull', 'accounts', '--format', format, '--out', file('a')])).code).toBe(0);
      expect(readFileSync(file('a'), 'utf8')).toBe('');
      expect(statSync(file('a')).mode).toBe(statSync(file('any')).mode);
    },
  );
});

describe('pull --all', () => {
  test('writes a file and a line for each collection that the key may read', async () => {
    const { sandbox, env } = openSandbox({ records: 150 });
    const file = folder();
    const { code, out, log } = await run(env, ['pull', '--all', '--out', file('data')]);
    expect([code, out]).toEqual([0, '']);
    const client = createClient(sandbox.clientOptions);
    for (const name of collectionNames) {
      const text = readFileSync(file(`data/${client[name].segment}.ndjson`), 'utf8');
      expect(records(text)).toEqual(sandbox.store[name].all());
    }
    expect(readdirSync(file('data'))).toHaveLength(collectionNames.length);
    const lines = log.trimEnd().split('\n');
    expect(lines).toHaveLength(collectionNames.length);
    expect(lines[0]).toMatch(/^\d+ records of accounts in \d+ pages, [\d.]+ s: complete\.$/);
  });

  test.each(['ndjson', 'csv'])('that is stopped changes no file: %s', async (format) => {
    const counts = { accounts: 20, accountAddresses: 20, products: 100 };
    const { sandbox, env } = openSandbox({ records: counts, pageSize: 10 });
    const file = folder();
    const args = ['pull', '--all', '--out', file('data'), '--format', format];
    mkdirSync(file('data'));
    writeFileSync(file(`data/accounts.${format}`), 'older\n');
    const stop = new AbortController();
    const unlisten = sandbox.onRequest(({ path }) => path.endsWith('/products') && stop.abort());
    const { code, log } = await run(env, args, { signal: stop.signal });
    unlisten();
    expect([code, log]).toEqual([130, expect.stringContaining(`No file of ${file('data')} was changed.`)]);
    expect(readdirSync(file('data'))).toEqual([`accounts.${format}`]);
    expect(readFileSync(file(`data/accounts.${format}`), 'utf8')).toBe('older\n');

    expect((await run(env, args)).code).toBe(0);
    expect(readdirSync(file('data'))).toHaveLength(collectionNames.length);
    const text = readFileSync(file(`data/accounts.${format}`), 'utf8');
    expect(format === 'csv' ? rows(text) : records(text)).toHaveLength(20);
  });

  test('into a folder is rejected while another one runs', async () => {
    const { sandbox, env } = openSandbox({ records: 200 });
    const file = folder();
    const args = ['pull', '--all', '--out', file('data')];
    const stop = new AbortController();
    const first = run(env, args, { signal: stop.signal });
    while (sandbox.count() < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    const second = await run(env, args);
    expect([second.code, second.log]).toEqual([7, expect.stringContaining('Another pull')]);
    expect((await first).code).toBe(0);
    expect(records(readFileSync(file('data/accounts.ndjson'), 'utf8'))).toEqual(sandbox.store.accounts.all());
    expect(readdirSync(file('data'))).not.toContain('pull.lock');
  });

  test('writes no file for a collection that the key may not read, and fails if it loses its rights', async () => {
    const { sandbox, env } = openSandbox({ records: { accounts: 100 }, pageSize: 10 });
    const file = folder();
    const args = ['pull', '--all', '--out', file('data')];
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 8, times: 1 });
    expect([(await run(env, args)).code, readdirSync(file('data'))]).toEqual([3, []]);
    const { code, log } = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, args);
    expect([code, readdirSync(file('data'))]).toEqual([0, ['products.ndjson']]);
    expect(log).toContain('This key may not read accounts (scope_required).');
  });
});

describe('what a pull logs at its end', () => {
  test('warns if a record may be missing', async () => {
    const options = { records: { accounts: 100 }, hiddenRecords: 0.05 } as const;
    const likely = openSandbox({ ...options, order: 'updated-desc', timestampsEverywhere: true });
    expect((await run(likely.env, ['pull', 'accounts'])).log).toContain(
      'in the order of ids, or hides records',
    );
    expect((await run(likely.env, ['pull', 'accounts', '--quiet'])).log).toBe('');
    const certain = openSandbox({ records: { accounts: 50 } });
    const { log } = await run(certain.env, ['pull', 'accounts']);
    expect(log).not.toContain('Warning');
    expect(log).not.toContain('Read by page');
  });

  test('names the collections that were read by page once, and warns of one that repeated records', async () => {
    const records = { accounts: 100, boms: 100 };
    const { env } = openSandbox({ records, ids: { form: 'uuid' } });
    const file = folder();
    const all = ['pull', '--all', '--out', file('files')];
    for (const args of [all, ['pull', '--all', '--to', file('books.sqlite'), '--tenant', 'acme']]) {
      const { log } = await run(env, args);
      expect(log).not.toContain('Warning');
      expect(log.match(/Read by page: .*/g)).toEqual([
        'Read by page: accounts, boms. If a record was deleted during the read, another one may be missing.',
      ]);
    }

    const ties = openSandbox({
      records,
      ids: { form: 'uuid' },
      order: 'updated-asc',
      ties: 'each-page',
      timestampsEverywhere: true,
      clock: '2026-05-01T12:00:00Z',
    });
    const { accounts } = ties.sandbox.store;
    for (const id of accounts.ids()) accounts.update(id, { name: 'imported' });
    const { log } = await run(ties.env, ['pull', 'accounts']);
    expect(log).toMatch(/Warning: the list of accounts repeated \d+ records?, so it may lack as many\./);
    expect(log).not.toContain('Read by page');
  });
});
