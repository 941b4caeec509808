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
import { gunzipSync } from 'node:zlib';
import type { AccountingRecord, Page } from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test, vi } from 'vitest';
import { PullCheckpoint } from '../../../src/cli/pull/checkpoint.ts';
import { PullRun } from '../../../src/cli/pull/pull-run.ts';
import { folder, listening, records, run } from './support/run.ts';

/** A signal that fires with the request of this number. */
function stopAt(sandbox: Sandbox, request: number): AbortSignal {
  const stop = new AbortController();
  const from = sandbox.count();
  sandbox.onRequest(() => sandbox.count() - from === request && stop.abort());
  return stop.signal;
}

describe('pull', () => {
  test('gives every record on a line of its own, as the service sends it', async () => {
    const { sandbox, env } = await listening({ records: 1500 });
    for (const name of ['accounts', 'products', 'bankFeedConnections'] as const) {
      for (const walk of ['keyset', 'page']) {
        const { code, out } = await run(env, ['pull', name, '--pagination', walk]);
        expect(code).toBe(0);
        expect(records(out)).toEqual(sandbox.store[name].all());
      }
    }
  });

  test('gives each page at once: whoever reads along is not made to wait', async () => {
    const { env } = await listening({ records: { accounts: 200 } });
    const pieces: string[] = [];
    await run(env, ['pull', 'accounts'], { write: async (text) => void pieces.push(text) });
    expect(pieces.length).toBeGreaterThan(6);
    expect(records(pieces.join('')).length).toBe(200);
  });

  test('gives records that do not fit the contract as well', async () => {
    const { sandbox, env } = await listening({ records: { products: 25 } });
    sandbox.faults.add({ kind: 'money-as-number' }, { probability: 1 });
    const { code, out } = await run(env, ['pull', 'products']);
    expect([code, records(out).length, typeof records(out)[0]?.salePrice]).toEqual([0, 25, 'number']);

    sandbox.faults.clear();
    const nameless = (text: string) => text.replace('"id":"3"', '"id":null');
    sandbox.faults.add({ kind: 'rewrite', body: nameless }, { probability: 1 });
    const odd = await run(env, ['pull', 'products']);
    expect([odd.code, records(odd.out).length]).toEqual([0, 25]);
    expect(odd.log).toContain('1 of them have no id');
  });

  test('reads what was modified since an instant, and says from when to ask next', async () => {
    const { sandbox, env } = await listening({ records: 2000 });
    const { out, log } = await run(env, ['pull', 'products', '--since', '2024-06-01']);
    const changed = sandbox.store.products.all().filter(({ updatedAt }) => (updatedAt ?? '') >= '2024-06-01');
    expect(records(out)).toEqual(changed);
    const next = /--since (\S+Z)$/m.exec(log)?.[1] ?? '';
    // The service's clock when it began, less the two minutes in which a write may still be on its way.
    expect(Math.abs(Date.now() - 120_000 - Date.parse(next))).toBeLessThan(60_000);
  });

  test('writes a file, packed where its name says so', async () => {
    const { sandbox, env } = await listening({ records: 1500 });
    const file = folder();
    await run(env, ['pull', 'accounts', '--out', file('a.ndjson')]);
    await run(env, ['pull', 'accounts', '--out', file('a.ndjson.gz')]);
    const plain = readFileSync(file('a.ndjson'), 'utf8');
    const packed = readFileSync(file('a.ndjson.gz'));
    expect(records(plain)).toEqual(sandbox.store.accounts.all());
    expect(gunzipSync(packed).toString()).toBe(plain);
    expect(packed.length).toBeLessThan(plain.length / 2);
  });

  test('makes an empty file of an empty collection', async () => {
    const { env } = await listening();
    const file = folder()('a.ndjson');
    const { code } = await run(env, ['pull', 'accounts', '--out', file]);
    expect([code, readFileSync(file, 'utf8')]).toEqual([0, '']);
  });

  test('leaves an older file as it is until there is something to put in its place', async () => {
    const { sandbox, env } = await listening({ records: 500 });
    const file = folder()('a.ndjson');
    writeFileSync(file, 'older\n');
    await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.revoked }, ['pull', 'accounts', '--out', file]);
    await run(env, ['pull', 'accounts', '--out', file, '--since', 'nonsense']);
    expect(readFileSync(file, 'utf8')).toBe('older\n');
    await run(env, ['pull', 'accounts', '--out', file]);
    expect(records(readFileSync(file, 'utf8'))).toEqual(sandbox.store.accounts.all());
  });

  test('says how far it is on a terminal, and nothing with --quiet', async () => {
    const { env } = await listening({ records: 1500 });
    const shown: (string | undefined)[] = [];
    const { log } = await run(env, ['pull', 'accounts'], { status: (text) => void shown.push(text) });
    expect(shown).toContainEqual(expect.stringMatching(/^accounts: 240 records in \d+ pages/));
    expect(log).toMatch(/^240 records of accounts in \d+ pages, [\d.]+ s: complete\.$/m);

    shown.length = 0;
    const quiet = await run(env, ['pull', 'accounts', '--quiet'], {
      status: (text) => void shown.push(text),
    });
    expect(shown.filter((text) => text !== undefined)).toEqual([]);
    expect(quiet.log).toBe('');
  });

  test('waits for the budget of the key, and says so', async () => {
    const { sandbox, env } = await listening({ records: 900, rateLimit: { limit: 4, windowMs: 200 } });
    const shown: (string | undefined)[] = [];
    const { code, out } = await run(env, ['pull', 'accounts'], { status: (text) => void shown.push(text) });
    expect([code, records(out)]).toEqual([0, sandbox.store.accounts.all()]);
    expect(shown).toContainEqual(expect.stringMatching(/waiting.* for the budget of the key$/));
  });
});

describe('a pull that is stopped', () => {
  test.for(['a.ndjson', 'a.ndjson.gz'])('leaves whole lines and goes on where it was: %s', async (name) => {
    const { sandbox, env } = await listening({ records: { accounts: 900 }, order: 'id-desc' });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file(name), '--checkpoint', file('cp')];
    const read = (end = '') => {
      const bytes = readFileSync(file(`${name}${end}`));
      return records((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString());
    };
    const seen: number[] = [];
    for (const request of [7, 9]) {
      const { code } = await run(env, args, { signal: stopAt(sandbox, request) });
      expect(code).toBe(130);
      seen.push(read('.part').length);
    }
    expect(seen[0]).toBeGreaterThan(100);
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 0);

    const before = sandbox.count();
    const { code, log } = await run(env, args);
    expect([code, read()]).toEqual([0, sandbox.store.accounts.all().toReversed()]);
    expect(log).toContain(`Goes on after ${seen[1]} records.`);
    // What was there was not read again; three requests look behind the end.
    expect(sandbox.count() - before).toBeLessThan(33);
    expect(existsSync(file('cp'))).toBe(false);
  });

  test('by an error goes on as well, and says so', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 600 } });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 8 });
    const failed = await run(env, args);
    expect([failed.code, failed.log.includes('Run the same command to resume.')]).toEqual([3, true]);
    expect(records(readFileSync(file('a.part'), 'utf8')).length).toBeGreaterThan(100);
    expect((await run(env, args)).code).toBe(0);
    expect(records(readFileSync(file('a'), 'utf8'))).toEqual(sandbox.store.accounts.all());
  });

  test('in the middle of a line loses what the checkpoint does not know, and no more', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 600 } });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    await run(env, args, { signal: stopAt(sandbox, 9) });
    appendFileSync(file('a.part'), '{"id":"9999","name":"written, but never committ');
    expect((await run(env, args)).code).toBe(0);
    expect(records(readFileSync(file('a'), 'utf8'))).toEqual(sandbox.store.accounts.all());
  });

  test('goes on into standard output, where nothing can be taken back', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 600 } });
    const args = ['pull', 'accounts', '--checkpoint', folder()('cp')];
    const first = await run(env, args, { signal: stopAt(sandbox, 9) });
    const second = await run(env, args);
    expect([first.code, second.code]).toEqual([130, 0]);
    expect(records(first.out + second.out)).toEqual(sandbox.store.accounts.all());
  });

  test('keeps the instant from which to ask next', async () => {
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const { sandbox, env } = await listening({ records: { accounts: 600 }, clock: '2026-05-01T12:00:00Z' });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    await run(env, args, { signal: stopAt(sandbox, 9) });
    sandbox.clock.set('2026-05-02T00:00:00Z');
    const { log } = await run(env, args);
    expect(log).toContain('--since 2026-05-01T11:58:00Z');
  });

  test('begins anew where ids are no whole numbers, with an empty file', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 600 }, ids: { form: 'uuid' } });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    const first = await run(env, args, { signal: stopAt(sandbox, 9) });
    expect(first.log).toContain('begins anew when it is stopped');
    expect(records(readFileSync(file('a.part'), 'utf8')).length).toBeGreaterThan(0);
    expect((await run(env, args)).code).toBe(0);
    expect(records(readFileSync(file('a'), 'utf8'))).toEqual(sandbox.store.accounts.all());
  });

  test('begins anew in the middle where an id turns up that is no whole number', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 300 } });
    sandbox.store.accounts.insert({ id: 'A-1', name: 'By hand' });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    expect((await run(env, args)).code).toBe(0);
    const ids = records(readFileSync(file('a'), 'utf8')).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(sandbox.store.accounts.ids().toSorted());
  });
});

describe('a pull into a file that exists', () => {
  const older = async (mode = 0o600) => {
    const { sandbox, env } = await listening({ records: { accounts: 300 } });
    const file = folder();
    writeFileSync(file('a'), 'older\n', { mode });
    return { sandbox, env, file, args: ['pull', 'accounts', '--out', file('a')] };
  };

  test('leaves it as it was when it fails half-way, and no other file beside it', async () => {
    const { sandbox, env, file, args } = await older();
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { skip: 6, times: 9 });
    expect((await run(env, args)).code).toBe(3);
    expect(readFileSync(file('a'), 'utf8')).toBe('older\n');
    expect(readdirSync(file('.'))).toEqual(['a']);
  });

  test('leaves it as it was when it is interrupted, and says what to do', async () => {
    const { sandbox, env, file, args } = await older();
    const alone = await run(env, args, { signal: stopAt(sandbox, 5) });
    expect(alone.code).toBe(130);
    const [what, advice] = alone.log.trimEnd().split('\n').slice(-2);
    expect([what, advice]).toEqual([
      'Stopped before the end.',
      `${file('a')} is as it was. Run the same command to start over; with --checkpoint it can resume.`,
    ]);
    const resumable = [...args, '--checkpoint', file('cp')];
    const { log } = await run(env, resumable, { signal: stopAt(sandbox, 5) });
    expect(log.trimEnd().split('\n').at(-1)).toBe(
      `Run the same command to resume. What was read so far is in ${file('a.part')}.`,
    );
    expect(readFileSync(file('a'), 'utf8')).toBe('older\n');
    expect(readdirSync(file('.')).toSorted()).toEqual(['a', 'a.part', 'cp']);
    expect((await run(env, resumable)).code).toBe(0);
    expect(readdirSync(file('.'))).toEqual(['a']);
    expect(records(readFileSync(file('a'), 'utf8'))).toEqual(sandbox.store.accounts.all());
  });

  test('keeps its permissions, and the link that leads to it', async () => {
    const { sandbox, env, file, args } = await older(0o640);
    symlinkSync(file('a'), file('link'));
    expect((await run(env, args.with(3, file('link')))).code).toBe(0);
    expect(lstatSync(file('link')).isSymbolicLink()).toBe(true);
    expect(statSync(file('a')).mode & 0o777).toBe(0o640);
    expect(records(readFileSync(file('a'), 'utf8'))).toEqual(sandbox.store.accounts.all());
  });

  test('rejects what is not a regular file, before it sends anything', async () => {
    const { sandbox, env } = await listening({ records: 100 });
    const { code, log } = await run(env, ['pull', 'accounts', '--out', '/dev/null']);
    expect([code, log]).toEqual([8, expect.stringContaining('/dev/null is not a regular file.')]);
    expect([sandbox.count(), statSync('/dev/null').isFile()]).toEqual([0, false]);
  });
});

describe('a pull that has to begin anew', () => {
  test('cuts off what an earlier run has written', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 600 } });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    await run(env, args, { signal: stopAt(sandbox, 9) });
    sandbox.store.accounts.insert({ id: 'A-1', name: 'By hand' });
    expect((await run(env, args)).code).toBe(0);
    const ids = records(readFileSync(file('a'), 'utf8')).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(sandbox.store.accounts.ids().toSorted());
  });

  test('tells the checkpoint before it cuts the file: killed in between, the next run can go on', async () => {
    const scope = { baseUrl: 'x', collection: 'accounts', since: null, pagination: 'keyset', out: 'a' };
    const checkpoint = new PullCheckpoint(folder()('cp'), scope);
    const page = (pagination: Page<AccountingRecord>['pagination'], id: string): Page<AccountingRecord> => ({
      rows: [{ id }],
      records: [{ id }],
      invalid: [],
      rateLimit: undefined,
      serverTime: undefined,
      first: { serverTime: undefined, requestedAt: new Date(), durationMs: 0 },
      pagination,
      complete: undefined,
      restarted: pagination === 'page',
      ids: [id],
      requestedAt: new Date(),
      durationMs: 0,
      hint: undefined,
      resumeToken: pagination === 'keyset' ? 'token' : undefined,
    });
    let killed = false;
    const pull = new PullRun({
      pages: (async function* () {
        yield page('keyset', '1');
        yield page('page', 'A-1');
      })(),
      sink: {
        bytes: 4711,
        isDue: true,
        add: () => {},
        commit: () => (killed ? Promise.reject(new Error('killed')) : Promise.resolve()),
        restart() {
          killed = true;
          return Promise.reject(new Error('killed'));
        },
        finish: () => Promise.resolve(),
        discard: () => Promise.resolve(),
        close: () => Promise.resolve(),
      },
      checkpoint,
      from: undefined,
      pagination: 'keyset',
      onPage: () => {},
      onByPages: () => {},
    });
    await expect(pull.run()).rejects.toThrow('killed');
    expect(await checkpoint.read()).toMatchObject({ bytes: 0, records: 0, resumeToken: null });
  });
});

describe('a checkpoint', () => {
  const stoppedPull = async () => {
    const { sandbox, env } = await listening({ records: { accounts: 600 } });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    await run(env, args, { signal: stopAt(sandbox, 9) });
    return { sandbox, env, file, args };
  };

  test('of another pull is refused, and says what differs', async () => {
    const { env, file, args } = await stoppedPull();
    const before = readFileSync(file('a.part'), 'utf8');
    for (const [more, what] of [
      [['--since', '2024-01-01'], 'since was not given, is 2024-01-01'],
      [['--pagination', 'page'], 'pagination was keyset, is page'],
      [['--base-url', `${env.ACCOUNTING_BASE_URL}/prefix`], 'baseUrl was '],
      [['--out', file('b')], 'out was '],
    ] as const) {
      const { code, log } = await run(env, [...args, ...more]);
      expect([code, log]).toEqual([8, expect.stringContaining(what)]);
    }
    expect((await run(env, args.with(1, 'boms'))).code).toBe(8);
    expect(readFileSync(file('a.part'), 'utf8')).toBe(before);
  });

  test('that cannot be read is refused', async () => {
    const { env, file, args } = await stoppedPull();
    const whole = readFileSync(file('cp'), 'utf8');
    for (const text of [
      '',
      'nonsense',
      '{}',
      whole.slice(0, 60),
      whole.replace('"version":2', '"version":1'),
      whole.replace(/"bytes":\d+/, '"bytes":-1'),
    ]) {
      writeFileSync(file('cp'), text);
      const { code, log } = await run(env, args);
      expect([code, log]).toEqual([8, expect.stringContaining('cannot be read')]);
    }
    writeFileSync(file('cp'), whole.replace(/("resumeToken":"[^"]{20})./, '$1!'));
    expect((await run(env, args)).code).toBe(8);
  });

  test('whose file was cut or is gone is refused', async () => {
    const { env, file, args } = await stoppedPull();
    truncateSync(file('a.part'), 100);
    const cut = await run(env, args);
    expect([cut.code, cut.log]).toEqual([8, expect.stringContaining('fewer than')]);
    rmSync(file('a.part'));
    const gone = await run(env, args);
    expect([gone.code, gone.log]).toEqual([8, expect.stringContaining('does not exist')]);
  });

  test('is not written where another program writes to the same file', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 900 } });
    const file = folder()('a');
    const args = ['pull', 'accounts', '--out', file, '--checkpoint', `${file}.cp`];
    await run(env, args, { signal: stopAt(sandbox, 5) });
    sandbox.onRequest(() => appendFileSync(`${file}.part`, 'x'));
    const { code, log } = await run(env, args);
    expect([code, log]).toEqual([8, expect.stringContaining('was changed by another program')]);
  });
});
