import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { start } from './support/process.ts';
import { folder, listening, records } from './support/run.ts';

// A process of its own takes its time to start on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

describe('the command as a process', () => {
  test('prints the result on standard output, and the rest on standard error, without colours', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 90 } });
    const { code, out, log } = await start({ ...env, FORCE_COLOR: undefined, NO_COLOR: '1' }, [
      'pull',
      'accounts',
    ]).ended;
    expect([code, records(out)]).toEqual([0, sandbox.store.accounts.all()]);
    expect(log).toContain('90 records of accounts');
    expect(out + log).not.toContain('\u001b');
  });

  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends with its own code at %s, the file and the checkpoint whole', async ([signal, code]) => {
    const { sandbox, env } = await listening({ records: { accounts: 3000 }, pageSize: 10 });
    const file = folder();
    const child = start(env, ['pull', 'accounts', '--out', file('a'), '--checkpoint', file('cp')]);
    sandbox.onRequest(() => sandbox.count() === 40 && child.kill(signal));
    const ended = await child.ended;

    expect([ended.code, ended.signal]).toEqual([code, null]);
    expect(ended.log).toContain('not complete.');
    const lines = records(readFileSync(file('a.part'), 'utf8'));
    const checkpoint = JSON.parse(readFileSync(file('cp'), 'utf8')) as {
      state: { point: { records: number } };
    };
    expect(lines.length).toBe(checkpoint.state.point.records);
    expect(lines.length).toBeGreaterThan(100);
  });

  test('ends quietly if its reader has ended', async () => {
    const { env, sandbox } = await listening({ records: { accounts: 9000 }, pageSize: 100 });
    const child = start(env, ['pull', 'accounts']);
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { code, log } = await child.ended;
    expect(code).toBe(141);
    expect(log).not.toContain('EPIPE');
    expect(sandbox.count()).toBeLessThan(90);
  });

  test.for([
    ['pull', 'accounts'],
    ['get', 'accounts', '1'],
  ])('says in two lines that standard output cannot be written: %s', async (args) => {
    const { env } = await listening({ records: { accounts: 90 } });
    const file = folder()('read-only');
    writeFileSync(file, '');
    const readOnly = openSync(file, 'r');
    const { code, log } = await start(env, args, readOnly).ended.finally(() => closeSync(readOnly));
    const [what, advice] = log.trimEnd().split('\n').slice(-2);
    expect([code, what, advice]).toEqual([
      7,
      expect.stringContaining('Standard output cannot be written: EBADF'),
      expect.stringContaining('Check where it is redirected'),
    ]);
    expect(log).not.toContain('    at ');
  });

  test('does not wait for a key without a terminal', async () => {
    const { env } = await listening();
    const child = start({ ...env, ACCOUNTING_API_KEY: undefined }, ['whoami']);
    const { code, log } = await child.ended;
    expect([code, log.split('\n')[0]]).toEqual([2, 'No API key is configured.']);
  });
});
