import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { collectionNames, createClient } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
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

    sandbox.faults.clear();
    const nameless = (text: string) => text.replace('"id":"3"', '"id":null');
    sandbox.faults.add({ kind: 'rewrite', body: nameless });
    const odd = await run(env, ['pull', 'products']);
    expect([odd.code, records(odd.out).length]).toEqual([5, 25]);
    expect(odd.log).toMatch(/GET \/products .* cannot be read: in row \d+ of the read, id is null/);
    expect(odd.log).toContain('pass --service service.mts');
  });

  test('says which ids cannot be read, and nothing of a state that it does not have', async () => {
    const { env } = openSandbox({ records: { accounts: 5 }, ids: { numbers: true } });
    const { code, out, log } = await run(env, ['pull', 'accounts']);
    expect([code, records(out).length]).toEqual([5, 5]);
    expect(log).toMatch(
      /^GET \/accounts returned rows whose id cannot be read: .*JSON number 1\b.*\.\nRun "probe/m,
    );
    expect(log).not.toMatch(/watermark|deletion/);
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

  test('rejects what is not a regular file, before it sends anything', async () => {
    const { sandbox, env } = openSandbox({ records: 100 });
    const file = folder();
    const server = createServer().listen(file('socket'));
    await once(server, 'listening');
    for (const args of [['pull', 'accounts'], ['discover']]) {
      const { code, log } = await run(env, [...args, '--out', file('socket')]);
      expect([code, log]).toEqual([7, expect.stringContaining('not a regular file')]);
    }
    expect([sandbox.count(), statSync(file('socket')).isSocket()]).toEqual([0, true]);
    server.close();
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

  test('leaves a missing field empty whatever its name', async () => {
    const { sandbox, env } = openSandbox();
    sandbox.store.boms.insert({ toString: 'x', code: ' 7' });
    sandbox.store.boms.insert({});
    const { out } = await run(env, ['pull', 'boms', '--format', 'csv']);
    expect(out).toBe('id,toString,code\n1,x," 7"\n2,,\n');
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

  test('needs a folder, and says so if there is a file', async () => {
    const { sandbox, env } = openSandbox();
    const file = folder()('data');
    writeFileSync(file, '');
    const { code, log } = await run(env, ['pull', '--all', '--out', file]);
    expect([code, log]).toEqual([7, expect.stringContaining('Name a folder.')]);
    expect(sandbox.count()).toBe(0);
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

  test('writes no file for a collection that the key may not read', async () => {
    const { sandbox, env } = openSandbox({ records: 150 });
    const file = folder();
    const key = { ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly };
    const { code, log } = await run(key, ['pull', '--all', '--out', file('data')]);
    expect([code, readdirSync(file('data'))]).toEqual([0, ['products.ndjson']]);
    expect(log).toContain('This key may not read accounts (scope_required).');
  });

  test('fails if the key loses its rights in the middle of a collection', async () => {
    const { sandbox, env } = openSandbox({ records: { accounts: 100 }, pageSize: 10 });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 8, times: 1 });
    const file = folder();
    expect((await run(env, ['pull', '--all', '--out', file('data')])).code).toBe(3);
    expect(readdirSync(file('data'))).toEqual([]);
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
