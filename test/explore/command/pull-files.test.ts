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
import { describe, expect, test, vi } from 'vitest';
import { folder, openSandbox, records, run } from './support/run.ts';

const noSpace = () =>
  Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });

describe('a pull that runs out of disk', () => {
  test.each([
    ['appendFile', 'ndjson'],
    ['writeFile', 'csv'],
  ] as const)('leaves nothing of its file behind: %s', async (method, format) => {
    const { env } = openSandbox({ records: { accounts: 50 } });
    const file = folder();
    const handle = await open(file('scratch'), 'w');
    vi.spyOn(Object.getPrototypeOf(handle), method).mockRejectedValue(noSpace());
    await handle.close();
    const { code, log } = await run(env, ['pull', 'accounts', '--format', format, '--out', file('a')]);
    expect([code, log]).toEqual([7, expect.stringContaining('ENOSPC')]);
    expect(readdirSync(file('.'))).toEqual(['scratch']);
  });
});

describe('a file that cannot be replaced at the end', () => {
  test.each([
    ['ndjson', 'a.part'],
    ['csv', 'a.tmp'],
  ])('leaves every record beside it, and the command names the file: %s', async (format, left) => {
    const { sandbox, env } = openSandbox({ records: { accounts: 90 } });
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
    const { sandbox, env } = openSandbox({ records: 200 });
    const file = folder();
    writeFileSync(file('taken'), '');
    for (const args of [
      ['pull', 'accounts', '--out', file('taken/a')],
      ['pull', 'accounts', '--out', file('.')],
      ['discover', '--out', file('taken/b/schemas.ts')],
    ]) {
      const { code, log } = await run(env, args);
      expect([code, log]).toEqual([7, expect.stringMatching(/^.*(EEXIST|ENOTDIR|is a folder).*\n.+\n$/)]);
    }
    expect(sandbox.count()).toBe(0);
  });
});

describe('a file or a folder that others use', () => {
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

  test('a second pull --all into a folder is rejected while the first one runs', async () => {
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

  test('a folder that cannot be locked is rejected before a request is sent', async () => {
    const { sandbox, env } = openSandbox({ records: 30 });
    const file = folder();
    mkdirSync(file('data/pull.lock'), { recursive: true });
    const { code, log } = await run(env, ['pull', '--all', '--out', file('data')]);
    expect([code, log]).toEqual([7, expect.stringContaining('cannot be locked')]);
    expect(sandbox.count()).toBe(0);
  });
});
