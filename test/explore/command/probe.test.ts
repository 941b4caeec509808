import { readFileSync } from 'node:fs';
import type { ProbeReport } from 'accounting-data-sdk/explore';
import { expect, test } from 'vitest';
import { folder, openSandbox, run } from './support/run.ts';

test('probe logs how many requests it will send, then prints what fits the service', async () => {
  const { sandbox, env } = openSandbox({ records: 300, afterLastPage: 'not_found' });
  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { collection: 'boms' });
  const { code, out, log } = await run(env, ['probe']);
  expect([code, log]).toEqual([0, expect.stringMatching(/^At most \d+ requests, to read only\./)]);
  expect(out).toMatch(/^option +value +why\nclient\.afterLastPage +"not_found" /);
  expect(out).toContain('\n\nNot readable: boms (forbidden).\n');
  expect(out).toMatch(/\n\d+ findings: pass --verbose to see them, or --json\.\n$/);
  expect(out).not.toContain('idForm');
});

test('probe --verbose prints a finding for every question, as wide as the terminal, below what fits', async () => {
  const options = { pageSize: 20, order: 'id-desc', afterLastPage: 'not_found' } as const;
  const { sandbox, env } = openSandbox({ records: { accounts: 90, products: 90 }, ...options });
  const probe = (...more: string[]) => ['probe', 'accounts', 'products', '--verbose', ...more];
  const { code, out } = await run(env, probe());
  expect(code).toBe(0);
  const narrow = await run(env, probe('--quiet'), { columns: 80 });
  const table = narrow.out.slice(narrow.out.indexOf('finding '));
  expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(out.indexOf('client.afterLastPage')).toBeLessThan(out.indexOf('idForm'));
  for (const row of [
    /^idForm +numeric +all collections$/m,
    /^afterLastPage +not_found +all collections$/m,
    /^id\.gt +honoured +all collections$/m,
    /^timestamps +seconds +products$/m,
    /^ +unknown +accounts: no record carries/m,
    /^writes +unknown +createStatus, .*: only writing shows it$/m,
  ])
    expect(out).toMatch(row);
  expect(sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
});

test('probe --json prints everything, and probe says so if a service needs no option', async () => {
  const { sandbox, env } = openSandbox({ records: { accounts: 40 }, ids: { form: 'ulid' } });
  const { out, log } = await run(env, ['probe', 'accounts', '--json']);
  const { requests, collections } = JSON.parse(out) as ProbeReport;
  expect([requests, log]).toEqual([sandbox.count(), expect.stringContaining('At most')]);
  expect(collections).toMatchObject([{ collection: 'accounts', details: { idForm: { value: 'ulid' } } }]);
  const plain = await run(openSandbox({ records: 100 }).env, ['probe', 'accounts']);
  expect(plain.out).toMatch(/^The defaults of createClient and sync fit this service\.\n/);
});

test('probe shows how far it is on a terminal, and takes the line away again', async () => {
  const { env } = openSandbox({ records: { accounts: 40, boms: 40 } });
  const shown: (string | undefined)[] = [];
  const status = (text: string | undefined) => void shown.push(text);
  // No line of the result is printed beside it.
  const out = () => shown.at(-1) === undefined || shown.push('drawn into the report');
  await run(env, ['probe', 'accounts', 'boms'], { status, out });
  expect(shown).not.toContain('drawn into the report');
  const line = /^\[={5} {5}\] \d+ of at most \d+ requests: boms \(1 of 2 done\)$/;
  expect(shown).toContainEqual(expect.stringMatching(line));
  expect(shown.at(-1)).toBeUndefined();
});

test.each(['probe', 'discover'])('%s creates the folder of --out', async (command) => {
  const { env } = openSandbox({ records: { accounts: 5 } });
  const out = folder()('a/b/c.mts');
  expect((await run(env, [command, 'accounts', '--out', out])).code).toBe(0);
  expect(readFileSync(out, 'utf8')).toContain('export const');
});

const WRITE = ['probe', 'products', '--write'];
const terminal = (agrees: boolean, questions: string[] = []) => ({
  prompt: {
    secret: async () => '',
    confirm: async (question: string) => {
      questions.push(question);
      return agrees;
    },
  },
});

test('probe --write prompts for confirmation, and writes nothing without a yes', async () => {
  const { sandbox, env } = openSandbox();
  const questions: string[] = [];
  const declined = await run(env, WRITE, terminal(false, questions));
  const mute = await run(env, WRITE);
  expect([declined.code, mute.code, mute.log]).toEqual([2, 2, expect.stringContaining('--yes')]);
  expect(questions).toEqual([expect.stringContaining(`one product at ${sandbox.baseUrl}`)]);
  expect(sandbox.count()).toBe(0);
});

test('probe --write creates a product, shows how the service responds to writes, and names what it left', async () => {
  const options = { createStatus: 200, requiredFields: ['ean'] } as const;
  const { sandbox, env } = openSandbox({ records: { products: 4 }, ...options });
  const args = [...WRITE, '--verbose', '--draft', '{"ean":"8712345678906"}'];
  const { code, out } = await run(env, args, terminal(true));
  expect([code, sandbox.store.products.count]).toEqual([0, 4]);
  expect(out).toMatch(/^writes\.createStatus +200 /m);

  sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method: 'DELETE', times: 9 });
  const left = await run(env, [...args, '--yes']);
  const said = `could not be deleted: ${sandbox.store.products.ids().at(-1)}`;
  expect([left.code, left.log]).toEqual([5, expect.stringContaining(said)]);
});
