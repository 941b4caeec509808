import { closeSync, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { start } from './support/process.ts';
import { ends, folder, listening, records } from './support/run.ts';

// A process of its own takes its time to start on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

describe('the command as a process', () => {
  test('prints the result on standard output, and the rest on standard error, without colours', async () => {
    const { sandbox, env } = await listening({ records: { accounts: 90 }, pageParameter: 'page' });
    const service = folder()('service.mts');
    const profile = `{ client: { pageParameter: 'page' }, sync: {}, sandbox: {} } as const`;
    writeFileSync(service, `export const service = ${profile};`);
    const settings = { ...env, FORCE_COLOR: undefined, NO_COLOR: '1' };
    const args = ['pull', 'accounts', '--pagination', 'page', '--service', service];
    const { code, out, log } = await start(settings, args).ended;
    expect([code, records(out)]).toEqual([0, sandbox.store.accounts.all()]);
    expect(log).toContain('90 records of accounts');
    expect(out + log).not.toContain('\u001b');

    const old = start({ NODE_OPTIONS: '--no-experimental-strip-types' }, args).ended;
    await ends(old, 7, /^Node v.* cannot import .*\nUse Node 22\.18/);
  });

  test.for([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends with its own code at %s, and leaves no part of a file', async ([signal, code]) => {
    const { sandbox, env } = await listening({ records: { accounts: 600 }, pageSize: 10 });
    const file = folder();
    const child = start(env, ['pull', 'accounts', '--out', file('a')]);
    sandbox.onRequest(() => sandbox.count() === 5 && child.kill(signal));
    const ended = await child.ended;

    expect([ended.code, ended.signal]).toEqual([code, null]);
    expect(ended.log).toContain('not complete.');
    expect(ended.log).toContain(`${file('a')} was not written. Run the same command to start over.`);
    expect(readdirSync(file('.'))).toEqual([]);
  });

  test('ends quietly if its reader has ended', async () => {
    const { env, sandbox } = await listening({ records: { accounts: 3000 }, pageSize: 100 });
    const child = start(env, ['pull', 'accounts']);
    child.stdout?.once('data', () => child.stdout?.destroy());
    const { code, log } = await child.ended;
    expect(code).toBe(141);
    expect(log).not.toContain('EPIPE');
    expect(sandbox.count()).toBeLessThan(30);
  });

  test.runIf(existsSync('/dev/full'))('fails if its last lines cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    await ends(start({}, ['--version'], full).ended, 7, 'Standard output cannot be written: ENOSPC');
    closeSync(full);
  });

  test('does not wait for a key without a terminal', async () => {
    const { env } = await listening();
    const child = start({ ...env, ACCOUNTING_API_KEY: undefined }, ['whoami']);
    await ends(child.ended, 2, 'No API key');
  });

  test('serves a sandbox until Ctrl-C, which ends it with 0', async () => {
    const child = start({}, ['sandbox', '--port', '0']);
    await new Promise<void>((resolve) => {
      child.stderr?.on('data', (text) => {
        if (String(text).includes('Listening')) resolve();
      });
    });
    child.kill('SIGINT');
    const { code, signal, out, log } = await child.ended;
    expect([code, signal]).toEqual([0, null]);
    expect(out).toMatch(/^ACCOUNTING_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
    expect(log).toContain('Stopped after 0 requests');
  });
});
