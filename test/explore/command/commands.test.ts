import { writeFileSync } from 'node:fs';
import { collectionNames } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { MONEY_AS_NUMBERS } from '../../support/money-as-numbers.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import type { Settings } from './support/process.ts';
import { folder, openSandbox, run } from './support/run.ts';

useVirtualClock();

/** The arguments of a line, in which FILE.csv is a file of products and FILE a path beside it. */
function argsOf(line: string): string[] {
  const file = folder()('a');
  writeFileSync(`${file}.csv`, 'productNumber,name\nA,Desk\n');
  return line.split(' ').map((arg) => arg.replace('FILE', file));
}

test('get prints a record as the service sends it, an invalid one too', async () => {
  const { sandbox, env } = openSandbox({ records: { accountAddresses: 3, products: 1 } });
  for (const name of ['accountAddresses', 'account-addresses', 'ACCOUNT_ADDRESSES']) {
    const { code, out } = await run(env, ['get', name, '3']);
    expect([code, JSON.parse(out)]).toEqual([0, sandbox.store.accountAddresses.get('3')]);
  }
  sandbox.faults.next(MONEY_AS_NUMBERS);
  const { code, out } = await run(env, ['get', 'products', '1']);
  expect([code, typeof JSON.parse(out).salePrice]).toEqual([0, 'number']);
});

test('whoami shows for each collection whether the key may read it', async () => {
  const { sandbox, env } = openSandbox();
  const all = await run(env, ['whoami', '--json']);
  expect(JSON.parse(all.out)).toMatchObject({
    baseUrl: `${sandbox.baseUrl}/api/public/v1`,
    collections: collectionNames.map((collection) => ({ collection, access: 'readable' })),
    quota: { limit: 10_000, remaining: 10_000 - collectionNames.length },
  });
  expect(sandbox.count()).toBe(collectionNames.length);
  const some = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, ['whoami']);
  const rows = some.out.split('\n').map((line) => line.split(/ {2,}/));
  expect(rows.slice(1, collectionNames.length + 1)).toEqual(
    collectionNames.map((name) => [name, name === 'products' ? 'readable' : 'scope_required']),
  );
});

const FORBIDDEN = { kind: 'status', status: 403, type: 'forbidden' } as const;

test.each([
  'whoami',
  'probe accounts --json',
  'discover',
  'pull --all --out FILE',
  'pull --all --to FILE --tenant a',
])('a key that is invalid or has no read access ends the command with exit code 3: %s', async (line) => {
  const { sandbox, env } = openSandbox({ records: 20 });
  const args = [...argsOf(line), '--quiet'];
  const invalid = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.revoked }, args);
  expect([invalid.code, invalid.out, invalid.log]).toEqual([3, '', expect.stringContaining('401')]);
  const without = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.forbidden }, args);
  expect([without.code, without.log]).toEqual([3, expect.stringContaining('has no read access')]);
  if (!line.includes('--to')) return;
  // A key that may not read one collection any more still reads others.
  expect((await run(env, args)).code).toBe(0);
  sandbox.faults.add(FORBIDDEN, { collection: 'accounts' });
  const { code, log } = await run(env, args);
  expect([code, log]).toEqual([3, expect.stringContaining('accounts')]);
  expect(log).not.toContain('has no read access');
});

test.each(['discover products boms --out FILE', 'pull --all --to FILE --tenant acme'])(
  'collections that the key may not read are named: %s',
  async (line) => {
    const { sandbox, env } = openSandbox({ records: 50 });
    const { code, log } = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, argsOf(line));
    expect([code, log]).toEqual([0, expect.stringContaining('This key may not read boms')]);
  },
);

test.each([
  'pull accounts --to FILE',
  'push FILE.csv --key productNumber --yes --state FILE --visible-after 10ms',
])('%s rejects what another API key wrote until --same-company accepts it', async (line) => {
  const { sandbox, env } = openSandbox({ records: { accounts: 4 } });
  const args = argsOf(`${line} --tenant acme`);
  const runAs = (key: string, ...more: string[]) =>
    run({ ...env, ACCOUNTING_API_KEY: key }, [...args, ...more]);
  const { revoked, full, otherCompany } = sandbox.keys;
  // A key that can read nothing is not remembered.
  expect((await runAs(revoked)).code).toBe(3);
  expect((await runAs(full)).code).toBe(0);
  sandbox.clearLogs();
  const rejected = await runAs(otherCompany);
  expect(rejected).toMatchObject({ code: 7, log: expect.stringContaining('--same-company') });
  expect(sandbox.journal).toEqual([]);
  expect((await runAs(otherCompany, '--same-company')).code).toBe(0);
  // Both keys are known now.
  for (const key of [otherCompany, full]) expect((await runAs(key)).code).toBe(0);
});

test.each(['whoami', 'probe accounts boms', 'discover accounts boms'])(
  '%s blames the key for a 404 of one collection and a 403 of the others, and the base URL if each is a 404',
  async (line) => {
    const { sandbox, env } = openSandbox();
    const args = [...argsOf(line), '--quiet'];
    const wrong = await run({ ...env, ACCOUNTING_BASE_URL: `${env.ACCOUNTING_BASE_URL}/wrong` }, args);
    const blamed = /none of the collections.*\n.*ACCOUNTING_BASE_URL/;
    expect([wrong.code, wrong.log]).toEqual([5, expect.stringMatching(blamed)]);
    sandbox.faults.add({ kind: 'status', status: 404, type: 'not_found' }, { collection: 'accounts' });
    const { code, log } = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.forbidden }, args);
    expect([code, log]).toEqual([3, expect.stringContaining('has no read access')]);
  },
);

test.each([
  ['', 60, /^ {2}130 .*Ctrl-C/m],
  ...['whoami', 'probe', 'discover', 'pull', 'get', 'push', 'sandbox'].map(
    (command) => [command, 45, new RegExp(`Examples:\n {2}\\$ accounting-data-sdk ${command}`)] as const,
  ),
] as const)(
  'the help of "%s" fits %i lines of 80 columns, and needs neither service nor key',
  async (command, most, shown) => {
    const args = [command, '--help'].filter(Boolean);
    const { code, out } = await run({}, args, { columns: 200 });
    expect([code, out]).toEqual([0, expect.stringMatching(shown)]);
    const lines = out.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(most);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    if (command === '') for (const name of collectionNames) expect(out).toMatch(new RegExp(`\\b${name}\\b`));
  },
);

test('--version prints the version of the package', async () => {
  const { code, out } = await run({}, ['--version']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)]);
});

const DOWN = 'http://127.0.0.1:1';

describe('an error', () => {
  test.each<[line: string, code: number, words: string | RegExp, change?: Settings]>([
    ['whoami', 2, 'No base URL is configured', { ACCOUNTING_BASE_URL: '' }],
    ['whoami', 2, 'No API key is configured', { ACCOUNTING_API_KEY: '' }],
    ['get accounts ..', 2, 'id'],
    ['pull accounts -q', 3, '401 (unauthenticated)', { ACCOUNTING_API_KEY: 'wrong' }],
    ['get accounts 999', 4, '404 (not_found)'],
    ['whoami -q', 6, 'got no response', { ACCOUNTING_BASE_URL: DOWN }],
    ['discover --check /no/such/file.ts', 7, 'no such file'],
    // Not 4: it is not known whether the record exists.
    ['get accounts 1 -q', 5, 'ACCOUNTING_BASE_URL', { ACCOUNTING_BASE_URL: 'https://APP' }],
    ['pull accounts -q', 5, 'ACCOUNTING_BASE_URL', { ACCOUNTING_BASE_URL: 'https://APP' }],
    ['pul accounts', 2, /Unknown command 'pul'.*\n?.*Did you mean pull\?/],
    ['get acounts', 2, /acounts\.\nDid you mean accounts\? .*--help/],
    ['pull unknown', 2, 'Known: accounts, '],
    ['pull accounts --pagination all', 2, 'Allowed choices are keyset, page'],
    ['pull accounts --max-outage soon', 2, 'Give a time with its unit'],
    ['pull', 2, 'Name one, or pass --all'],
    ['pull --all', 2, 'Name it with --out'],
    ['pull accounts --all --out x', 2, 'Leave out accounts'],
    ['pull accounts --tenant acme', 2, '--tenant is for a database'],
    ['pull accounts --to b --format csv', 2, "'--format"],
    ['pull --all --to postgres --tenant acme', 2, 'DATABASE_URL'],
    ['pull --all --to postgres://user:s3cret@host/books', 2, 'DATABASE_URL'],
    ['sandbox --port 99999', 2, 'from 0 to 65535'],
    ['discover --sample 0', 2, 'at least 1'],
    ['probe --draft 5', 2, 'Give a JSON object'],
    ['whoami --verbose', 2, "Unknown option '--verbose'"],
    ['whoami --api-key s3cret', 2, 'ACCOUNTING_API_KEY'],
    ['whoami --base-url http://books.example.com', 2, /plain http.*\n.*--allow-insecure/],
  ])('is two lines and an exit code: %s (%i, %s)', async (line, code, words, change = {}) => {
    const { sandbox, env } = openSandbox();
    const settings = { ...env, ...change };
    const ACCOUNTING_BASE_URL = settings.ACCOUNTING_BASE_URL?.replace(
      'https://APP',
      `${sandbox.baseUrl}/app`,
    );
    const ran = await run({ ...settings, ACCOUNTING_BASE_URL }, line.split(' '));
    expect([ran.code, ran.out]).toEqual([code, '']);
    expect(ran.log).toMatch(words);
    expect(ran.log).toMatch(/^.+\n.+\n$/);
    expect(ran.log).not.toContain('s3cret');
    if (code === 2) expect(sandbox.count()).toBe(0);
  });

  test.each([
    'get accounts 1',
    'pull products --to FILE --tenant acme --max-outage 0',
    'push FILE.csv --key productNumber --yes --max-outage 0',
  ])('about a connection gives its advice once: %s', async (line) => {
    const { env } = openSandbox();
    const { log } = await run({ ...env, ACCOUNTING_BASE_URL: DOWN }, [...argsOf(line), '--quiet']);
    expect(log.match(/got no response/g)).toHaveLength(1);
    expect(log.match(/[^ ]+ and the network/g)).toEqual(['ACCOUNTING_BASE_URL and the network']);
  });

  test.each([
    [503, 'Try again later', '406'],
    [415, '415', 'Try again later'],
    [406, 'understands JSON and JSON-LD', 'Try again later'],
  ])('with status %i says "%s" and not "%s"', async (status, said, unsaid) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add({ kind: 'status', status, type: 'something_else' });
    const { code, log } = await run(env, ['get', 'accounts', '1', '--quiet']);
    expect([code, log]).toEqual([5, expect.stringContaining(said)]);
    expect(log).not.toContain(unsaid);
    expect(log.trimEnd().split('\n')).toHaveLength(2);
  });

  test('names the address if a 404 is a page, because then it is not known whether the record exists', async () => {
    const { env } = openSandbox({ notFoundBody: '<h1>Not Found</h1>' });
    const { code, log } = await run(env, ['get', 'accounts', '1000000']);
    expect([code, log]).toEqual([5, expect.stringContaining('ACCOUNTING_BASE_URL')]);
  });

  test.each([
    ['whoami', 'down'],
    ['pull accounts --max-outage 1m', 'down'],
    ['push FILE.csv --key productNumber --dry-run', 'down'],
    ['get accounts 1', 'silent'],
    ['pull accounts', 'silent'],
  ])('shows within 3 seconds that the command waits: %s, the service is %s', async (line, state) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add({ kind: 'stall' });
    const address = state === 'down' ? DOWN : sandbox.baseUrl;
    const { host } = new URL(address);
    const waits =
      state === 'down' ? `${host} cannot be reached; retrying in` : `waiting for a response from ${host}`;
    const stop = new AbortController();
    const begun = performance.now();
    const log = (text: string) => {
      if (text.includes(waits)) stop.abort(Math.round((performance.now() - begun) / 1000));
    };
    const args = argsOf(line);
    await run({ ...env, ACCOUNTING_BASE_URL: address }, args, { log, signal: stop.signal });
    expect(stop.signal.reason).toBeLessThanOrEqual(3);
    if (state === 'silent') return;
    const quiet = await run({ ...env, ACCOUNTING_BASE_URL: DOWN }, [...args, '--quiet']);
    expect([quiet.code, quiet.log]).toEqual([6, expect.not.stringContaining('retrying in')]);
  });

  test('of the service is printed without its control characters', async () => {
    const { sandbox, env } = openSandbox();
    const body = JSON.stringify({ type: 'forbidden', detail: 'no\u001b[2J\nway\u009b' });
    sandbox.faults.next({ kind: 'rewrite', status: 403, body });
    const { code, log } = await run(env, ['get', 'accounts', '1']);
    expect([code, log]).toEqual([3, expect.stringContaining('no [2J way')]);
    expect(log.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
