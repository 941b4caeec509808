import { writeFileSync } from 'node:fs';
import { collectionNames } from 'accounting-data-sdk';
import type { Fault } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { useVirtualClock } from '../../support/virtual-clock.ts';
import type { Settings } from './support/process.ts';
import { ends, folder, openSandbox, run } from './support/run.ts';

useVirtualClock();

/** The arguments of a line, in which FILE.csv is a file of products and FILE a path beside it. */
function argsOf(line: string): string[] {
  const file = folder()('a');
  writeFileSync(`${file}.csv`, 'productNumber,name\nA,Desk\n');
  return line.split(' ').map((arg) => arg.replace('FILE', file));
}

test('a command sends the key over plain http only with --allow-insecure', async () => {
  const { sandbox, env } = openSandbox({ origin: 'http://books.example.com' });
  await ends(run(env, ['whoami']), 2, '--allow-insecure');
  expect(sandbox.count()).toBe(0);
  await ends(run(env, ['whoami', '--allow-insecure']), 0);
});

test('get prints a record as the service sends it, an invalid one too', async () => {
  const { sandbox, env } = openSandbox({ records: { accountAddresses: 3 } });
  const body = (text: string) => text.replace('"street":"', '"street":7,"other":"');
  sandbox.faults.add({ kind: 'rewrite', body });
  for (const name of ['accountAddresses', 'account-addresses', 'ACCOUNT_ADDRESSES']) {
    const { code, out } = await run(env, ['get', name, '3']);
    const sent = { ...sandbox.store.accountAddresses.get('3'), street: 7 };
    expect([code, JSON.parse(out)]).toMatchObject([0, sent]);
  }
});

test('whoami shows for each collection whether the key may read it', async () => {
  const { sandbox, env } = openSandbox();
  const all = await run(env, ['whoami', '--json']);
  expect(JSON.parse(all.out)).toMatchObject({
    baseUrl: `${sandbox.baseUrl}/api/public/v1`,
    collections: collectionNames.map((collection) => ({ collection, access: 'readable' })),
    quota: { limit: 10_000, remaining: 10_000 - collectionNames.length },
  });
  const some = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly }, ['whoami']);
  for (const name of collectionNames)
    expect(some.out).toMatch(
      new RegExp(`^${name} +${name === 'products' ? 'readable' : 'scope_required'}$`, 'm'),
    );
  const shown: (string | undefined)[] = [];
  const status = (text: string | undefined) => void shown.push(text);
  const unlimited = openSandbox({ rateLimitHeaders: false });
  expect((await run(unlimited.env, ['whoami'], { status })).out).toContain('\nquota    not reported\n');
  const [first, second] = collectionNames;
  expect(shown.slice(0, 2)).toEqual([
    `[          ] ${first} (1 of ${collectionNames.length})`,
    `[          ] ${second} (2 of ${collectionNames.length})`,
  ]);
  const left = 10_000 - collectionNames.length;
  expect(some.out).toContain(
    `\nservice  ${sandbox.baseUrl}/api/public/v1\nquota    ${left} of 10000 requests left\n`,
  );
});

test.each([
  'whoami',
  'probe accounts boms --json',
  'discover accounts boms',
  'pull --all --out FILE',
  'pull --all --to FILE --tenant a',
])('a key that is invalid or has no read access ends the command with exit code 3: %s', async (line) => {
  const { sandbox, env } = openSandbox({ records: 20 });
  const args = [...argsOf(line), '--quiet'];
  const invalid = await run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.revoked }, args);
  expect([invalid.code, invalid.out, invalid.log]).toEqual([3, '', expect.stringContaining('401')]);
  // Even if one collection does not exist.
  if (!line.startsWith('pull'))
    sandbox.faults.add({ kind: 'status', status: 404, type: 'not_found' }, { collection: 'accounts' });
  await ends(run({ ...env, ACCOUNTING_API_KEY: sandbox.keys.forbidden }, args), 3, 'has no read access');
  if (line.startsWith('pull')) return;
  const wrong = run({ ...env, ACCOUNTING_BASE_URL: `${env.ACCOUNTING_BASE_URL}/wrong` }, args);
  await ends(wrong, 5, /none of the collections.*\n.*ACCOUNTING_BASE_URL/);
});

test('pull --to ends with 3 if the key may not read a collection of the copy any more', async () => {
  const { sandbox, env } = openSandbox({ records: 20 });
  const args = argsOf('pull --all --to FILE --tenant a');
  expect((await run(env, args)).code).toBe(0);
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { collection: 'accounts' });
  const { log } = await ends(run(env, args), 3, 'accounts');
  expect(log).not.toContain('has no read access');
});

test('pull --to names the collections that the key may not read', async () => {
  const { sandbox, env } = openSandbox({ records: 50 });
  const settings = { ...env, ACCOUNTING_API_KEY: sandbox.keys.productsOnly };
  const args = argsOf('pull --all --to FILE');
  await ends(run(settings, args), 0, 'This key may not read boms');
  const verified = run(settings, [...args, '--verify']);
  await ends(verified, 0, 'boms: not compared, the key may not read it.');
});

test('pull --to lists as --pagination says', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 90 } });
  await ends(run(env, [...argsOf('pull accounts --to FILE'), '--pagination', 'page']), 0);
  const names = new Set(sandbox.requests.flatMap(({ query }) => Object.keys(query)));
  expect([...names]).toEqual(['_page']);
});

test('pull --verify compares the copy of another API key with --same-company alone', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 4 }, otherRecords: { accounts: 4 } });
  const args = argsOf('pull accounts --to FILE');
  expect((await run(env, args)).code).toBe(0);
  const verify = ['--verify', '--quiet', '--max-candidates', 'all'];
  const other = { ...env, ACCOUNTING_API_KEY: sandbox.keys.otherCompany };
  await ends(run(other, [...args, ...verify]), 7, 'The copy was written with another API key.');
  await ends(run(other, [...args, ...verify, '--same-company']), 8, '8 records of default in');
});

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
  expect(rejected.log).toContain('at least one must exist, and all that exist must have the same createdAt');
  expect(sandbox.journal).toEqual([]);
  expect((await runAs(otherCompany, '--same-company')).code).toBe(0);
  // Both keys are known now.
  for (const key of [otherCompany, full]) expect((await runAs(key)).code).toBe(0);
});

type Line = readonly [line: string, before?: string];

/** Commands that read or write several pages, with what comes before them. */
const LONG: readonly Line[] = [
  ['pull accounts'],
  ['pull accounts --to FILE'],
  ['pull accounts --to FILE --verify', 'pull accounts --to FILE'],
  ['push FILE.csv --key productNumber --yes --state FILE'],
];

test.each(LONG)('%s waits as long as --max-outage says for a service that is down', async (line, before) => {
  const { sandbox, env } = openSandbox({ records: { accounts: 90 } });
  const file = folder()('a');
  writeFileSync(`${file}.csv`, 'productNumber\nA\n');
  const argsFor = (text: string) => text.replaceAll('FILE', file).split(' ');
  if (before !== undefined) await ends(run(env, argsFor(before)), 0);
  sandbox.faults.add({ kind: 'status', status: 503 });
  const tookMs = async (maxOutage: string) => {
    const startedAt = Date.now();
    await ends(run(env, argsFor(`${line} --quiet --max-outage ${maxOutage}`)), 5);
    return Date.now() - startedAt;
  };
  expect(await tookMs('0')).toBeLessThan(60_000);
  expect(await tookMs('1h')).toBeGreaterThan(3_000_000);
});

const ALL: readonly Line[] = [...LONG, ['whoami'], ['get accounts 1'], ['discover'], ['probe accounts']];

test.each(ALL)('%s sends no more requests after Ctrl-C', async (line = '', before) => {
  const { sandbox, env } = openSandbox({ records: { accounts: 300 } });
  const file = folder()('a');
  writeFileSync(`${file}.csv`, 'productNumber\nA\n');
  const argsFor = (text: string) => text.replaceAll('FILE', file).split(' ');
  if (before !== undefined) await ends(run(env, argsFor(before)), 0);
  sandbox.clearLogs();
  const stop = new AbortController();
  sandbox.onRequest(() => stop.abort());
  await ends(run(env, argsFor(line), { signal: stop.signal }), 130);
  expect(sandbox.count()).toBeLessThanOrEqual(2);
});

test('a command waits for the quota of its key as long as the service says', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 3 } });
  sandbox.faults.next({ kind: 'status', status: 429, retryAfter: 7_200 });
  const shown: (string | undefined)[] = [];
  const status = (text: string | undefined) => void shown.push(text);
  expect((await run(env, ['get', 'accounts', '1'], { status })).code).toBe(0);
  expect([shown[0], shown.at(-1)]).toEqual([expect.stringMatching(/^waiting.* quota/), undefined]);
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
    ['discover --check /no/such/file.ts', 7, /file\.ts cannot be read \(ENOENT\).*\n.*discover --out/],
    ['discover --out schemas.js', 2, 'discover writes TypeScript, and schemas.js has another ending'],
    ['discover --out schemas.json', 2, 'pass --json without --out'],
    ['discover --force', 2, '--force has no effect without --out'],
    ['probe --force', 2, '--force has no effect without --out'],
    ['probe --draft {} -y', 2, '--draft has no effect without --write'],
    [
      'pull accounts --max-candidates 5 --to b',
      2,
      '--max-candidates has no effect without --full or --verify',
    ],
    ...['--schemas s', '--full', '--same-company', '--verify', '--json', '--forget'].map(
      (flag): [string, number, string] => [
        `pull accounts ${flag}`,
        2,
        `${flag.split(' ')[0]} has no effect without --to`,
      ],
    ),
    ['pull accounts --to b --out c', 2, "'-o, --out <file>'"],
    ['probe --check a.mts --out b.mts', 2, "'-o, --out <file>'"],
    ['discover --check a.mts --out b.mts', 2, "'-o, --out <file>'"],
    ['pull accounts --to b -y', 2, '--yes has no effect without --forget'],
    ['pull accounts --to b --verify --full', 2, 'exclude each other'],
    ['pull accounts --to b --forget --tenant a', 2, '--forget removes a whole company'],
    ['pull --to b --forget --tenant a --pagination page', 2, '--pagination has no effect with --forget'],
    ['pull --to b --forget --tenant a --all', 2, '--all has no effect with --forget'],
    ['pull --to b --forget --tenant a --env x', 2, '--env has no effect with --forget'],
    ['sandbox --force', 2, '--force has no effect without --write'],
    ['sandbox --list-options --records 5', 2, '--records has no effect with --list-options'],
    ['sandbox --list-options --service x.mts', 2, '--service has no effect with --list-options'],
    // Not 4: it is not known whether the record exists.
    ['get accounts 1 -q', 5, 'ACCOUNTING_BASE_URL', { ACCOUNTING_BASE_URL: 'https://APP' }],
    ['pull accounts -q', 5, 'ACCOUNTING_BASE_URL', { ACCOUNTING_BASE_URL: 'https://APP' }],
    ['pul accounts', 2, /Unknown command 'pul'.*\n?.*Did you mean pull\?/],
    ['get acounts', 2, /acounts\.\nDid you mean accounts\? .*--help/],
    ['pull accounts --max-outage soon', 2, 'Give a time with its unit'],
    ['pull', 2, 'Name one, or pass --all'],
    ['pull --all', 2, 'Name it with --out'],
    ['pull --all --out -', 2, 'Name it with --out'],
    ['pull accounts --all --out x', 2, 'Leave out accounts'],
    ['pull accounts --tenant acme', 2, '--tenant has no effect without --to'],
    ['pull accounts --to b --format csv', 2, "'--format"],
    ['pull --all --to postgres --tenant acme', 2, 'DATABASE_URL'],
    ['pull --all --to postgres://user:s3cret@host/books', 2, 'DATABASE_URL'],
    ['probe --draft 5', 2, 'Give a JSON object'],
    ['probe accounts --out service.cts', 2, 'Name a file in .mts, .ts or .json.'],
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
    ['status 503', { kind: 'status', status: 503, type: 'something_else' }, 'Try again later'],
    ['status 415', { kind: 'status', status: 415, type: 'something_else' }, '415'],
    ['status 406', { kind: 'status', status: 406, type: 'something_else' }, 'understands JSON and JSON-LD'],
    // Not 4: it is not known whether the record exists.
    ['a 404 that is a page', { kind: 'status', status: 404, body: '<h1>404</h1>' }, 'ACCOUNTING_BASE_URL'],
  ] as const)('with %s says what to do', async (_, fault, said) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add(fault, { path: /accounts\/1$/ });
    const { code, log } = await run(env, ['get', 'accounts', '1', '--quiet']);
    expect([code, log]).toEqual([5, expect.stringContaining(said)]);
    expect(log.includes('Try again later')).toBe(fault.status === 503);
    expect(log.trimEnd().split('\n')).toHaveLength(2);
  });

  test.each<[what: string, code: number, fault: Fault, advice: string]>([
    ['a response that never comes', 6, { kind: 'stall' }, 'the same command can be repeated safely'],
    [
      'a redirect',
      5,
      { kind: 'rewrite', status: 302, headers: { Location: 'https://elsewhere.invalid/' } },
      'the command follows no redirects',
    ],
    ['a 400', 5, { kind: 'status', status: 400, type: 'malformed_request' }, 'Check the values given'],
    ['a 403', 3, { kind: 'status', status: 403, type: 'forbidden' }, '"whoami" shows what it may read'],
  ])('for %s has the exit code %i and its advice', async (_, code, fault, advice) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add(fault);
    await ends(run(env, ['get', 'accounts', '1', '--quiet']), code, advice);
  });

  test.each([
    [DOWN, '127.0.0.1:1 cannot be reached; retrying in'],
    ['', 'waiting for a response from '],
  ])('shows within 3 seconds that the command waits: %s', async (address, waits) => {
    const { sandbox, env } = openSandbox();
    sandbox.faults.add({ kind: 'stall' });
    const stop = new AbortController();
    const begun = Date.now();
    const log = (text: string) => text.includes(waits) && stop.abort(Date.now() - begun);
    const settings = { ...env, ACCOUNTING_BASE_URL: address || sandbox.baseUrl };
    await run(settings, ['pull', 'accounts'], { log, signal: stop.signal });
    expect(stop.signal.reason).toBeLessThanOrEqual(3_000);
    if (address === '') return;
    const shown: string[] = [];
    await run(settings, ['pull', 'accounts'], { status: (text = '') => void shown.push(text) });
    expect(shown.join('\n')).not.toContain('waiting for a response');
    const quiet = await run(settings, ['pull', 'accounts', '--quiet']);
    expect([quiet.code, quiet.log]).toEqual([6, expect.not.stringContaining('retrying in')]);
  });

  test('of the service is printed without its control characters', async () => {
    const { sandbox, env } = openSandbox();
    const body = JSON.stringify({ type: 'forbidden', detail: 'no\u001b[2J\nway\u009b' });
    sandbox.faults.next({ kind: 'rewrite', status: 403, body });
    const { log } = await ends(run(env, ['get', 'accounts', '1']), 3, 'no [2J way');
    expect(log.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });
});
