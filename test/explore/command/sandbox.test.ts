import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { createClient } from 'accounting-data-sdk';
import { createSandbox, sandboxFaults, sandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { folder, main, run } from './support/run.ts';

/** A run of the command, with what it says. */
function start(...args: string[]) {
  const out: string[] = [];
  const log: string[] = [];
  const stop = new AbortController();
  let listening = () => {};
  const ready = new Promise<void>((resolve) => {
    listening = resolve;
  });
  const code = main(args, {
    out: (line) => out.push(line),
    log: (line) => {
      log.push(line);
      if (line.startsWith('Listening')) listening();
    },
    env: {},
    colors: false,
    signal: stop.signal,
  });
  const variable = (name: string) => {
    const line = out.find((text) => text.startsWith(`${name}=`));
    return line?.slice(name.length + 1) ?? '';
  };
  const end = () => {
    stop.abort();
    return code;
  };
  return { out, log, code, ready: Promise.race([ready, code]), variable, end };
}

const sandboxArgs = ['sandbox', '--port', '0', '--records', '200', '--seed', '7'];

describe('sandbox', () => {
  test('prints lines for a .env file, serves, logs and stops', async () => {
    const run = start(...sandboxArgs, '--options', '{"rateLimit":{"limit":2},"listBody":"member"}');
    await run.ready;
    const read = (path: string, key: string) =>
      fetch(`${run.variable('ACCOUNTING_BASE_URL')}/api/public/v1${path}`, {
        headers: { 'X-AUTH-TOKEN': key },
      });

    const response = await read('/products?id[gt]=5', run.variable('ACCOUNTING_API_KEY'));
    expect([response.status, response.headers.get('x-ratelimit-limit')]).toEqual([200, '2']);
    expect(await response.json()).toMatchObject({
      member: createSandbox({ seed: 7, records: 200 }).store.products.all().slice(5),
    });
    expect(run.out[0]).toContain('200 records from seed 7, 2 requests in 60 s for each key');
    expect((await read('/accounts', run.variable('ACCOUNTING_API_KEY_FORBIDDEN'))).status).toBe(403);
    expect((await read('/accounts/x%0Ay', 'unknown')).status).toBe(401);

    expect(await run.end()).toBe(0);
    expect(run.log.map((line) => line.replace(/^\d\d:\d\d:\d\d /, ''))).toEqual([
      expect.stringContaining('Listening'),
      expect.stringMatching(/^GET +200 \/products\?id\[gt\]=5 \d+ records · full$/),
      expect.stringMatching(/^GET +403 \/accounts forbidden/),
      expect.stringMatching(/^GET +401 \/accounts\/x%0Ay unauthenticated/),
      expect.stringContaining('3 requests'),
    ]);
    await expect(read('/accounts', 'unknown')).rejects.toThrow('fetch failed');
  });

  test('names a key for each company and permission set, other ones without --seed', async () => {
    const run = start(...sandboxArgs, '--quiet');
    await run.ready;
    const names = run.out
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.split('=')[0]);
    expect(names).toEqual([
      'ACCOUNTING_BASE_URL',
      'ACCOUNTING_API_KEY',
      'ACCOUNTING_API_KEY_READ_ONLY',
      'ACCOUNTING_API_KEY_PRODUCTS_ONLY',
      'ACCOUNTING_API_KEY_FORBIDDEN',
      'ACCOUNTING_API_KEY_REVOKED',
      'ACCOUNTING_API_KEY_OTHER_COMPANY',
    ]);
    expect(run.out).toContain('# or load it: set -a; . ./.env; set +a');
    // Without --seed, the keys are others each time.
    const other = start('sandbox', '--port', '0');
    await other.ready;
    expect(other.variable('ACCOUNTING_API_KEY')).not.toBe(run.variable('ACCOUNTING_API_KEY'));
    await Promise.all([run.end(), other.end()]);
    expect(run.log).toEqual([expect.stringContaining('Listening'), expect.stringContaining('0 requests')]);
  });

  test.each([
    ['--host 127.0.0.1', 421, undefined],
    ['--host 127.0.0.1 --allow-host other.example --allow-host Shop.example', 401, undefined],
    ['--host 0.0.0.0 --cors', 401, '*'],
  ])(
    'with %s responds to a request for shop.example with %d, for pages of %s',
    async (flags, status, pages) => {
      const run = start(...sandboxArgs, ...flags.split(' '));
      await run.ready;
      const port = new URL(run.variable('ACCOUNTING_BASE_URL')).port;
      const received = await new Promise<IncomingMessage>((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/', headers: { Host: 'shop.example' } };
        get(options, (response) => resolve(response.resume())).once('error', reject);
      });
      expect([received.statusCode, received.headers['access-control-allow-origin']]).toEqual([status, pages]);
      await run.end();
    },
  );

  test('adds the faults of --fault with their conditions', async () => {
    const twice = '{"kind":"status","status":503,"collection":"boms","times":2}';
    const run = start(...sandboxArgs, '--fault', twice);
    await run.ready;
    const base = `${run.variable('ACCOUNTING_BASE_URL')}/api/public/v1`;
    const headers = { 'X-AUTH-TOKEN': run.variable('ACCOUNTING_API_KEY') };
    const seen = [];
    for (const path of ['accounts', 'boms', 'boms', 'boms'])
      seen.push((await fetch(`${base}/${path}`, { headers })).status);
    expect(seen).toEqual([200, 503, 503, 200]);
    await run.end();
    expect(run.log.filter((line) => line.endsWith('fault status · full'))).toHaveLength(2);
  });

  test.each([
    ['--options', '{"listbody":"member"}', 2, 'Did you mean listBody?'],
    ['--options', 'listBody=member', 2, 'Give a JSON object'],
    ['--options', '{"clock":"someday"}', 2, 'someday is not a timestamp'],
    ['--fault', '{"kind":"timeout"}', 2, '"timeout"'],
    ['--fault', '{"kind":"disconnect","colection":"boms"}', 2, 'Did you mean collection?'],
    ['--fixtures', '/no/such', 7, 'no file of a collection'],
    ['--service', '{"client":{},"sync":{},"sandbox":{"pageSizes":30}}', 7, 'cannot be created: pageSizes'],
  ])('rejects %s %s', async (flag, value, code, message) => {
    const file = folder()('service.json');
    writeFileSync(file, value);
    const run = start(...sandboxArgs, flag, flag === '--service' ? file : value);
    expect(await run.code).toBe(code);
    expect(run.log.join('\n')).toContain(message);
    expect(run.log.join('\n').split('\n')).toHaveLength(2);
  });

  test('lists every option and fault', async () => {
    const help = start('sandbox', '--list-options');
    expect(await help.code).toBe(0);
    const text = help.out.join('\n');
    for (const [name, option] of Object.entries(sandboxOptions)) {
      expect(text).toMatch('options' in option ? `  ${name}.` : `  ${name}: `);
    }
    for (const kind of Object.keys(sandboxFaults)) expect(text).toContain(`  ${kind}`);
    expect(text).toMatch(/conditions of a fault: .*\bskip\b.*\bprobability/);
  });

  test('accepts every example of its help', async () => {
    const help = start('sandbox', '--help');
    expect(await help.code).toBe(0);
    const examples = help.out
      .join('\n')
      .split('\n')
      .filter((line) => line.startsWith('  $ '));
    expect(examples.length).toBeGreaterThan(3);
    for (const example of examples) {
      const [, , ...args] = example.slice(4).match(/'[^']*'|\S+/g) ?? [];
      const bare = args.map((arg) => arg.replace(/^'(.*)'$/, '$1').replace(/^4010$/, '0'));
      const run = start('sandbox', ...(bare.includes('--port') ? bare : ['--port', '0', ...bare]));
      await run.ready;
      const listens = expect.stringMatching(/^Listening on http:\/\/\S+:\d+\. Stop with Ctrl-C\.$/);
      expect([example, run.log]).toEqual([example, [listens]]);
      expect(await run.end()).toBe(0);
    }
  });

  test('serves the records of a folder', async () => {
    const file = folder();
    writeFileSync(file('boms.ndjson'), '{"id":"70","name":"Desk"}\n');
    const command = start('sandbox', '--port', '0', '--fixtures', file('.'));
    await command.ready;
    const [baseUrl, apiKey] = ['ACCOUNTING_BASE_URL', 'ACCOUNTING_API_KEY'].map(command.variable);
    expect(await createClient({ baseUrl, apiKey }).boms.get('70')).toMatchObject({ name: 'Desk' });
    await command.end();
  });

  test('writes its settings into a file with --write; reports a port that is in use, and keeps an earlier file', async () => {
    const file = folder();
    const sandbox = start(...sandboxArgs, '--write', file('.env'));
    await sandbox.ready;
    expect(sandbox.out).toEqual([]);
    const read = await run({}, ['get', 'accounts', '1'], { cwd: file('.') });
    expect([read.code, JSON.parse(read.out).id]).toEqual([0, '1']);

    const written = readFileSync(file('.env'), 'utf8');
    expect(written).toContain(`\n# Run: npx accounting-data-sdk pull accounts --env ${file('.env')}\n`);
    expect(written).toContain(`node --env-file=${file('.env')} connector.js`);
    expect(written).toContain(`\n# or load it: set -a; . ${file('.env')}; set +a\n`);
    const [, url, port = ''] = /ACCOUNTING_BASE_URL=(\S+:(\d+))/.exec(written) ?? [];
    expect(sandbox.log.slice(0, 2)).toEqual([
      `Wrote the address and the keys to ${file('.env')}.`,
      `Listening on ${url}. Stop with Ctrl-C.`,
    ]);
    const second = start('sandbox', '--port', port, '--write', file('.env'));
    expect(await second.code).toBe(1);
    expect(second.log.join('\n')).toMatch(/another program uses it.*\n.*--port 0/);
    expect(readFileSync(file('.env'), 'utf8')).toBe(written);
    await sandbox.end();
  });

  test('overwrites with --write a file that it wrote, but none with other settings', async () => {
    const file = folder()('.env');
    for (const seed of ['7', '8']) {
      const run = start('sandbox', '--port', '0', '--seed', seed, '--write', file);
      await run.ready;
      await run.end();
    }
    const written = readFileSync(file, 'utf8');
    expect(written).toContain('from seed 8,');
    for (const text of ['ACCOUNTING_API_KEY=of-a-real-service\n', `${written}PAYMENT_SECRET=1\n`]) {
      writeFileSync(file, text);
      const rejected = start(...sandboxArgs, '--write', file);
      expect(await rejected.code).toBe(7);
      expect(rejected.log.join('\n')).toMatch(/does not overwrite .*\.env.*\n.*--force/);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  test('changes with --write and --force only the address and the key in a file, and keeps its permissions', async () => {
    const file = folder()('.env');
    writeFileSync(
      file,
      '# ours\r\nPAYMENT_SECRET="$&"\r\nexport ACCOUNTING_BASE_URL = "https://books.example.com"\r\nLAST=1',
    );
    chmodSync(file, 0o600);
    const run = start(...sandboxArgs, '--write', file, '--force');
    await run.ready;
    const text = readFileSync(file, 'utf8');
    await run.end();
    expect(run.log[0]).toBe(`Wrote the address and the key to ${file}.`);
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(text) ?? [];
    const key = createSandbox({ seed: 7, records: 200 }).keys.full;
    expect(text).toBe(
      `# ours\r\nPAYMENT_SECRET="$&"\r\nexport ACCOUNTING_BASE_URL=http://127.0.0.1:${port}\r\nLAST=1\nACCOUNTING_API_KEY=${key}\n`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
