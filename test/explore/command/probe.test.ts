import { readFileSync } from 'node:fs';
import type { ProbeReport } from 'accounting-data-sdk/explore';
import { describe, expect, test } from 'vitest';
import { folder, openSandbox, run } from './support/run.ts';

const terminal = (agrees: boolean, questions: string[] = []) => ({
  prompt: {
    secret: async () => '',
    confirm: async (question: string) => {
      questions.push(question);
      return agrees;
    },
  },
});

describe('probe', () => {
  test('logs how many requests it will send, then prints what fits the service', async () => {
    const { sandbox, env } = openSandbox({ records: 300, afterLastPage: 'not_found' });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { collection: 'boms' });
    const { code, out, log } = await run(env, ['probe']);
    expect(code).toBe(0);
    expect(log).toMatch(/^At most \d+ requests, to read only\./);
    expect(out).toMatch(/^option +value +why\nclient\.afterLastPage +"not_found" /);
    expect(out).toContain('\n\nNot readable: boms (forbidden).\n');
    expect(out).toMatch(/\n\d+ findings: pass --verbose to see them, or --json\.\n$/);
    expect(out).not.toContain('idForm');
  });

  test('prints with --verbose a finding for every question, as wide as the terminal, below what fits', async () => {
    const options = { pageSize: 20, order: 'id-desc', afterLastPage: 'not_found' } as const;
    const { sandbox, env } = openSandbox({ records: 1500, ...options });
    const { code, out } = await run(env, ['probe', '--verbose']);
    expect(code).toBe(0);
    const narrow = await run(env, ['probe', '--verbose', '--quiet'], { columns: 80 });
    const table = narrow.out.slice(narrow.out.indexOf('finding '));
    expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
    expect(out.indexOf('client.afterLastPage')).toBeLessThan(out.indexOf('idForm'));
    for (const row of [
      /^idForm +numeric +all collections$/m,
      /^order +id-desc +all /m,
      /^pageSize +20 +all/m,
      /^afterLastPage +not_found +all collections$/m,
      /^id\.gt +honoured +all collections$/m,
      /^timestamps +seconds +products$/m,
      /^ +unknown +all but products: no record carries/m,
      /^writes +unknown +createStatus, .*: only writing shows it$/m,
      /^client\.afterLastPage +"not_found" /m,
    ]) {
      expect(out).toMatch(row);
    }
    expect(sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('gives everything as JSON, and says so if a service needs no option', async () => {
    const { sandbox, env } = openSandbox({ records: 300, ids: { form: 'ulid' } });
    const { out, log } = await run(env, ['probe', 'accounts', '--json']);
    const { requests, collections } = JSON.parse(out) as ProbeReport;
    expect(requests).toBe(sandbox.count());
    expect(collections).toMatchObject([{ collection: 'accounts', details: { idForm: { value: 'ulid' } } }]);
    expect(log).toContain('At most');
    const plain = await run(openSandbox({ records: 100 }).env, ['probe', 'accounts']);
    expect(plain.out).toMatch(/^The defaults of createClient and sync fit this service\.\n/);
  });

  test('shows how far it is on a terminal, and takes the line away again', async () => {
    const { env } = openSandbox({ records: 300 });
    const shown: (string | undefined)[] = [];
    const status = (text: string | undefined) => void shown.push(text);
    // No line of the result is printed beside it.
    const out = () => shown.at(-1) === undefined || shown.push('drawn into the report');
    await run(env, ['probe', 'accounts', 'boms'], { status, out });
    expect(shown).not.toContain('drawn into the report');
    expect(shown).toContainEqual(
      expect.stringMatching(/^\[={5} {5}\] \d+ of at most \d+ requests: boms \(1 of 2 done\)$/),
    );
    expect(shown.at(-1)).toBeUndefined();
  });
});

test.each(['probe', 'discover'])('%s creates the folder of --out', async (command) => {
  const { env } = openSandbox({ records: 60 });
  const out = folder()('a/b/c.mts');
  expect((await run(env, [command, 'accounts', '--out', out])).code).toBe(0);
  expect(readFileSync(out, 'utf8')).toContain('export const');
});

describe('probe --write', () => {
  test('prompts for confirmation, and writes nothing without a yes', async () => {
    const { sandbox, env } = openSandbox({ records: 100 });
    const questions: string[] = [];
    const declined = await run(env, ['probe', 'products', '--write'], terminal(false, questions));
    const mute = await run(env, ['probe', 'products', '--write']);
    expect([declined.code, mute.code]).toEqual([2, 2]);
    expect(questions).toEqual([expect.stringContaining(`one product at ${sandbox.baseUrl}`)]);
    expect(mute.log).toContain('--yes');
    expect(sandbox.count()).toBe(0);
  });

  test('creates a product, shows how the service responds to writes, and leaves nothing', async () => {
    const options = { createStatus: 200, requiredFields: ['ean'] } as const;
    const { sandbox, env } = openSandbox({ records: { products: 40 }, ...options });
    const draft = ['--draft', '{"ean":"8712345678906"}'];
    const { code, out } = await run(
      env,
      ['probe', 'products', '--verbose', '--write', ...draft],
      terminal(true),
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^writes\.createStatus +200 /m);
    expect(sandbox.store.products.count).toBe(40);
  });

  test('names what could not be deleted, and fails', async () => {
    const { sandbox, env } = openSandbox({ records: { products: 40 } });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method: 'DELETE', times: 9 });
    const { code, log } = await run(env, ['probe', 'products', '--write', '--yes', '--json']);
    expect(code).toBe(5);
    expect(log).toContain(`could not be deleted: ${sandbox.store.products.ids().at(-1)}`);
  });
});
