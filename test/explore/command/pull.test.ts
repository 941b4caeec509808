import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { collectionNames, createClient } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { parse } from 'csv-parse/sync';
import { describe, expect, test, vi } from 'vitest';
import { useFastClock } from '../../support/virtual-clock.ts';
import { folder, listening, records, run } from './support/run.ts';

/** A signal that fires with the request of this number. */
function stopAt(sandbox: Sandbox, request: number): AbortSignal {
  const stop = new AbortController();
  const from = sandbox.count();
  sandbox.onRequest(() => sandbox.count() - from === request && stop.abort());
  return stop.signal;
}

/** Ten pages of accounts, a folder, and the pull of them into its file `a` with the checkpoint `cp`. */
async function pullOfAccounts(options: SandboxOptions = {}) {
  const { sandbox, env } = await listening({ records: { accounts: 100 }, pageSize: 10, ...options });
  const file = folder();
  const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
  return { sandbox, env, file, args, pulled: () => records(readFileSync(file('a'), 'utf8')) };
}

/** The same, stopped in the middle. */
async function stoppedPull(options: SandboxOptions = {}) {
  const pull = await pullOfAccounts(options);
  const stopped = await run(pull.env, pull.args, { signal: stopAt(pull.sandbox, 6) });
  expect(stopped.code).toBe(130);
  return { ...pull, stopped };
}

/** The rows of CSV by an independent parser. */
const rows = (text: string): Record<string, string>[] => parse(text, { columns: true });

describe('pull', () => {
  test('prints every record on a line of its own, as the service sends it', async () => {
    const { sandbox, env } = await listening({ records: 150 });
    for (const name of ['accounts', 'products'] as const) {
      for (const pagination of ['keyset', 'page']) {
        const { code, out } = await run(env, ['pull', name, '--pagination', pagination]);
        expect(code).toBe(0);
        expect(records(out)).toEqual(sandbox.store[name].all());
      }
    }
  });

  test('prints each page at once', async () => {
    const { env } = await listening({ records: { accounts: 70 }, pageSize: 10 });
    const pieces: string[] = [];
    await run(env, ['pull', 'accounts'], { write: async (text) => void pieces.push(text) });
    expect(pieces.length).toBeGreaterThan(6);
    expect(records(pieces.join('')).length).toBe(70);
  });

  test('prints invalid records too', async () => {
    const { sandbox, env } = await listening({ records: { products: 25 } });
    sandbox.faults.add({ kind: 'money-as-number' }, { probability: 1 });
    const { code, out } = await run(env, ['pull', 'products']);
    expect([code, records(out).length, typeof records(out)[0]?.salePrice]).toEqual([0, 25, 'number']);

    sandbox.faults.clear();
    const nameless = (text: string) => text.replace('"id":"3"', '"id":null');
    sandbox.faults.add({ kind: 'rewrite', body: nameless }, { probability: 1 });
    const odd = await run(env, ['pull', 'products']);
    expect([odd.code, records(odd.out).length]).toEqual([0, 25]);
    expect(odd.log).toContain('1 of them are invalid: no valid id');
  });

  test('reads what was modified since a timestamp, and says from when to read next', async () => {
    const { sandbox, env } = await listening({ records: 200 });
    const startedAt = Date.now();
    const { out, log } = await run(env, ['pull', 'products', '--since', '2024-06-01']);
    const changed = sandbox.store.products.all().filter(({ updatedAt }) => (updatedAt ?? '') >= '2024-06-01');
    expect(records(out)).toEqual(changed);
    const next = /--since (\S+Z)$/m.exec(log)?.[1] ?? '';
    // The service's clock when it began, less the two minutes in which a write may still be on its way. `Date` has whole
    // seconds, and the request may have taken all the time.
    const [beganAt, tookMs] = [Date.parse(next) + 120_000, Date.now() - startedAt];
    expect(beganAt).toBeGreaterThanOrEqual(startedAt - tookMs - 2_000);
    expect(beganAt).toBeLessThanOrEqual(startedAt + tookMs);
  });

  test('says how far it is on a terminal, and nothing with --quiet', async () => {
    const { env } = await listening({ records: { accounts: 60 } });
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
  useFastClock();

  test('waits, says so, and reads everything', async () => {
    const { sandbox, env } = await listening({ records: 200 });
    sandbox.faults.add({ kind: 'rate-limited', retryAfter: 1 }, { skip: 2 });
    const shown: (string | undefined)[] = [];
    const { code, out } = await run(env, ['pull', 'accounts'], { status: (text) => void shown.push(text) });
    expect([code, records(out)]).toEqual([0, sandbox.store.accounts.all()]);
    expect(shown).toContainEqual(expect.stringMatching(/waiting.* for the quota of the key$/));
  });
});

describe('a pull that is stopped', () => {
  test('leaves whole lines and resumes after them', async () => {
    const { sandbox, env, file, args, pulled } = await pullOfAccounts({ order: 'id-desc' });
    const seen: number[] = [];
    // Four of them read ahead.
    for (const request of [9, 9]) {
      const { code } = await run(env, args, { signal: stopAt(sandbox, request) });
      expect(code).toBe(130);
      seen.push(records(readFileSync(file('a.part'), 'utf8')).length);
    }
    expect(seen[0]).toBeGreaterThan(10);
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 0);

    const { code, log } = await run(env, args);
    expect([code, pulled()]).toEqual([0, sandbox.store.accounts.all().toReversed()]);
    expect(log).toContain(`Resuming after ${seen[1]} records.`);
    expect(existsSync(file('cp'))).toBe(false);
  });

  test('in the middle of a line loses what the checkpoint does not know, and no more', async () => {
    const { sandbox, env, file, args, pulled } = await stoppedPull();
    appendFileSync(file('a.part'), '{"id":"9999","name":"written, but never committ');
    expect((await run(env, args)).code).toBe(0);
    expect(pulled()).toEqual(sandbox.store.accounts.all());
  });

  test('resumes on standard output, from which nothing can be removed', async () => {
    const { sandbox, env, args: all } = await pullOfAccounts();
    const args = all.toSpliced(2, 2);
    const first = await run(env, args, { signal: stopAt(sandbox, 6) });
    const second = await run(env, args);
    expect([first.code, second.code]).toEqual([130, 0]);
    expect(records(first.out + second.out)).toEqual(sandbox.store.accounts.all());
  });

  test('keeps the time from which to read next', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const { sandbox, env, args } = await stoppedPull({ clock: '2026-05-01T12:00:00Z' });
    sandbox.clock.set('2026-05-02T00:00:00Z');
    const { log } = await run(env, args);
    expect(log).toContain('--since 2026-05-01T11:58:00Z');
  });

  test('starts over with an empty file if ids are not integers', async () => {
    const { sandbox, env, file, args, pulled, stopped } = await stoppedPull({ ids: { form: 'uuid' } });
    expect(stopped.log).toContain('which cannot be resumed');
    expect(records(readFileSync(file('a.part'), 'utf8')).length).toBeGreaterThan(0);
    expect((await run(env, args)).code).toBe(0);
    expect(pulled()).toEqual(sandbox.store.accounts.all());
  });

  test('continues by page if an id is not an integer', async () => {
    const { sandbox, env, args, pulled } = await pullOfAccounts();
    sandbox.store.accounts.insert({ id: 'A-1', name: 'By hand' });
    expect((await run(env, args)).code).toBe(0);
    const ids = pulled().map(({ id }) => id);
    expect(ids.toSorted()).toEqual(sandbox.store.accounts.ids().toSorted());
  });
});

describe('a pull into a file that exists', () => {
  test.each([
    ['an error', 3, 'ndjson'],
    ['Ctrl-C', 130, 'ndjson'],
    ['Ctrl-C', 130, 'csv'],
  ])(
    'leaves it as it was after %s, and beside it what --checkpoint needs to resume',
    async (_, code, format) => {
      const { sandbox, env, file, args: ofFile } = await pullOfAccounts();
      writeFileSync(file('a'), 'older\n', { mode: 0o640 });
      symlinkSync(file('a'), file('link'));
      const args = [...ofFile.with(3, file('link')), '--format', format];
      const interrupt = (given: readonly string[]) => {
        if (code === 130) return run(env, given, { signal: stopAt(sandbox, 5) });
        sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 6, times: 1 });
        return run(env, given);
      };
      const alone = await interrupt(args.toSpliced(4, 2));
      expect([alone.code, readdirSync(file('.'))]).toEqual([code, ['a', 'link']]);
      const resumable = await interrupt(args);
      expect([resumable.code, resumable.log]).toEqual([code, expect.stringContaining('command to resume')]);
      expect(readdirSync(file('.')).toSorted()).toEqual(['a', 'a.part', 'cp', 'link']);
      expect(readFileSync(file('a'), 'utf8')).toBe('older\n');
      expect((await run(env, args)).code).toBe(0);
      const text = readFileSync(file('a'), 'utf8');
      const ids = (format === 'csv' ? rows(text) : records(text)).map(({ id }) => id);
      expect(ids).toEqual(sandbox.store.accounts.ids());
      expect(readdirSync(file('.'))).toEqual(['a', 'link']);
      expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
      expect(statSync(file('a')).mode & 0o777).toBe(0o640);
    },
  );

  test('says after Ctrl-C which file is unchanged, missing or incomplete, and how to continue', async () => {
    const { sandbox, env, file, args } = await pullOfAccounts();
    const stopped = async (given: readonly string[]) =>
      (await run(env, given, { signal: stopAt(sandbox, 4) })).log;
    const byPage = ['pull', 'accounts', '--out', file('a'), '--pagination', 'page'];
    expect(await stopped(byPage)).toContain(
      `${file('a')} was not written. Run the same command to start over.`,
    );
    writeFileSync(file('a'), 'older\n');
    const alone = await stopped(args.slice(0, 4));
    expect(alone).toContain(`${file('a')} is unchanged.`);
    expect(alone).toContain('with --checkpoint it can resume');
    expect(await stopped(args)).toContain(`The records so far are in ${file('a.part')}.`);
  });

  test('rejects what is not a regular file, before it sends anything', async () => {
    const { sandbox, env } = await listening({ records: 100 });
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

describe('a pull that has to start over', () => {
  test('writes the checkpoint before it cuts the file, so that a crash in between loses nothing', async () => {
    const { sandbox, env, file, args, pulled } = await stoppedPull({ ids: { form: 'uuid' } });
    const handle = await open(file('scratch'), 'w');
    const prototype = Object.getPrototypeOf(handle) as { truncate: (length?: number) => Promise<void> };
    await handle.close();
    const truncate = vi.spyOn(prototype, 'truncate');
    let whenCut = '{}';
    truncate.mockImplementation(async (length) => {
      if (length !== 0) return;
      whenCut = readFileSync(file('cp'), 'utf8');
      throw new Error('killed');
    });
    await expect(run(env, args)).rejects.toThrow('killed');
    truncate.mockRestore();
    expect(JSON.parse(whenCut)).toMatchObject({ state: { point: { bytes: 0, checkpoint: null } } });

    expect((await run(env, args)).code).toBe(0);
    const ids = pulled().map(({ id }) => id);
    expect(ids.toSorted()).toEqual(sandbox.store.accounts.ids().toSorted());
  });
});

describe('a checkpoint', () => {
  test('of another pull is rejected, and says what differs', async () => {
    const { sandbox, env, file, args } = await stoppedPull();
    const before = readFileSync(file('a.part'), 'utf8');
    for (const [more, what] of [
      [['--since', '2024-01-01'], 'since was not given, is 2024-01-01'],
      [['--base-url', `${env.ACCOUNTING_BASE_URL}/prefix`], 'baseUrl was '],
      [['--out', file('b')], 'out was '],
    ] as const) {
      const { code, log } = await run(env, [...args, ...more]);
      expect([code, log]).toEqual([7, expect.stringContaining(what)]);
    }
    expect((await run(env, args.with(1, 'boms'))).code).toBe(7);
    const otherKey = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.otherCompany }, args);
    expect([otherKey.code, otherKey.log]).toEqual([7, expect.stringContaining('it has another API key')]);
    expect(readFileSync(file('a.part'), 'utf8')).toBe(before);
  });

  test('that cannot be read is rejected', async () => {
    const { env, file, args } = await stoppedPull();
    const whole = readFileSync(file('cp'), 'utf8');
    for (const text of [
      '',
      'nonsense',
      '{}',
      whole.slice(0, 60),
      whole.replace('"version":5', '"version":4'),
      whole.replace(/"bytes":\d+/, '"bytes":-1'),
    ]) {
      writeFileSync(file('cp'), text);
      const { code, log } = await run(env, args);
      expect([code, log]).toEqual([7, expect.stringContaining('cannot be read')]);
    }
    writeFileSync(file('cp'), whole.replace(/(token\\":\\"[^"\\]{10})./, '$1!'));
    expect((await run(env, args)).code).toBe(7);
  });

  test('whose file was cut or is gone is rejected', async () => {
    const { env, file, args } = await stoppedPull();
    truncateSync(file('a.part'), 100);
    const cut = await run(env, args);
    expect([cut.code, cut.log]).toEqual([7, expect.stringContaining('fewer than')]);
    rmSync(file('a.part'));
    const gone = await run(env, args);
    expect([gone.code, gone.log]).toEqual([7, expect.stringContaining('does not exist')]);
  });

  test('is not written if another program writes to the same file', async () => {
    const { sandbox, env, file, args } = await stoppedPull();
    sandbox.onRequest(() => appendFileSync(file('a.part'), 'x'));
    const { code, log } = await run(env, args);
    expect([code, log]).toEqual([7, expect.stringContaining('was changed by another program')]);
  });
});

describe('pull --format csv', () => {
  test('writes the columns of all records, and every value as the service sent it', async () => {
    const { sandbox, env } = await listening();
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

  test('leaves a missing field empty whatever its name', async () => {
    const { sandbox, env } = await listening();
    sandbox.store.boms.insert({ toString: 'x', code: ' 7' });
    sandbox.store.boms.insert({});
    const { out } = await run(env, ['pull', 'boms', '--format', 'csv']);
    expect(out).toBe('id,toString,code\n1,x," 7"\n2,,\n');
  });

  test.each(['ndjson', 'csv'])(
    'creates an empty file, with the permissions of any new one, for an empty collection: %s',
    async (format) => {
      const { env } = await listening();
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
    const { sandbox, env } = await listening({ records: 150 });
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
    expect(lines).toHaveLength(collectionNames.length + 1);
    expect(lines[0]).toMatch(/^\d+ records of accounts in \d+ pages, [\d.]+ s: complete\.$/);
    expect(lines.at(-1)).toMatch(/--since \S+Z$/);
  });

  test('names a --since that misses nothing of the first collection', async () => {
    const { sandbox, env } = await listening({
      clock: '2025-07-01T12:00:00Z',
      timeZone: 'America/New_York',
      timestamps: 'offset',
      timestampsEverywhere: true,
    });
    sandbox.store.accounts.insert({ name: 'in summer' });
    sandbox.clock.set('2026-01-01T12:00:00Z');
    sandbox.store.products.insert({ name: 'in winter' });
    sandbox.onRequest(() => sandbox.clock.advance(60_000));
    const { log } = await run(env, ['pull', '--all', '--out', folder()('data')]);
    // Two minutes and a second before the first response.
    expect(/--since (\S+)$/m.exec(log)?.[1]).toBe('2026-01-01T11:57:59Z');
  });

  test('needs a folder, and says so if there is a file', async () => {
    const { sandbox, env } = await listening();
    const file = folder()('data');
    writeFileSync(file, '');
    const { code, log } = await run(env, ['pull', '--all', '--out', file]);
    expect([code, log]).toEqual([7, expect.stringContaining('Name a folder.')]);
    expect(sandbox.count()).toBe(0);
  });

  /** The one that is interrupted: the fourth. */
  const INTERRUPTED = 'accountContactShoppingStores';

  const stopped = async (more: readonly string[] = []) => {
    const counts = { accounts: 20, accountAddresses: 20, [INTERRUPTED]: 100, products: 20 };
    const { sandbox, env } = await listening({ records: counts, pageSize: 10 });
    const file = folder();
    const args = ['pull', '--all', '--out', file('data'), ...more];
    const stop = new AbortController();
    let requests = 0;
    const unlisten = sandbox.onRequest(({ path }) => {
      if (path.endsWith('/account-contact-shopping-stores')) requests += 1;
      if (requests === 6) stop.abort();
    });
    const { code, log } = await run(env, args, { signal: stop.signal });
    unlisten();
    expect([code, log]).toEqual([130, expect.stringContaining(`before that of ${INTERRUPTED} are complete`)]);
    const read = (name: string) => records(readFileSync(file(`data/${name}.ndjson`), 'utf8'));
    const expectWhole = () => {
      expect(read('account-contact-shopping-stores')).toEqual(sandbox.store[INTERRUPTED].all());
      expect(read('products')).toEqual(sandbox.store.products.all());
    };
    return { sandbox, env, file, args, read, expectWhole };
  };

  test('that is stopped keeps what is complete, and resumes the collection that was interrupted', async () => {
    const { sandbox, env, file, args, read, expectWhole } = await stopped();
    expect((await run(env, [...args, '--format', 'csv'])).code).toBe(7);
    sandbox.store.accounts.update('1', { name: 'changed' });
    const { code, log } = await run(env, args);
    expect(code).toBe(0);
    expect(log).toContain('accounts is complete: kept');
    expect(log).toMatch(/^Resuming after \d+ records\.$/m);
    expect(read('accounts')[0]?.name).not.toBe('changed');
    expectWhole();
    expect(readdirSync(file('data'))).toHaveLength(collectionNames.length);
  });

  test('reads everything again with --restart', async () => {
    const { sandbox, env, args, read, expectWhole } = await stopped();
    sandbox.store.accounts.update('1', { name: 'changed' });
    const { log } = await run(env, [...args, '--restart'], { signal: stopAt(sandbox, 5) });
    expect(log).toContain('Run the same command without --restart to resume.');
    expect((await run(env, [...args, '--restart'])).code).toBe(0);
    expect(read('accounts')[0]?.name).toBe('changed');
    expectWhole();
  });

  test('removes the part of a collection that the key can no longer read, and writes no file for it', async () => {
    const { sandbox, env, file, args } = await stopped();
    expect(readdirSync(file('data'))).toContain('account-contact-shopping-stores.ndjson.part');
    const key = { ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly };
    expect((await run(key, [...args, '--restart'])).code).toBe(0);
    const left = ['account-addresses', 'account-contact-relations', 'accounts', 'products'];
    expect(readdirSync(file('data')).toSorted()).toEqual(left.map((name) => `${name}.ndjson`));
  });

  test('that is stopped reads again what it reads by page, and a file that is gone', async () => {
    const { sandbox, env, file, args, read, expectWhole } = await stopped(['--pagination', 'page']);
    rmSync(file('data/account-addresses.ndjson'));
    const { code, log } = await run(env, args);
    expect(code).toBe(0);
    expect(log).not.toContain('Resuming after');
    expect(read('account-addresses')).toEqual(sandbox.store.accountAddresses.all());
    expectWhole();
  });

  test('fails if the key loses its rights in the middle of a collection', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 100 }, pageSize: 10 });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 8, times: 1 });
    const { code, log } = await run(env, ['pull', '--all', '--out', folder()('data')]);
    expect([code, log]).toEqual([3, expect.stringContaining('Run the same command to resume.')]);
  });
});

describe('what a pull logs at its end', () => {
  test('warns if a record may be missing', async () => {
    const options = { records: { accounts: 100 }, hiddenRecords: 0.05 } as const;
    const likely = await listening({ ...options, order: 'updated-desc', timestampsEverywhere: true });
    expect((await run(likely.env, ['pull', 'accounts'])).log).toContain(
      'in the order of ids, or hides records',
    );
    expect((await run(likely.env, ['pull', 'accounts', '--quiet'])).log).toBe('');
    const certain = await listening({ records: { accounts: 50 } });
    const { log } = await run(certain.env, ['pull', 'accounts']);
    expect(log).not.toContain('Warning');
    expect(log).not.toContain('Read by page');
  });

  test('names the collections that were read by page once, and warns of one that repeated records', async () => {
    const records = { accounts: 100, boms: 100 };
    const { env } = await listening({ records, ids: { form: 'uuid' } });
    const file = folder();
    const all = ['pull', '--all', '--out', file('files')];
    for (const args of [all, ['pull', '--all', '--to', file('books.sqlite'), '--tenant', 'acme']]) {
      const { log } = await run(env, args);
      expect(log).not.toContain('Warning');
      expect(log.match(/Read by page: .*/g)).toEqual([
        'Read by page: accounts, boms. If a record was deleted during the read, another one may be missing.',
      ]);
    }

    const ties = await listening({
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

  test.each(['local', 'utc'] as const)(
    'names a --since that misses nothing on a service that shows local times and compares by %s',
    async (dateFilter) => {
      const { sandbox, env } = await listening({
        records: { products: 100 },
        timeZone: 'America/New_York',
        timestamps: 'offset',
        dateFilter,
      });
      const { log } = await run(env, ['pull', 'products']);
      const since = /--since (\S+)$/m.exec(log)?.[1] ?? '';
      const id = sandbox.store.products.ids()[50] ?? '';
      sandbox.store.products.update(id, { name: 'changed' });
      const { out } = await run(env, ['pull', 'products', '--since', since]);
      expect(records(out).map((record) => record.id)).toContain(id);
    },
  );
});
