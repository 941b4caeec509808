import type { ProbeReport } from 'accounting-data-sdk/explore';
import { describe, expect, test } from 'vitest';
import { openSandbox, run } from './support/run.ts';

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
  test('logs how many requests it will send, then prints a finding for every question', async () => {
    const options = { pageSize: 20, order: 'id-desc', afterLastPage: 'not_found' } as const;
    const { sandbox, env } = openSandbox({ records: 1500, ...options });
    const { code, out, log } = await run(env, ['probe']);
    expect(code).toBe(0);
    expect(log).toMatch(/^At most \d+ requests, to read only\./);
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

  test('wraps its table to the terminal', async () => {
    const { env } = openSandbox({ records: 300 });
    const { out } = await run(env, ['probe', 'accounts', 'boms', 'products', '--quiet'], { columns: 80 });
    const [table = ''] = out.split('\n\nBounds');
    expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test('gives everything as JSON, and says the rest elsewhere', async () => {
    const { sandbox, env } = openSandbox({ records: 300, ids: { form: 'ulid' } });
    const { out, log } = await run(env, ['probe', 'accounts', '--json']);
    const { requests, collections } = JSON.parse(out) as ProbeReport;
    expect(requests).toBe(sandbox.count());
    expect(collections).toMatchObject([{ collection: 'accounts', details: { idForm: { value: 'ulid' } } }]);
    expect(log).toContain('At most');
  });

  test('shows how far it is on a terminal, and takes the line away again', async () => {
    const { env } = openSandbox({ records: 300 });
    const shown: (string | undefined)[] = [];
    await run(env, ['probe', 'accounts', 'boms'], { status: (text) => void shown.push(text) });
    expect(shown).toContainEqual(
      expect.stringMatching(/^\d+ of at most \d+ requests: boms \(1 of 2 done\)$/),
    );
    expect(shown.at(-1)).toBeUndefined();
  });
});

test('probe says so if a service needs no option', async () => {
  const { env } = openSandbox({ records: 100 });
  const { out } = await run(env, ['probe', 'accounts']);
  expect(out).toMatch(/\n\nThe defaults of createClient and sync fit this service\.\n$/);
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
    const { code, out } = await run(env, ['probe', 'products', '--write', ...draft], terminal(true));
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
