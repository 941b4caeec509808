import { once } from 'node:events';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { collectionNames } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test } from 'vitest';
import { folder, main, run } from './support/run.ts';

/** Runs the command until it listens or ends, with what it says. */
async function serve(...args: string[]) {
  const out: string[] = [];
  const log: string[] = [];
  const stop = new AbortController();
  const listening = Promise.withResolvers<void>();
  const code = main(['sandbox', ...args], {
    out: (line) => out.push(line),
    log: (line) => {
      log.push(line);
      if (line.startsWith('Listening')) setImmediate(listening.resolve);
    },
    env: {},
    colors: false,
    signal: stop.signal,
  });
  const end = () => {
    stop.abort();
    return code;
  };
  onTestFinished(async () => void (await end()));
  await Promise.race([listening.promise, code]);
  const variable = (name: string) =>
    out.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  const url = `${variable('ACCOUNTING_BASE_URL')}/api/public/v1`;
  const read = (path: string, key = variable('ACCOUNTING_API_KEY')) =>
    fetch(`${url}${path}`, { headers: { 'X-AUTH-TOKEN': key } });
  return { out, log, code, variable, read, end };
}

const ARGS = ['--port', '0', '--records', '200', '--seed', '7'];

test('sandbox prints lines for a .env file, serves, logs and stops', async () => {
  const fault = '{"kind":"status","status":503,"collection":"boms","times":1}';
  const options = '{"rateLimit":{"limit":3},"listBody":"member"}';
  const other = '{"kind":"status","status":502,"collection":"budgets"}';
  const faults = ['--fault', fault, '--fault', other];
  const { out, log, variable, read, end } = await serve(...ARGS, '--options', options, ...faults);
  const response = await read('/products?id[gt]=5');
  expect([response.status, response.headers.get('x-ratelimit-limit')]).toEqual([200, '3']);
  expect(await response.json()).toMatchObject({
    member: createSandbox({ seed: 7, records: 200 }).store.products.all().slice(5),
  });
  expect(out[0]).toContain('200 records from seed 7, 3 requests in 60 s for each key');
  expect((await read('/accounts', variable('ACCOUNTING_API_KEY_FORBIDDEN'))).status).toBe(403);
  expect((await read('/accounts/x%0Ay', 'unknown')).status).toBe(401);
  for (const status of [503, 200]) expect((await read('/boms')).status).toBe(status);
  expect(await end()).toBe(0);
  expect(log.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
    expect.stringContaining('Listening'),
    expect.stringContaining('Watch it at http://127.0.0.1:'),
    expect.stringMatching(/^GET +200 \/products\?id\[gt\]=5 \d+ records · full$/),
    expect.stringMatching(/^GET +403 \/accounts forbidden/),
    expect.stringMatching(/^GET +401 \/accounts\/x%0Ay unauthenticated/),
    expect.stringMatching(/^GET +503 \/boms .*fault status · full$/),
    expect.stringMatching(/^GET +200 \/boms/),
    expect.stringContaining('5 requests'),
  ]);
  await expect(read('/accounts')).rejects.toThrow('fetch failed');
});

test('sandbox that is stopped while it starts ends', async () => {
  const { code, log } = await run({}, ['sandbox', ...ARGS], { signal: AbortSignal.abort() });
  expect([code, log]).toEqual([0, expect.stringContaining('Stopped after 0 requests.')]);
});

test('sandbox names a key for each company and permission set, other ones without --seed', async () => {
  const { log, variable, end } = await serve(...ARGS, '--quiet');
  const keys = ['', '_READ_ONLY', '_PRODUCTS_ONLY', '_FORBIDDEN', '_REVOKED', '_OTHER_COMPANY'];
  for (const key of keys) expect(variable(`ACCOUNTING_API_KEY${key}`)).not.toBe('');
  const other = await serve('--port', '0');
  expect(other.variable('ACCOUNTING_API_KEY')).not.toBe(variable('ACCOUNTING_API_KEY'));
  await end();
  expect(log.map((line) => line.split(' ')[0])).toEqual(['Listening', 'Watch', 'Stopped']);
});

test('sandbox escapes what a request could do to the terminal with its path, query or key', async () => {
  const { log, variable, read } = await serve(...ARGS);
  const url = `${variable('ACCOUNTING_BASE_URL')}/api/public/v1/products`;
  await read(`/accounts?a${encodeURIComponent('\u001b[2J\r\nGET 200\u009b\u202e\u2028\ufeff')}=%00%7f`);
  await fetch(url, { method: 'POST', headers: { 'Idempotency-Key': 'k\u009b1\u00ad' } });
  expect(log.slice(2).join('')).toContain(
    String.raw`?a\u{1b}[2J\u{d}\u{a}GET 200\u{9b}\u{202e}\u{2028}\u{feff}=\u{0}\u{7f}`,
  );
  expect(log.at(-1)).toContain(String.raw`key k\u{9b}1\u{ad}`);
  expect(log.join('')).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
});

test.each([
  ['--host 127.0.0.1', true, ['127.0.0.1', 'localhost', '[::1]'], ['shop.example']],
  ['--host 127.0.0.1 --allow-host sandbox', true, ['sandbox'], ['shop.example']],
  ['--host 0.0.0.0', false, [], []],
  ['--host 0.0.0.0 --control', true, ['localhost'], ['sandbox', '0.0.0.0']],
  ['--host 0.0.0.0 --control --allow-host sandbox', true, ['sandbox'], ['shop.example']],
])(
  'sandbox with %s serves its control: %s, for %j and not for %j',
  async (flags, isServed, names, others) => {
    const { log, variable } = await serve(...ARGS, ...flags.split(' '));
    const { port } = new URL(variable('ACCOUNTING_BASE_URL'));
    const statusFor = async (host: string, path = '/_sandbox/state') => {
      const options = { host: '127.0.0.1', port, path, headers: { Host: `${host}:${port}` } };
      const [response] = (await once(get(options), 'response')) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    const [, watch] = log;
    expect(watch).toBe(isServed ? `Watch it at http://127.0.0.1:${port}/_sandbox/` : undefined);
    for (const name of names) expect(await statusFor(name)).toBe(200);
    for (const name of others) expect(await statusFor(name)).toBe(421);
    if (!isServed) expect(await statusFor('127.0.0.1')).toBe(401);
    expect(await statusFor('127.0.0.1', '/api/public/v1/accounts')).toBe(401);
  },
);

test.each([
  ['--host 127.0.0.1', 421, undefined],
  ['--host 127.0.0.1 --allow-host Shop.example --allow-host other.example', 401, undefined],
  ['--host 0.0.0.0 --cors', 401, '*'],
])('sandbox with %s responds to shop.example with %d, for pages of %s', async (flags, status, pages) => {
  const { variable } = await serve(...ARGS, ...flags.split(' '));
  const { port } = new URL(variable('ACCOUNTING_BASE_URL'));
  const options = { host: '127.0.0.1', port, path: '/', headers: { Host: 'shop.example' } };
  const [received] = (await once(get(options), 'response')) as [IncomingMessage];
  received.resume();
  expect([received.statusCode, received.headers['access-control-allow-origin']]).toEqual([status, pages]);
});

test.each([
  ['--options', '{"listbody":"member"}', 2, 'Did you mean listBody?'],
  [
    '--fault',
    '{"kind":"disconnect","colection":"boms"}',
    2,
    'Did you mean collection, which is a condition?',
  ],
  ['--fixtures', '/no/such', 7, 'no file of a collection'],
  ['--service', '{"client":{},"sync":{},"sandbox":{"pageSizes":30}}', 7, 'cannot be created: pageSizes'],
])('sandbox rejects %s %s', async (flag, value, exitCode, message) => {
  const file = folder()('service.json');
  writeFileSync(file, value);
  const { code, log } = await serve(...ARGS, flag, flag === '--service' ? file : value);
  expect([await code, log.join('\n').split('\n').length]).toEqual([exitCode, 2]);
  expect(log.join('\n')).toContain(message);
});

test('sandbox serves the records of a folder, with the options of --service below those of --options', async () => {
  const file = folder();
  writeFileSync(file('boms.ndjson'), '{"id":"70","name":"Desk"}\n{"id":"71"}\n');
  const sandbox = { pageSize: 1, listBody: 'member' };
  writeFileSync(file('service.json'), JSON.stringify({ client: {}, sync: {}, sandbox }));
  const flags = ['--fixtures', file('.'), '--service', file('service.json'), '--options', '{"pageSize":9}'];
  const { read } = await serve('--port', '0', ...flags);
  expect(await (await read('/boms')).json()).toMatchObject({ member: [{ id: '70' }, { id: '71' }] });
});

test('sandbox --service generates some pages of each collection, of the size that --options says', async () => {
  const file = folder()('service.json');
  const sandbox = { pageSize: 5, rateLimit: { limit: 77 } };
  writeFileSync(file, JSON.stringify({ client: {}, sync: {}, sandbox }));
  for (const [more, each, quota] of [
    [[], 350, '77 requests in 60 s'],
    [['--options', '{"pageSize":90,"rateLimit":{"windowMs":5000}}'], 450, '77 requests in 5 s'],
    [['--records', `${3 * collectionNames.length}`], 3, '77 requests in 60 s'],
  ] as const) {
    const { out, read, variable } = await serve('--port', '0', '--seed', '7', '--service', file, ...more);
    const ofOther = await read('/products', variable('ACCOUNTING_API_KEY_OTHER_COMPANY'));
    expect(await ofOther.json()).not.toEqual([]);
    const count = (collectionNames.length * each).toLocaleString('en-US');
    expect(out[0]).toContain(`: ${count} records from seed 7, ${quota} for each key.`);
  }
});

test('sandbox takes numbers with underscores, generates fewer records for the other company, and takes no rate limit from --options', async () => {
  const records = ['--records', '1_400', '--seed', '7'];
  const { out, read, variable } = await serve('--port', '0', ...records, '--options', '{"rateLimit":false}');
  expect(out[0]).toContain(': 1,400 records from seed 7, no rate limit.');
  const ofOther = await read('/products', variable('ACCOUNTING_API_KEY_OTHER_COMPANY'));
  expect(ofOther.headers.get('x-ratelimit-limit')).toBe('1000000');
  const { otherStore } = createSandbox({ seed: 7, records: 1_400, otherRecords: 500 });
  expect(await ofOther.json()).toEqual(otherStore.products.all().slice(0, 30));
  // Never more than the company has.
  const few = await serve('--port', '0', '--records', '30', '--seed', '7');
  const products = await (
    await few.read('/products', few.variable('ACCOUNTING_API_KEY_OTHER_COMPANY'))
  ).json();
  const { otherStore: small } = createSandbox({ seed: 7, records: 30, otherRecords: 30 });
  expect(products).toEqual(small.products.all());
});

test('sandbox --list-options prints every option with its default, and every fault with its fields', async () => {
  const { code, out } = await run({}, ['sandbox', '--list-options']);
  expect(code).toBe(0);
  for (const line of [
    '  rateLimit.limit: 10000 (a whole number of at least 1)',
    '  filters.updatedSince: "apply" (apply, ignore, reject)',
    '  notFoundBody: none (a string, which is sent as HTML, or an object, which is sent as JSON)',
    '  stall in atByte committed',
    'Match conditions of a fault: method, path, collection, skip, times, forMs, probability',
  ])
    expect(out.split('\n')).toContain(line);
});

test('sandbox --write writes its settings into a file, which a port that is in use leaves as it was', async () => {
  const file = folder();
  const { out, log } = await serve(...ARGS, '--write', file('.env'));
  const read = await run({}, ['get', 'accounts', '1'], { cwd: file('.') });
  expect([out, read.code, JSON.parse(read.out).id]).toEqual([[], 0, '1']);

  const written = readFileSync(file('.env'), 'utf8');
  expect(written).toContain(`\n# Run: npx accounting-data-sdk pull accounts --env ${file('.env')}\n`);
  expect(log[0]).toBe(`Wrote the address and the keys to ${file('.env')}.`);
  const [, port = ''] = /ACCOUNTING_BASE_URL=\S+:(\d+)/.exec(written) ?? [];
  const second = await serve('--port', port, '--write', file('.env'));
  expect(await second.code).toBe(1);
  expect(second.log.join('\n')).toMatch(/another program uses it.*\n.*--port 0/);
  expect(readFileSync(file('.env'), 'utf8')).toBe(written);
});

test('sandbox --write overwrites a file that it wrote, but none with other settings', async () => {
  const file = folder()('.env');
  for (const seed of ['7', '8']) await (await serve('--port', '0', '--seed', seed, '--write', file)).end();
  const written = readFileSync(file, 'utf8');
  expect(written).toContain('from seed 8,');
  writeFileSync(file, `${written}PAYMENT_SECRET=1\n`);
  const rejected = await serve(...ARGS, '--write', file);
  expect(await rejected.code).toBe(7);
  expect(rejected.log.join('\n')).toMatch(/does not overwrite .*\.env.*\n.*--force/);
  expect(readFileSync(file, 'utf8')).toBe(`${written}PAYMENT_SECRET=1\n`);
});

test('sandbox --write --force changes only the address and the key in a file, and keeps its permissions', async () => {
  const file = folder()('.env');
  const [before, after] = ['# ours\r\nPAYMENT_SECRET="$&"\r\nexport ACCOUNTING_BASE_URL', '\r\nLAST=1'];
  writeFileSync(file, `${before} = "https://books.example.com"${after}`);
  chmodSync(file, 0o600);
  const { log } = await serve(...ARGS, '--write', file, '--force');
  expect(log[0]).toBe(`Wrote the address and the key to ${file}.`);
  const url = /http:\S+\d/.exec(log[1] ?? '')?.[0];
  const key = createSandbox({ seed: 7, records: 200 }).keys.full;
  expect(readFileSync(file, 'utf8')).toBe(`${before}=${url}${after}\nACCOUNTING_API_KEY=${key}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
