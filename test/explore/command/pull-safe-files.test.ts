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
import { expect, test } from 'vitest';
import { folder, listening, records, run } from './support/run.ts';

test.each(['ndjson', 'csv'])(
  'does not write through a link under the name of a temporary file: %s',
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

test('does not resume into a link', async () => {
  const { sandbox, env } = await listening({ records: { accounts: 600 } });
  const file = folder();
  const args = ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')];
  const stop = new AbortController();
  sandbox.onRequest(() => sandbox.count() === 9 && stop.abort());
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
  const { sandbox, env } = await listening({ records: 600, pageSize: 20 });
  const file = folder();
  const args = ['pull', '--all', '--out', file('data')];
  const stop = new AbortController();
  const first = run(env, args, { signal: stop.signal });
  while (sandbox.count() < 5) await new Promise((resolve) => setTimeout(resolve, 5));
  const second = await run(env, args);
  expect([second.code, second.log]).toEqual([
    7,
    expect.stringContaining('Another pull writes to this folder'),
  ]);
  expect((await first).code).toBe(0);
  expect(records(readFileSync(file('data/accounts.ndjson'), 'utf8'))).toEqual(sandbox.store.accounts.all());
  expect(readdirSync(file('data'))).not.toContain('pull.lock');
});

test('does not say that a file which does not exist is unchanged', async () => {
  const { sandbox, env } = await listening({ records: { accounts: 600 } });
  const file = folder();
  for (const [more, last] of [
    [
      [],
      `${file('a')} was not written. Run the same command to start over; with --checkpoint it can resume.`,
    ],
    [['--pagination', 'page'], `${file('a')} was not written. Run the same command to start over.`],
  ] as const) {
    const stop = new AbortController();
    const from = sandbox.count();
    const unlisten = sandbox.onRequest(() => sandbox.count() - from === 1 && stop.abort());
    const { code, log } = await run(env, ['pull', 'accounts', '--out', file('a'), ...more], {
      signal: stop.signal,
    });
    unlisten();
    expect([code, log.trimEnd().split('\n').at(-1)]).toEqual([130, last]);
    expect(existsSync(file('a'))).toBe(false);
  }
});

test('a folder that cannot be locked is rejected before a request is sent', async () => {
  const { sandbox, env } = await listening({ records: 30 });
  const file = folder();
  mkdirSync(file('data/pull.lock'), { recursive: true });
  const { code, log } = await run(env, ['pull', '--all', '--out', file('data')]);
  expect([code, log]).toEqual([7, expect.stringContaining('cannot be locked')]);
  expect(sandbox.count()).toBe(0);
});
