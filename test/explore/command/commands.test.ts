import { writeFileSync } from 'node:fs';
import { collectionNames } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { MONEY_AS_NUMBERS } from '../../support/money-as-numbers.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import type { Settings } from './support/process.ts';
import { folder, openSandbox, run } from './support/run.ts';

useVirtualClock();

describe('get', () => {
  test('prints a record as the service sends it', async () => {
    const { sandbox, env } = openSandbox({ records: 200 });
    for (const name of ['accountAddresses', 'account-addresses', 'ACCOUNT_ADDRESSES']) {
      const { code, out } = await run(env, ['get', name, '3']);
      expect([code, JSON.parse(out)]).toEqual([0, sandbox.store.accountAddresses.get('3')]);
    }
  });

  test('prints an invalid record too', async () => {
    const { sandbox, env } = openSandbox({ records: 200 });
    sandbox.faults.next(MONEY_AS_NUMBERS);
    const { code, out } = await run(env, ['get', 'products', '1']);
    expect([code, typeof JSON.parse(out).salePrice]).toEqual([0, 'number']);
  });
});

describe('whoami', () => {
  test('shows for each collection whether the key may read it', async () => {
    const { sandbox, env } = openSandbox({ records: 200 });
    const all = await run(env, ['whoami', '--json']);
    expect(JSON.parse(all.out)).toMatchObject({
      baseUrl: `${sandbox.baseUrl}/api/public/v1`,
      collections: collectionNames.map((collection) => ({ collection, access: 'readable' })),
      quota: { limit: 10_000 },
    });
    expect(sandbox.count()).toBe(collectionNames.length);

    const some = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, ['whoami']);
    expect(some.code).toBe(0);
    const rows = some.out.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows.slice(1, collectionNames.length + 1)).toEqual(
      collectionNames.map((name) => [name, name === 'products' ? 'readable' : 'scope_required']),
    );
  });
});

describe('a key', () => {
  test.each([
    ['whoami'],
    ['probe'],
    ['probe', 'accounts', '--json'],
    ['discover'],
    ['pull', '--all', '--out', 'data'],
    ['pull', '--all', '--to', 'books.sqlite', '--tenant', 'acme'],
  ])('that is invalid or has no read access ends the command with exit code 3: %s %s %s', async (...args) => {
    const { sandbox, env } = openSandbox({ records: 20 });
    const file = folder();
    const found = args.map((arg) => arg.replace(/^data$|^books\.sqlite$/, file));
    const { revoked, forbidden } = sandbox.keys;
    const invalid = await run({ ...env, ACCOUNTING_API_KEY: revoked }, [...found, '--quiet']);
    expect([invalid.code, invalid.out, invalid.log]).toEqual([3, '', expect.stringContaining('401')]);
    const without = await run({ ...env, ACCOUNTING_API_KEY: forbidden }, [...found, '--quiet']);
    expect([without.code, without.log]).toEqual([3, expect.stringContaining('has no read access')]);
  });
});

test.each([
  ['discover', 'products', 'boms', '--out', 'schemas.ts'],
  ['pull', '--all', '--to', 'books.sqlite', '--tenant', 'acme'],
])('collections that the key may not read are named: %s %s', async (...args) => {
  const { sandbox, env } = openSandbox({ records: 50 });
  const found = args.map((arg) => arg.replace(/^schemas\.ts$|^books\.sqlite$/, folder()));
  const { code, log } = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, found);
  expect([code, log]).toEqual([0, expect.stringContaining('This key may not read boms')]);
});

test('a key that may not read one collection any more is not said to read nothing', async () => {
  const { sandbox, env } = openSandbox({ records: 20 });
  const args = ['pull', '--all', '--to', folder()('books.sqlite'), '--tenant', 'acme', '--quiet'];
  expect((await run(env, args)).code).toBe(0);
  sandbox.faults.add(
    { kind: 'status', status: 403, type: 'forbidden' },
    { path: '/api/public/v1/accounts', times: 20 },
  );
  const { code, log } = await run(env, args);
  expect([code, log]).toEqual([3, expect.stringContaining('accounts')]);
  expect(log).not.toContain('has no read access');
});

test.each([
  ['pull', 'accounts', '--to', 'FILE'],
  ['push', 'FILE.csv', '--key', 'productNumber', '--yes', '--state', 'FILE', '--visible-after', '10ms'],
])('%s rejects what another API key wrote until --same-company accepts it', async (...args) => {
  const { sandbox, env } = openSandbox({ records: { accounts: 40 } });
  const file = folder()('a');
  writeFileSync(`${file}.csv`, 'productNumber\nA\n');
  const found = args.map((arg) => arg.replace('FILE', file));
  const runAs = (key: string, ...more: string[]) =>
    run({ ...env, ACCOUNTING_API_KEY: key }, [...found, '--tenant', 'acme', ...more]);
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

describe.each([['whoami'], ['probe', 'accounts', 'boms'], ['discover', 'accounts', 'boms']])(
  '%s',
  (...args) => {
    test('blames the key for a 404 of one collection and a 403 of the others', async () => {
      const { sandbox, env } = openSandbox({ records: 20 });
      const missing = { kind: 'status', status: 404, type: 'not_found' } as const;
      sandbox.faults.add(missing, { collection: 'accounts', times: Number.POSITIVE_INFINITY });
      const settings = { ...env, ACCOUNTING_API_KEY: sandbox.keys.forbidden };
      const { code, log } = await run(settings, [...args, '--quiet']);
      expect([code, log]).toEqual([3, expect.stringContaining('has no read access')]);
    });

    test('blames the base URL if every collection is a 404', async () => {
      const { env } = openSandbox({ records: 20 });
      const settings = { ...env, ACCOUNTING_BASE_URL: `${env.ACCOUNTING_BASE_URL}/wrong` };
      const { code, log } = await run(settings, [...args, '--quiet']);
      const blamed = /none of the collections.*\n.*ACCOUNTING_BASE_URL/;
      expect([code, log]).toEqual([5, expect.stringMatching(blamed)]);
    });
  },
);

test('--version prints the version of the package', async () => {
  const { code, out } = await run({}, ['--version']);
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)]);
});

describe('the help', () => {
  const fits = (out: string, most: number) => {
    const lines = out.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(most);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  };

  test('lists the collections and the exit codes on a terminal of 60 lines and 80 columns', async () => {
    const { out } = await run({}, ['--help'], { columns: 200 });
    for (const name of collectionNames) expect(out).toMatch(new RegExp(`\\b${name}\\b`));
    for (const code of [0, 1, 2, 3, 4, 5, 6, 7, 8, 130]) expect(out).toMatch(new RegExp(`^  ${code} `, 'm'));
    fits(out, 60);
  });

  test('of every command fits 45 lines, shows examples, and needs neither service nor key', async () => {
    for (const command of ['whoami', 'probe', 'discover', 'pull', 'get', 'push', 'sandbox']) {
      const { code, out } = await run({}, [command, '--help'], { columns: 200 });
      expect(code).toBe(0);
      expect(out).toMatch(new RegExp(`Examples:\n  \\$ accounting-data-sdk ${command}`));
      fits(out, 45);
    }
  });

  test('is offered with the nearest name of a collection', async () => {
    for (const args of [
      ['get', 'acounts', '1'],
      ['pull', 'acounts'],
      ['probe', 'boms', 'acounts'],
      ['get', 'acounts'],
    ]) {
      const { code, log } = await run({}, args);
      expect([code, log]).toEqual([2, expect.stringMatching(/acounts\.\nDid you mean accounts\? .*--help/)]);
    }
  });
});

describe('an error', () => {
  const wrong: [name: string, change: Settings, args: string[], code: number, what: RegExp][] = [
    ['no service', { ACCOUNTING_BASE_URL: '' }, ['whoami'], 2, /No base URL is configured/],
    ['no key', { ACCOUNTING_API_KEY: '' }, ['whoami'], 2, /No API key is configured/],
    ['a bad id', {}, ['get', 'accounts', '..'], 2, /id/],
    ['a wrong key', { ACCOUNTING_API_KEY: 'wrong' }, ['pull', 'accounts'], 3, /401 \(unauthenticated\)/],
    ['a missing record', {}, ['get', 'accounts', '999'], 4, /404 \(not_found\)/],
    ['no service', { ACCOUNTING_BASE_URL: 'http://127.0.0.1:1' }, ['whoami'], 6, /got no response/],
    ['nothing to check', {}, ['discover', '--check', '/no/such/file.ts'], 7, /no such file/],
  ];
  test.for(wrong)('is two lines and an exit code: %s (%#)', async ([, change, args, code, what]) => {
    const { env } = openSandbox({ records: 100 });
    const ran = await run({ ...env, ...change }, [...args, '--quiet']);
    expect(ran.code).toBe(code);
    expect(ran.out).toBe('');
    expect(ran.log.trimEnd().split('\n').length).toBe(2);
    expect(ran.log.split('\n')[0]).toMatch(what);
  });

  test.each([
    ['get', 'accounts', '1'],
    ['pull', 'accounts', '--max-outage', '0'],
    ['pull', 'products', '--to', 'copy.sqlite', '--tenant', 'acme', '--max-outage', '0'],
    ['push', 'products.csv', '--key', 'productNumber', '--yes', '--max-outage', '0'],
  ])('about a connection gives its advice once: %s %s %s', async (...args) => {
    const { env } = openSandbox();
    const file = folder();
    writeFileSync(file('products.csv'), 'productNumber,name\nA,Desk\n');
    const found = args.map((arg) => arg.replace(/copy\.sqlite|products\.csv/, file));
    const down = { ...env, ACCOUNTING_BASE_URL: 'http://127.0.0.1:1' };
    const { log } = await run(down, [...found, '--quiet']);
    expect(log.match(/got no response/g)).toHaveLength(1);
    expect(log.match(/[^ ]+ and the network/g)).toEqual(['ACCOUNTING_BASE_URL and the network']);
  });

  test.each([
    [{ status: 503 }, true],
    [{ status: 415 }, false],
  ])('suggests to try again later only if that can help: %j', async (fault, later) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add({ kind: 'status', type: 'something_else', ...fault });
    const { code, log } = await run(env, ['get', 'accounts', '1']);
    expect(code).not.toBe(0);
    expect(log.includes('Try again later')).toBe(later);
    const lines = log.trimEnd().split('\n');
    expect(lines.filter((line) => !line.includes('; retrying in '))).toHaveLength(2);
  });

  test.each([
    ['pull', 'accounts'],
    ['get', 'accounts', '1'],
  ])('names the address if the service is not there: %s', async (...args) => {
    const { env } = openSandbox();
    const moved = await run({ ...env, ACCOUNTING_BASE_URL: `${env.ACCOUNTING_BASE_URL}/app` }, args);
    // Not 4: it is not known whether the record exists.
    expect([moved.code, moved.log]).toEqual([5, expect.stringContaining('ACCOUNTING_BASE_URL')]);

    const bare = openSandbox({ notFoundBody: '<h1>Not Found</h1>' });
    const { code, log } = await run(bare.env, args.with(-1, '1000000'));
    if (args[0] === 'get') expect([code, log]).toEqual([5, expect.stringContaining('ACCOUNTING_BASE_URL')]);
  });

  test.each([
    ['whoami'],
    ['get', 'accounts', '1'],
    ['probe', 'accounts'],
    ['push', 'products.csv', '--key', 'productNumber', '--dry-run'],
    ['pull', 'accounts', '--max-outage', '1m'],
  ])('of a service that is down shows within 3 seconds that the command waits: %s', async (...args) => {
    const { env } = openSandbox();
    const file = folder()('products.csv');
    writeFileSync(file, 'productNumber,name\nA,Desk\n');
    const given = args.map((arg) => arg.replace('products.csv', file));
    const down = { ...env, ACCOUNTING_BASE_URL: 'http://127.0.0.1:1' };
    const lines: string[] = [];
    const begun = performance.now();
    const log = (line: string) =>
      void lines.push(`${Math.round((performance.now() - begun) / 1000)} s: ${line}`);
    expect((await run(down, given, { log })).code).toBe(6);
    const first = lines.find((line) => line.includes('retrying in'));
    expect(first).toMatch(/^[0-3] s: (?:.*; )?127\.0\.0\.1:1 cannot be reached; retrying in \d+ s$/);
    const quiet = await run(down, [...given, '--quiet']);
    expect(quiet.log).not.toContain('retrying in');
  });

  test.each([
    ['whoami'],
    ['get', 'accounts', '1'],
    ['push', 'products.csv', '--key', 'productNumber', '--dry-run'],
    ['pull', 'accounts'],
  ])('says within 3 seconds that a service accepts requests and does not respond: %s', async (...args) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add({ kind: 'stall' });
    const file = folder()('products.csv');
    writeFileSync(file, 'productNumber,name\nA,Desk\n');
    const given = args.map((arg) => arg.replace('products.csv', file));
    const lines: string[] = [];
    const begun = performance.now();
    const stop = new AbortController();
    const log = (line: string) => {
      lines.push(`${Math.round((performance.now() - begun) / 1000)} s: ${line}`);
      if (line.includes('waiting for a response')) stop.abort();
    };
    await run(env, given, { log, signal: stop.signal });
    const line = `3 s: waiting for a response from ${new URL(sandbox.baseUrl).host}`;
    expect(lines).toContainEqual(expect.stringMatching(new RegExp(line.replace('s: ', 's: (?:.*; )?'))));
  });

  test('names the formats of the command if the service has none of them', async () => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add({ kind: 'status', status: 406 });
    expect((await run(env, ['get', 'accounts', '1'])).log).toContain('understands JSON and JSON-LD');
  });

  test('of the service is printed without its control characters', async () => {
    const { sandbox, env } = openSandbox();
    const body = JSON.stringify({ type: 'forbidden', detail: 'no\u001b[2J\nway\u009b' });
    sandbox.faults.next({ kind: 'rewrite', status: 403, body });
    const { code, log } = await run(env, ['get', 'accounts', '1']);
    expect(code).toBe(3);
    expect(log).toContain('no [2J way');
    expect(log.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  test.each([
    ['nonsense', "Unknown command 'nonsense'"],
    ['pul accounts', 'Did you mean pull?'],
    ['get', "'collection'"],
    ['get accounts', "'id'"],
    ['pull unknown', 'Known: accounts, '],
    ['pull accounts --pagination all', 'Allowed choices are keyset, page'],
    ['pull accounts --max-outage soon', 'Give a time with its unit'],
    ['pull', 'Name one, or pass --all'],
    ['pull --all', 'Name it with --out'],
    ['pull accounts --all --out x', 'Leave out accounts'],
    ['pull accounts --tenant acme', '--tenant is for a database'],
    ['pull accounts --full', '--full is for a database'],
    ['pull accounts --schemas schemas.mts', '--schemas is for a database'],
    ['pull accounts --max-candidates all', '--full'],
    ['pull accounts --to b --format csv', "'--format"],
    ['pull --all --to b --out data', '--out'],
    ['pull --all --to postgres --tenant acme', 'DATABASE_URL'],
    ['sandbox --port 99999', 'from 0 to 65535'],
    ['discover --sample 0', 'at least 1'],
    ['discover --check a --out b', '--out'],
    ['probe --check a --out b', '--out'],
    ['probe --draft 5', 'Give a JSON object'],
    ['whoami --verbose', "Unknown option '--verbose'"],
  ])('in the arguments is two lines and exit code 2: %s', async (line, words) => {
    const { sandbox, env } = openSandbox();
    const { code, log, out } = await run(env, line.split(' '));
    expect([code, out, log]).toEqual([2, '', expect.stringContaining(words)]);
    expect(log).toMatch(/^.+\n.+\n$/);
    expect(sandbox.count()).toBe(0);
  });

  test('for plain http names --allow-insecure', async () => {
    const baseUrl = 'http://books.example.com';
    const { code, log } = await run({ ACCOUNTING_API_KEY: 'k' }, ['whoami', '--base-url', baseUrl]);
    expect([code, log]).toEqual([2, expect.stringMatching(/plain http.*\n.*--allow-insecure/)]);
  });
});

describe('the key', () => {
  test('is rejected as an argument, and not printed', async () => {
    const { sandbox, env } = openSandbox();
    for (const flag of ['--api-key KEY', '--key=KEY', '--apiKey=KEY', '--token KEY']) {
      const args = ['whoami', ...flag.replace('KEY', 'secret-key').split(' ')];
      const { code, log, out } = await run({ ...env, ACCOUNTING_API_KEY: undefined }, args);
      expect([code, log]).toEqual([2, expect.stringContaining('ACCOUNTING_API_KEY')]);
      expect(out + log).not.toContain('secret-key');
    }
    expect(sandbox.count()).toBe(0);
  });

  test('is read from the terminal if there is one', async () => {
    const { sandbox, env } = openSandbox({ records: 50 });
    const asked: string[] = [];
    const prompt = {
      secret: async (question: string) => {
        asked.push(question);
        return ` ${sandbox.keys.full}\n`;
      },
      confirm: async () => false,
    };
    const withoutKey = { ...env, ACCOUNTING_API_KEY: undefined };
    const { code, out, log } = await run(withoutKey, ['get', 'accounts', '1'], { prompt });
    expect([code, asked]).toEqual([0, ['API key: ']]);
    expect(out + log).not.toContain(sandbox.keys.full);
  });
});
