import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { checks } from './checks/all.ts';
import { report } from './report.ts';

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const lines: string[] = [];
  const code = await report(args, env, (line) => lines.push(line));
  return { code, text: lines.join('\n'), last: lines.at(-1) };
}

async function listening(): Promise<{ sandbox: Sandbox; args: string[]; env: Record<string, string> }> {
  const sandbox = createSandbox({ records: 600 });
  const { url } = await sandbox.listen();
  return { sandbox, args: ['--base-url', url, '--api-key-env', 'KEY'], env: { KEY: sandbox.keys.full } };
}

test('checks a sandbox if no base URL is given', async () => {
  const { code, text, last } = await run([]);
  expect(last).toBe(`\n${checks.length} passed, 0 failed, 0 not checked.`);
  expect(code).toBe(0);
  for (const { section } of checks) expect(text).toContain(`\n${section}\n`);
});

test('only reads from a service unless --write is given', async () => {
  const { sandbox, args, env } = await listening();
  const { code, text } = await run(args, env);
  expect([code, sandbox.journal]).toEqual([0, []]);
  expect(new Set(sandbox.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(text).toContain('not run, it needs: write');
  await sandbox.close();
});

test('deletes what it creates', async () => {
  const { sandbox, args, env } = await listening();
  const before = sandbox.store.products.ids();
  const { code } = await run([...args, '--write', '--throwaway'], env);
  expect([code, sandbox.store.products.ids()]).toEqual([0, before]);
  expect(sandbox.journal.filter(({ action }) => action === 'create').length).toBeGreaterThan(20);
  await sandbox.close();
});

test('reports what failed and never a key', async () => {
  const { sandbox, args, env } = await listening();
  sandbox.faults.add({ kind: 'money-as-number' }, { collection: 'products', times: Infinity });
  const { code, text } = await run(args, env);
  expect(code).toBe(1);
  expect(text).toMatch(/✗ money is a decimal string, in lists and in single records\n {6}1: salePrice is \d/);
  expect(text).not.toContain(sandbox.keys.full);
  await sandbox.close();
});

test('a line about a failure has at most 200 characters', async () => {
  const { sandbox, args, env } = await listening();
  const body = (text: string) => text.replaceAll(/"salePrice":"[^"]*"/g, `"salePrice":"${'x'.repeat(5000)}"`);
  sandbox.faults.add({ kind: 'rewrite', body }, { collection: 'products', times: Infinity });
  const { code, text } = await run(args, env);
  expect(code).toBe(1);
  expect(text).toContain('salePrice is xxx');
  for (const line of text.split('\n').filter((one) => one.startsWith('      '))) {
    expect(line.trim().length).toBeLessThanOrEqual(200);
  }
  await sandbox.close();
});

test('a service that cannot be reached, or does not know the key, is called once and no more', async () => {
  const { sandbox, args } = await listening();
  const rejected = await run(args, { KEY: 'unknown' });
  expect([rejected.code, rejected.last]).toEqual([1, `${sandbox.baseUrl} rejects the key with 401.`]);
  expect(sandbox.count()).toBe(1);

  const { baseUrl } = sandbox;
  await sandbox.close();
  const gone = await run(args, { KEY: 'unknown' });
  expect([gone.code, gone.last]).toEqual([
    1,
    expect.stringMatching(`^${baseUrl} cannot be reached: .*ECONNREFUSED`),
  ]);
});

test.each([
  [['--base-url', 'http://127.0.0.1:1'], 'The variable ACCOUNTING_API_KEY contains no key.'],
  [['--base-url', 'nowhere'], 'Invalid URL'],
  [['--wriet'], "Unknown option '--wriet'"],
])('invalid options are reported: %j', async (args, message) => {
  const { code, text } = await run(args);
  expect([code, text.includes(message)]).toEqual([2, true]);
});

test('prints help', async () => {
  const { code, text } = await run(['--help']);
  expect(code).toBe(0);
  expect(text).toContain('--api-key-env NAME');
});
