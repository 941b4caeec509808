import { createClient } from 'accounting-data-sdk';
import { type ProbeReport, probe } from 'accounting-data-sdk/explore';
import { createSandbox, type SandboxOptions, sandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { detailsOf, productSandbox } from './support/products.ts';

/** Services that differ in the options that a probe can name. Together they have every value of each. */
const services: readonly SandboxOptions[] = [
  {},
  { pageSize: 3, order: 'none', idColumn: 'int4', createStatus: 200, updateStatus: 201 },
  { pageSize: 100, order: 'id-desc', ids: { form: 'uuid' }, deleteStatus: 200 },
  { pageSize: 20, order: 'created-asc', ids: { form: 'ulid' }, updateStatus: 204, moneyDigits: 2 },
  { order: 'created-desc', timestamps: 'offset', timeZone: '+12:45', dateFilter: 'local' },
  { order: 'updated-asc', timestamps: 'milliseconds', betweenSeparator: ',', rateLimitHeaders: false },
  { order: 'updated-desc', listBody: 'member', betweenSeparator: ';', invalidFilter: 'reject' },
  { ids: { form: 'uuid' }, textIdBounds: 'ignore', unknownFields: 'reject' },
  { ids: { form: 'uuid' }, order: 'none', betweenSeparator: '|', rateLimit: { limit: 500 } },
  { betweenSeparator: '-', moneyDigits: 'as-sent' },
  { betweenSeparator: ':', afterLastPage: 'not_found', listBody: 'hydra:member' },
  { timestampsEverywhere: true },
  { formats: 'jsonld', listBody: 'member', pageParameter: 'page', relations: 'iri', nullFields: 'omitted' },
  { notFoundBody: 'Not Found', idempotency: { replay: 'ignored' } },
  { notFoundBody: { message: 'Not Found' } },
  { notFoundBody: '', timestamps: 'offset' },
  { idempotency: { replay: 'conflict' } },
  { idempotency: { differentBody: 'stored' } },
  { contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] } },
];

/** Options by their paths, such as `ids.form`. */
function byPath(options: object, path = ''): Record<string, unknown> {
  const entries = Object.entries(options).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(byPath(value, `${path}${name}.`))
      : [[`${path}${name}`, value]],
  );
  return Object.fromEntries(entries);
}

/** The default of an option by its path. */
function defaultOf(path: string): unknown {
  const inside = (entry: object, name: string): object => Reflect.get(Reflect.get(entry, 'options'), name);
  const entry = path.split('.').reduce(inside, { options: sandboxOptions });
  return Reflect.get(entry, 'default');
}

const COLLECTIONS = ['products', 'accounts', 'accountAddresses'] as const;

/** What a probe that also writes says of a service with these options. */
async function reportOf(options: SandboxOptions): Promise<ProbeReport> {
  const records = { accounts: 90, accountAddresses: 40 };
  const { sandbox, client } = productSandbox({ records, ...options });
  const report = await probe(client, { collections: COLLECTIONS, write: true });
  expect(sandbox.store.products.count).toBe(211);
  return report;
}

describe('a probe names the options of a service without knowing them', () => {
  test.each(services)('%j', async (options) => {
    const { sandbox: seen, collections } = await reportOf(options);
    expect(Object.keys(byPath(seen))).toEqual(expect.arrayContaining(Object.keys(byPath(options))));
    const set = byPath(options);
    for (const [path, value] of Object.entries(byPath(seen)))
      expect([path, value]).toEqual([path, path in set ? set[path] : defaultOf(path)]);
    if (options.textIdBounds === 'ignore') return;
    const { id, updatedSince } = detailsOf(collections, 'products');
    for (const finding of [id.gt, id.gte, id.lt, id.lte, updatedSince.verdict]) {
      expect(finding.value).toBe('honoured');
    }
    expect(id.together.value).toBe(true);
  });
});

test('a probe proposes no order of times for a list whose timestamps show another', async () => {
  const sandbox = createSandbox({ timestampsEverywhere: true, order: { accounts: 'created-asc' } });
  for (const name of ['accounts', 'products'] as const)
    for (const day of [3, 1, 2, 6, 4, 5])
      sandbox.store[name].insert({
        createdAt: `2024-01-0${day}T00:00:00Z`,
        updatedAt: '2024-02-01T00:00:00Z',
      });
  const report = await probe(createClient(sandbox.clientOptions), { collections: ['accounts', 'products'] });
  expect(byPath(report.sandbox)).toMatchObject({ 'order.accounts': 'created-asc' });
  expect(byPath(report.sandbox).order).toBeUndefined();
});

test('a probe looks for changes of the future by the clock of the service', async () => {
  const { sandbox, client } = productSandbox({ clockOffsetMs: 5 * 24 * 3_600_000 });
  sandbox.store.products.insert({ name: 'Written just now' });
  const { collections } = await probe(client, { collections: ['products'] });
  expect(detailsOf(collections, 'products').updatedSince.verdict.value).toBe('honoured');
});

test('a probe that only reads reports what only writing shows as unknown', async () => {
  const { client } = productSandbox({ createStatus: 200, moneyDigits: 2, requiredFields: ['name'] });
  const { leftBehind, ...findings } = (await probe(client, { collections: ['products'] })).writes;
  expect(leftBehind).toEqual([]);
  for (const finding of Object.values(findings)) expect(finding.known).toBe(false);
});

test.each<[what: string, gap: number, edited: boolean, expected: 'id' | undefined, others?: SandboxOptions]>([
  ['sparse ids, and a record that was edited', 7, true, 'id'],
  ['dense ids', 1, true, undefined],
  ['records in order of updatedAt, too', 7, false, undefined],
  ['another list in another order', 7, true, undefined, { order: { boms: 'id-desc' } }],
  ['another list that is read by page', 7, true, undefined, { filters: { boms: { id: 'ignore' } } }],
])("a probe suggests listOrder: 'id' for sparse ids that ascend: %s", async (...row) => {
  const [, gap, edited, expected, others] = row;
  const records = { boms: 40 };
  const sandbox = createSandbox({ ids: { gap }, clock: '2026-01-01', pageSize: 10, records, ...others });
  for (let n = 0; n < 40; n++) {
    sandbox.clock.advance(60_000);
    sandbox.store.products.insert({ name: 'Desk' });
  }
  if (edited) sandbox.store.products.update(sandbox.store.products.ids()[0] ?? '', { name: 'Edited' });
  const client = createClient(sandbox.clientOptions);
  const report = await probe(client, { collections: ['products', 'boms'] });
  expect(report.client.listOrder).toBe(expected);
});
