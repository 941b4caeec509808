import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { folder, openSandbox, run } from './support/run.ts';

/** A folder with a `.env` for a sandbox, and a second sandbox whose settings the environment may have. */
function project(name = '.env') {
  const [inFile, other] = [openSandbox({ records: 50 }), openSandbox({ records: 50, seed: 4 })];
  const file = folder();
  const lines = Object.entries(inFile.env).map(([variable, value]) => `${variable}="${value}"\n`);
  writeFileSync(file(name), `# As the sandbox prints it.\n\n${lines.join('# a key\n')}`);
  return { inFile, other, file, cwd: file('.') };
}

const get = ['get', 'accounts', '1'];
const ADDRESS = 'ACCOUNTING_BASE_URL';
const KEY = 'ACCOUNTING_API_KEY';
const BOTH = [ADDRESS, KEY];

describe('the settings of the command', () => {
  test('come from the .env of the working directory if the environment has none, and the file is named', async () => {
    const { inFile, cwd } = project();
    const { code, log, out } = await run({}, get, { cwd });
    expect([code, inFile.sandbox.count(), JSON.parse(out).id]).toEqual([0, 1, '1']);
    expect(log).toContain('of .env.');
  });

  test('come from the file of --env, or from the environment if it has both, before .env', async () => {
    const { inFile, other, cwd, file } = project('staging.env');
    writeFileSync(file('.env'), 'ACCOUNTING_API_KEY=another');
    expect(await run(other.env, get, { cwd })).toMatchObject({ code: 0, log: '' });
    const named = 'Using the address and the API key of staging.env';
    const args = [...get, '--env', 'staging.env'];
    expect(await run({}, args, { cwd })).toMatchObject({ code: 0, log: `${named}.\n` });
    const log = `${named}, not those of the environment.\n`;
    expect(await run(other.env, args, { cwd })).toMatchObject({ code: 0, log });
    expect([inFile.sandbox.count(), other.sandbox.count()]).toEqual([2, 1]);
  });

  test('may be a typed key and an address other than that of the file', async () => {
    const { inFile, other, cwd } = project();
    const key = other.sandbox.keys.full;
    const secret = vi.fn(async () => ` ${key}\n`);
    const args = [...get, '--base-url', other.sandbox.baseUrl];
    const { code, out, log } = await run({}, args, { cwd, prompt: { secret, confirm: async () => false } });
    expect([code, other.sandbox.count()]).toEqual([0, 1]);
    // The flag is more than the environment.
    expect((await run({ ...inFile.env, [KEY]: key }, args, { cwd })).code).toBe(0);
    expect([other.sandbox.count(), inFile.sandbox.count()]).toEqual([2, 0]);
    expect(secret.mock.calls).toEqual([['API key: ', expect.anything()]]);
    expect(out + log).not.toContain(key);
  });

  // A key of one source is never sent to the address of another.
  const unused = 'A .env file is read only if neither address nor key is set.';
  test.each<
    [what: string, inFile: string[], inEnvironment: string[], args: string, code: number, ...log: string[]]
  >([
    ['an address in the file of --env', [ADDRESS], BOTH, '--env .env', 2, '.env has no ACCOUNTING_API_KEY.'],
    ['a key in the file of --env', [KEY], BOTH, '--env .env', 2, '.env has no ACCOUNTING_BASE_URL.'],
    ['--base-url beside --env', BOTH, [], '--env .env --base-url URL', 2, '--base-url and --env cannot be'],
    ['a key in the environment', BOTH, [KEY], '', 2, 'No base URL is configured.', unused],
    ['--base-url beside a .env', BOTH, [], '--base-url URL', 2, 'No API key is configured.', unused],
    ['a .env with neither', [], [], '', 2, 'No base URL is configured.', 'Set ACCOUNTING_BASE_URL'],
    ['a file of --env that is missing', [], [], '--env none.env', 7, '--env cannot be read: ENOENT', 'path'],
  ])('are an error for %s', async (_, fromFile, fromEnvironment, args, code, ...said) => {
    const { inFile, other, file, cwd } = project();
    writeFileSync(file('.env'), fromFile.map((name) => `${name}=${inFile.env[name]}\n`).join(''));
    const env = Object.fromEntries(fromEnvironment.map((name) => [name, other.env[name]]));
    const given = args.split(' ').map((arg) => arg.replace('URL', other.sandbox.baseUrl));
    const ended = await run(env, [...get, ...given].filter(Boolean), { cwd });
    expect(ended.code).toBe(code);
    for (const part of said) expect(ended.log).toContain(part);
    expect(inFile.sandbox.count() + other.sandbox.count()).toBe(0);
  });

  test('come from a file in UTF-16 with a byte order mark', async () => {
    const { file } = project('windows.env');
    const text = `\ufeff${readFileSync(file('windows.env'), 'utf8').replaceAll('\n', '\r\n')}`;
    writeFileSync(file('windows.env'), text, 'utf16le');
    expect((await run({}, [...get, '--env', file('windows.env')])).code).toBe(0);
  });

  test('never show the key of a file in an error', async () => {
    const { inFile, cwd } = project();
    const key = inFile.env.ACCOUNTING_API_KEY ?? '';
    const { code, log } = await run({}, ['pull', 'accounts', '--out', `/dev/null/${key}/such`], { cwd });
    expect(code).toBe(7);
    expect(log).not.toContain(key);
    expect(log).toContain('[redacted]');
  });
});
