import { type CollectionName, collectionNames, createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { type Discovery, discover, type FieldShape } from 'accounting-data-sdk/tools';
import { beforeAll, describe, expect, test } from 'vitest';
import { SeededRandom } from '../support/seeded-random.ts';
import { compilerErrors, formatted, loadSchemas } from './support/schema-file.ts';

const MONEY = [
  'accounts.creditLimit',
  'accountCustomerProjectRates.hourlyRate',
  'bankFeedAccounts.balance',
  'bomLines.unitCost',
  'budgetLines.amount',
  'products.salePrice',
  'products.saleRrpPrice',
];

const REFERENCES = {
  'accountAddresses.accountId': 'accounts',
  'accountContactRelations.accountId': 'accounts',
  'accountContactShoppingStores.accountContactRelationId': 'accountContactRelations',
  'accountCustomerProjectRates.accountId': 'accounts',
  'accountSettings.accountId': 'accounts',
  'bankFeedAccounts.bankFeedConnectionId': 'bankFeedConnections',
  'bankPayerMemories.accountId': 'accounts',
  'boms.productId': 'products',
  'bomLines.bomId': 'boms',
  'bomLines.productId': 'products',
  'budgetLines.budgetId': 'budgets',
};

const discoverGenerated = (options: Parameters<typeof createSandbox>[0]) =>
  discover(createClient(createSandbox({ records: 30_000, seed: 11, ...options }).clientOptions));

const fieldsOf = ({ collections }: Discovery, fits: (field: FieldShape) => boolean) =>
  collections.flatMap(({ collection, fields }) =>
    Object.entries(fields).flatMap(([name, field]) => (fits(field) ? [`${collection}.${name}`] : [])),
  );

const referencesOf = ({ collections }: Discovery) =>
  Object.fromEntries(
    collections.flatMap(({ collection, references }) =>
      Object.entries(references).flatMap(([path, { checked, found, collection: to }]) =>
        checked > 0 && found === checked ? [[`${collection}.${path}`, to]] : [],
      ),
    ),
  );

let discovery: Discovery;
beforeAll(async () => {
  discovery = await discoverGenerated({});
});

describe('schemas of generated data', () => {
  test('mark every amount, and nothing else, as an amount', () => {
    expect(fieldsOf(discovery, ({ kinds }) => kinds.includes('money'))).toEqual(MONEY);
  });

  test('mark every reference, and nothing else, as a reference', async () => {
    expect(referencesOf(discovery)).toEqual(REFERENCES);
    expect(referencesOf(await discoverGenerated({ ids: { form: 'uuid' }, order: 'none' }))).toEqual(
      REFERENCES,
    );
  });

  test('know dates and timestamps', () => {
    expect(fieldsOf(discovery, ({ kinds }) => kinds.includes('date'))).toEqual([
      'accountCustomerProjectRates.validFrom',
      'accountCustomerProjectRates.validTo',
      'bankFeedConnections.consentValidTo',
      'budgets.startsOn',
      'budgets.endsOn',
      'products.validFrom',
      'products.validTo',
    ]);
    expect(fieldsOf(discovery, ({ kinds }) => kinds.includes('timestamp'))).toEqual([
      'products.createdAt',
      'products.updatedAt',
    ]);
  });

  test('rest on some 20 requests for each collection', () => {
    expect(discovery.requests).toBeLessThanOrEqual(21 * 14);
    for (const { records, collection } of discovery.collections) {
      expect([collection, records >= 500 || records >= 200]).toEqual([collection, true]);
    }
  });

  test('are TypeScript as the formatter would write it', async () => {
    expect(await formatted(discovery.source)).toBe(discovery.source);
  });

  test('type the client, under a strict compiler', () => {
    const use = `
import { createClient, type Product as ClientProduct } from 'accounting-data-sdk';
export async function use() {
  const client = createClient({ schemas });
  const account = await client.accounts.get('1');
  account.creditLimit satisfies string | null | undefined;
  account.paymentTermDays satisfies number | null | undefined;
  account.somethingNew satisfies unknown;
  const product = await client.products.get('1');
  product satisfies ClientProduct;
  product.tags satisfies (string | null)[] | null | undefined;
  // @ts-expect-error: an amount is not a number
  account.creditLimit satisfies number | undefined;
  // @ts-expect-error: not every record has a name
  account.name satisfies string;
  for await (const line of client.bomLines.list()) line.bomId satisfies string | null | undefined;
}`;
    expect(compilerErrors(discovery.source + use)).toEqual([]);
  });
});

/** A value of a wider type of the same JSON kind, as a service may come to send one day. */
function widened(value: unknown, field: FieldShape | undefined): unknown {
  if (Array.isArray(value)) return [...value, null, 'a value never seen'];
  if (typeof value === 'number') return value + 0.125;
  if (typeof value !== 'string') return value;
  if (field?.kinds.includes('money')) return `-${value.replace('-', '')}7001`;
  if (field?.kinds.includes('date')) return `${value}T12:30:00.123456+02:00`;
  return `${value} • ${'é'.repeat(300)}`;
}

describe('20,000 records that were not sampled', () => {
  test('are all accepted, with a null, a gap and a wider value among 5,000 each', async () => {
    const schemas = await loadSchemas(discovery.source);
    const random = new SeededRandom(4711);
    const { store } = createSandbox({ records: 20_000, seed: 99 });
    const changed = { null: 0, missing: 0, widened: 0 };
    const rejected: unknown[] = [];
    let records = 0;
    for (const collection of collectionNames) {
      const known = discovery.collections.find((one) => one.collection === collection)?.fields ?? {};
      for (const record of store[collection].all()) {
        const sent: Record<string, unknown> = { ...record };
        for (const [name, value] of Object.entries(record)) {
          const kind = (['null', 'missing', 'widened'] as const)[random.int(0, 4999)];
          if (name === 'id' || kind === undefined) continue;
          changed[kind] += 1;
          if (kind === 'missing') delete sent[name];
          else sent[name] = kind === 'null' ? null : widened(value, known[name]);
        }
        const result = schemas[collection as CollectionName]?.safeParse(sent);
        records += 1;
        if (result?.success !== true) rejected.push([collection, result?.error?.issues]);
      }
    }
    expect(records).toBe(20_000);
    expect(rejected).toEqual([]);
    for (const count of Object.values(changed)) expect(count).toBeGreaterThan(20);
  });

  test('keep every field, known or not', async () => {
    const schemas = await loadSchemas(discovery.source);
    const [record] = createSandbox({ records: 500, seed: 5 }).store.products.all();
    const sent = { ...record, brandNew: { deep: [1, 'two'] } };
    expect(schemas.products?.parse(sent)).toEqual(sent);
  });
});
