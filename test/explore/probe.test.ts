import { createClient } from 'accounting-data-sdk';
import { discover, type ProbePlan, probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { MONEY_FIELDS } from '../support/generated-fields.ts';
import { MONEY_AS_NUMBERS } from '../support/money-as-numbers.ts';
import { clientBehind, productSandbox } from './support/products.ts';

describe('a probe', () => {
  test.each([
    ['works', () => false],
    ['is rejected', (name: string) => name !== '_page'],
  ])(
    'says beforehand how many requests there will be, and sends no more if everything %s',
    async (_, fails) => {
      const { sandbox } = productSandbox({ pageSize: 5 });
      const client = clientBehind(sandbox, (url) =>
        [...url.searchParams.keys()].some(fails)
          ? Response.json({ type: 'malformed_request' }, { status: 400 })
          : url,
      );
      const plans: (readonly [ProbePlan, sent: number])[] = [];
      const { requests } = await probe(client, {
        onPlan: (plan) => void plans.push([plan, sandbox.count()]),
      });
      expect(plans).toEqual([[expect.anything(), 0]]);
      expect(requests).toBeLessThanOrEqual(plans[0]?.[0].atMost ?? 0);
      expect(requests).toBeGreaterThan(20);
      expect(sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
    },
  );

  test('rejects if every collection would fail in the same way', async () => {
    await using sandbox = createSandbox();
    const revoked = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.revoked });
    await expect(probe(revoked)).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(sandbox.count()).toBe(1);

    const page = clientBehind(sandbox, () => Response.redirect('https://elsewhere.invalid/'));
    await expect(probe(page)).rejects.toMatchObject({ code: 'redirected' });
  });

  test('reports a collection whose response is something else', async () => {
    await using sandbox = createSandbox({ records: 100 });
    sandbox.faults.add({ kind: 'status', status: 200, body: '<h1>Oops</h1>' }, { collection: 'accounts' });
    sandbox.faults.add({ kind: 'rewrite', body: '{"rows":[]}' }, { collection: 'boms' });
    const { collections } = await probe(createClient(sandbox.clientOptions), {
      collections: ['accounts', 'boms', 'products'],
    });
    const unusable = 'unexpected_response';
    expect(collections.map(({ access }) => access)).toEqual([unusable, unusable, 'readable']);
  });

  test('and discover reject collections that do not exist, an empty list, and no sample', async () => {
    const { sandbox, client } = productSandbox();
    for (const running of [
      probe(client, { collections: ['unknown' as 'accounts'] }),
      probe(client, { collections: [] }),
      discover(client, { collections: [] }),
      discover(client, { sample: 0 }),
    ])
      await expect(running).rejects.toMatchObject({ code: 'invalid_input' });
    expect(sandbox.count()).toBe(0);
  });
});

describe('what responses carry', () => {
  test('names fields that look like amounts and came as numbers, and no other', async () => {
    await using sandbox = createSandbox({ records: 500 });
    const found = async () => {
      const { collections, client } = await probe(createClient(sandbox.clientOptions));
      const fields = collections.flatMap(({ collection, details }) =>
        (details?.moneyAsNumbers.value ?? ['unknown']).map((field) => `${collection}.${field}`),
      );
      return [fields, client.validation];
    };
    expect(await found()).toEqual([[], undefined]);
    sandbox.faults.add(MONEY_AS_NUMBERS);
    expect(await found()).toEqual([MONEY_FIELDS, 'report']);
  });

  test('reports the form of ids of one kind only, and of numbers', async () => {
    const { sandbox, client } = productSandbox();
    sandbox.store.accounts.insert({ id: 'ACC-1', name: 'By hand' });
    sandbox.faults.add(
      { kind: 'rewrite', body: (text) => text.replaceAll(/"id":"(\d+)"/g, '"id":$1') },
      { collection: 'products' },
    );
    const { collections } = await probe(client, { collections: ['products'] });
    expect(collections[0]?.details).toMatchObject({
      idForm: { value: 'numeric', evidence: 'ids came as JSON numbers' },
      idType: { value: 'numbers' },
    });
  });
});

test.each([
  ['"id":null', 'id is null'],
  ['"Id":"3"', 'id is missing, but there is "Id"'],
])('a probe names ids that cannot be read: %s', async (sent, why) => {
  const sandbox = createSandbox({ records: { accounts: 20 } });
  sandbox.faults.add({ kind: 'rewrite', body: (text) => text.replaceAll('"id":"3"', sent) });
  const report = await probe(createClient(sandbox.clientOptions), { collections: ['accounts'] });
  const evidence = expect.stringContaining(why);
  expect(report.collections[0]?.details?.idType).toMatchObject({ value: 'unreadable', evidence });
  expect(report.client).not.toHaveProperty('ids');
  expect(report.advice.join()).toContain('The id of some records of accounts cannot be read');
});
