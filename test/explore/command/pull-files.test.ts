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
import { type FileHandle, open } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { folder, listening, records, run } from './support/run.ts';

/** What a handle writes with, and what it is written to. */
type Write = (bytes: Uint8Array, from: number, length: number, at: number) => Promise<unknown>;

const noSpace = () =>
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });

/** From the second write of a file on, half of it fits on the disk and no more. */
async function fillDisk(scratch: string): Promise<() => void> {
  const handle = await open(scratch, 'w');
  const prototype = Object.getPrototypeOf(handle) as { write: Write };
  await handle.close();
  const whole = prototype.write;
  let writes = 0;
  const spy = vi.spyOn(prototype, 'write').mockImplementation(async function (
    this: FileHandle,
    bytes,
    from,
    length,
    at,
  ) {
    writes += 1;
    if (writes === 1) return whole.call(this, bytes, from, length, at);
    await whole.call(this, bytes, from, Math.floor(length / 2), at);
    throw noSpace();
  });
  return () => spy.mockRestore();
}

describe('a pull that runs out of disk', () => {
  test('leaves whole lines, and resumes after the last one', async () => {
    // More than the megabyte of lines after which a pull writes.
    const fixtures = { accounts: Array.from({ length: 300 }, () => ({ note: 'x'.repeat(8000) })) };
    const { sandbox, env } = await listening({ fixtures, pageSize: 100 });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    const read = (name: string) => records(readFileSync(file(name), 'utf8'));
    const emptyDisk = await fillDisk(file('scratch'));
    const full = await run(env, args).finally(emptyDisk);
    expect([full.code, full.log]).toEqual([7, expect.stringContaining('ENOSPC')]);
    const checkpoint = JSON.parse(readFileSync(file('cp'), 'utf8')) as {
      state: { point: { records: number } };
    };
    expect(read('a.part').length).toBe(checkpoint.state.point.records);
    expect(read('a.part').length).toBeGreaterThan(0);

    expect((await run(env, args)).code).toBe(0);
    expect(read('a')).toEqual(sandbox.store.accounts.all());
  });

  test('while it writes CSV leaves no part of it behind', async () => {
    const { env } = await listening({ records: { accounts: 50 } });
    const file = folder();
    const handle = await open(file('scratch'), 'w');
    vi.spyOn(Object.getPrototypeOf(handle), 'writeFile').mockRejectedValue(noSpace());
    await handle.close();
    const { code } = await run(env, ['pull', 'accounts', '--format', 'csv', '--out', file('a.csv')]);
    expect([code, readdirSync(file('.'))]).toEqual([7, ['scratch']]);
  });

  test('on standard output does not count lines that did not arrive', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 100 }, pageSize: 10 });
    const args = ['pull', 'accounts', '--checkpoint', folder()('cp')];
    const arrived: string[] = [];
    const write = async (text: string) => {
      if (arrived.length === 5) throw noSpace();
      arrived.push(text);
    };
    expect((await run(env, args, { write })).code).toBe(7);
    const second = await run(env, args);
    expect(records(arrived.join('') + second.out)).toEqual(sandbox.store.accounts.all());
  });
});

describe('a file that cannot be replaced at the end', () => {
  test.each([
    ['ndjson', 'a.part'],
    ['csv', 'a.tmp'],
  ])('leaves every record beside it, and the command names the file: %s', async (format, left) => {
    const { sandbox, env } = await listening({ records: { accounts: 90 } });
    const file = folder();
    // A rename cannot replace a folder, nor a file that is mounted or, on Windows, open.
    sandbox.onRequest(() => sandbox.count() === 2 && mkdirSync(file('a')));
    const { code, log } = await run(env, ['pull', 'accounts', '--out', file('a'), '--format', format]);
    expect([code, log]).toEqual([7, expect.stringContaining(`Every record is in ${file(left)}. Rename`)]);
    expect(readdirSync(file('.'))).toEqual(['a', left]);
    const text = readFileSync(file(left), 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(format === 'csv' ? 91 : 90);
  });
});

describe('a file that cannot be written', () => {
  test('is found before a request is sent', async () => {
    const { sandbox, env } = await listening({ records: 200 });
    const file = folder();
    for (const args of [
      ['pull', 'accounts', '--out', file('missing/a')],
      ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('missing/cp')],
      ['pull', 'accounts', '--out', file('.')],
      ['discover', '--out', file('missing/schemas.ts')],
    ]) {
      const { code, log } = await run(env, args);
      expect([code, log.trimEnd().split('\n').length]).toEqual([7, 2]);
    }
    expect(sandbox.count()).toBe(0);
    expect(existsSync(file('a'))).toBe(false);
  });

  test('is rejected if the checkpoint would overwrite it', async () => {
    const { sandbox, env } = await listening({ records: 200 });
    const file = folder();
    for (const [out, checkpoint] of [
      ['a', 'a'],
      ['./a', 'a'],
      ['a.tmp', 'a'],
      ['a', 'a.part'],
    ] as const) {
      const args = ['pull', 'accounts', '--out', file(out), '--checkpoint', file(checkpoint)];
      const { code, log } = await run(env, args);
      expect([code, log]).toEqual([2, expect.stringContaining('--out and --checkpoint')]);
    }
    expect(sandbox.count()).toBe(0);
  });
});

describe('a file or a folder that others use', () => {
  test.each(['ndjson', 'csv'])(
    'is not overwritten through a link under the name of a temporary file: %s',
    async (format) => {
      const { env } = await listening({ records: { accounts: 50 } });
      const file = folder();
      writeFileSync(file('victim'), 'untouched\n', { mode: 0o666 });
      for (const end of ['part', 'tmp']) symlinkSync(file('victim'), file(`a.${end}`));
      symlinkSync(file('victim'), file('cp.tmp'));
      writeFileSync(file('a'), 'older\n', { mode: 0o600 });
      const args = ['pull', 'accounts', '--out', file('a'), '--format', format, '--checkpoint', file('cp')];
      expect((await run(env, args)).code).toBe(0);
      expect(readFileSync(file('victim'), 'utf8')).toBe('untouched\n');
      expect([lstatSync(file('a')).isFile(), statSync(file('a')).mode & 0o777]).toEqual([true, 0o600]);
    },
  );

  test('is not overwritten through a link when a pull resumes', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 100 }, pageSize: 10 });
    const file = folder();
    const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
    const stop = new AbortController();
    sandbox.onRequest(() => sandbox.count() === 6 && stop.abort());
    await run(env, args, { signal: stop.signal });
    const part = readFileSync(file('a.part'));
    writeFileSync(file('victim'), Buffer.concat([part, Buffer.from('more\n')]));
    rmSync(file('a.part'));
    symlinkSync(file('victim'), file('a.part'));
    const { code, log } = await run(env, args);
    expect([code, log]).toEqual([7, expect.stringContaining('is not a regular file')]);
    expect(readFileSync(file('victim'), 'utf8')).toBe(`${part}more\n`);
  });

  test('a second pull --all into a folder is rejected while the first one runs', async () => {
    const { sandbox, env } = await listening({ records: 200 });
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

  test('a folder that cannot be locked is rejected before a request is sent', async () => {
    const { sandbox, env } = await listening({ records: 30 });
    const file = folder();
    mkdirSync(file('data/pull.lock'), { recursive: true });
    const { code, log } = await run(env, ['pull', '--all', '--out', file('data')]);
    expect([code, log]).toEqual([7, expect.stringContaining('cannot be locked')]);
    expect(sandbox.count()).toBe(0);
  });
});
