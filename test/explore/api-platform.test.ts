import { createClient } from 'accounting-data-sdk';
import { discover, type ProbeReport, probe } from 'accounting-data-sdk/explore';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { afterEach, describe, expect, test } from 'vitest';

let sandbox: Sandbox;
afterEach(() => sandbox.close());

async function connect(options: SandboxOptions) {
  sandbox = createSandbox(options);
  await sandbox.listen();
  return createClient(sandbox.clientOptions);
}

/** Everything that API Platform does and the specification does not say, as far as one service can have it. */
const API_PLATFORM: SandboxOptions = {
  records: 4000,
  order: 'updated-desc',
  hiddenRecords: 0.05,
  idColumn: 'int4',
  timeZone: 'America/New_York',
  dateFilter: 'local',
  nullFields: 'omitted',
  formats: 'jsonld',
  relations: 'iri',
  problemType: 'api-platform',
  notFoundBody: 'html',
  contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] },
  idempotency: { replay: 'ignored' },
};

const productsOf = ({ collections }: ProbeReport) => {
  const details = collections.find(({ collection }) => collection === 'products')?.details;
  if (details === undefined) throw new Error('products were not read');
  return details;
};
const codes = ({ profile }: ProbeReport) =>
  profile
    .filter(({ of }) => of !== 'sandbox')
    .map(({ name, value }) => `${name}: ${JSON.stringify(value)}`.replaceAll('"', "'"));

describe('a probe of a service that is built on API Platform', () => {
  test('names each behaviour, and the option or the advice that follows', async () => {
    const client = await connect(API_PLATFORM);
    let atMost = 0;
    const report = await probe(client, {
      collections: ['accounts', 'accountAddresses', 'products'],
      write: true,
      onPlan: (plan) => {
        atMost = plan.atMost;
      },
    });
    expect(report.requests).toBe(sandbox.count());
    expect(report.requests).toBeLessThanOrEqual(atMost);
    const products = productsOf(report);
    expect(products).toMatchObject({
      order: { value: 'updated-desc' },
      shortPages: { value: true },
      complete: { value: 'likely', evidence: expect.stringContaining('pages come short') },
      listBody: 'member',
      nullFields: { value: 'omitted' },
      updatedSince: { compares: { value: 'local' }, shiftMinutes: { known: true } },
    });
    expect([-300, -240]).toContain(products.updatedSince.shiftMinutes.value);
    expect(report.collections[0]?.details?.id.large).toMatchObject({ value: 'server_error' });
    expect(report.collections[1]?.details?.iriFields.value).toEqual(['accountId']);
    expect(report.problems.bareNotFound.value).toBe(true);
    expect(report.writes).toMatchObject({
      createContentType: { value: 'application/ld+json' },
      updateContentType: { value: 'application/merge-patch+json' },
      replay: { value: 'second_record' },
      nullFields: { value: 'omitted' },
      leftBehind: [],
    });
    expect(codes(report)).toEqual([
      "pagination: 'keyset'",
      "afterLastPage: 'empty'",
      "bareNotFound: 'missing'",
      "contentTypes.create: 'application/ld+json'",
      "contentTypes.update: 'application/merge-patch+json'",
      'retry.creates: false',
      'lookbackMs: 120000',
      expect.stringMatching(/^serviceTimeZone: '-0[45]:00'$/),
    ]);
    const advice = report.advice.join('\n');
    for (const part of ['come short', "complete 'likely'", 'int4', 'replace records', 'idFromIri']) {
      expect(advice).toContain(part);
    }
  });

  test('names ignored bounds on UUIDs, and the separator of between', async () => {
    const ignored = await probe(
      await connect({ records: { products: 100 }, ids: { form: 'uuid' }, textIdBounds: 'ignore' }),
      { collections: ['products'] },
    );
    const { id, between } = productsOf(ignored);
    expect([id.gt.value, id.lt.value, id.gte.value, id.lte.value, between.verdict.value]).toEqual(
      Array(5).fill('ignored'),
    );
    expect(codes(ignored)).toContain("pagination: 'page'");
    expect(ignored.advice).toContainEqual(
      expect.stringContaining('Bounds on the ids of products are ignored'),
    );
    await sandbox.close();

    const other = await probe(await connect({ records: { products: 100 }, betweenSeparator: ',' }), {
      collections: ['products'],
    });
    expect(other.advice.join()).toContain("{ id: { between: '100,200' } }");
  });

  test('names the Accept header as the cause of a 406', async () => {
    const client = await connect({ records: 100 });
    sandbox.faults.add({ kind: 'status', status: 406 }, { times: Number.POSITIVE_INFINITY });
    const { collections, advice } = await probe(client, { collections: ['accounts', 'boms'] });
    expect(collections.map(({ access }) => access)).toEqual(['not_acceptable', 'not_acceptable']);
    expect(advice).toEqual([expect.stringMatching(/406 for accounts, boms: .*Accept header/)]);
  });

  test('finds nothing of this in a service as the specification has it', async () => {
    const client = await connect({ records: 4000, timestampsEverywhere: true });
    const report = await probe(client, { collections: ['accounts', 'products'], write: true });
    const products = productsOf(report);
    expect(products).toMatchObject({
      shortPages: { value: false },
      complete: { value: 'certain' },
      offsets: { value: [] },
      nullFields: { value: 'sent' },
      iriFields: { value: [] },
      updatedSince: { compares: { value: 'utc' }, shiftMinutes: { value: 0 } },
    });
    expect(report.collections[0]?.details?.id.large).toMatchObject({ value: 'honoured' });
    expect(report.problems.bareNotFound.value).toBe(false);
    expect([report.writes.createContentType.value, report.writes.updateContentType.value]).toEqual([
      'application/json',
      'application/json',
    ]);
    expect(report.advice).toEqual([]);
    expect(codes(report).join()).not.toMatch(/contentTypes|creates|bareNotFound|serviceTimeZone/);
  });
});

describe('the times that updatedSince is compared with', () => {
  test.each([
    ['America/New_York', '2026-01-31T15:00:00Z', -300, "serviceTimeZone: '-05:00'"],
    ['America/St_Johns', '2026-01-31T15:00:00Z', -210, "serviceTimeZone: '-03:30'"],
    ['Europe/Amsterdam', '2026-07-31T15:00:00Z', 120, "serviceTimeZone: '+02:00'"],
    ['Pacific/Chatham', '2026-07-31T15:00:00Z', 765, "serviceTimeZone: '+12:45'"],
    ['Pacific/Kiritimati', '2026-07-31T15:00:00Z', 840, "serviceTimeZone: '+14:00'"],
  ])('of %s are found by requests around a timestamp in UTC', async (timeZone, clock, minutes, option) => {
    const client = await connect({ timeZone, clock, dateFilter: 'local' });
    for (let index = 0; index < 5; index += 1) sandbox.store.products.insert({ name: `Product ${index}` });
    const report = await probe(client, { collections: ['products'] });
    expect(productsOf(report).updatedSince).toMatchObject({
      compares: { value: 'local' },
      shiftMinutes: { value: minutes },
    });
    expect(codes(report)).toContain(option);
  });

  test.each([
    ['America/New_York', 'local', '-05:00'],
    ['America/New_York', 'utc', '-05:00'],
    ['Asia/Kolkata', 'local', '+05:30'],
    ['Asia/Kolkata', 'utc', '+05:30'],
  ] as const)('of %s follow from the offset that records show: %s', async (timeZone, dateFilter, offset) => {
    const client = await connect({
      timeZone,
      dateFilter,
      timestamps: 'offset',
      clock: '2026-01-31T15:00:00Z',
    });
    for (let index = 0; index < 5; index += 1) sandbox.store.products.insert({ name: `Product ${index}` });
    const report = await probe(client, { collections: ['products'] });
    const { updatedSince, offsets } = productsOf(report);
    expect(updatedSince).toMatchObject({ compares: { value: dateFilter }, inclusive: { value: true } });
    expect(offsets.value).toEqual([offset]);
    expect(report.advice.join()).toContain(offset);
    expect(codes(report).join()).not.toContain('serviceTimeZone');
  });
});

describe('a discovery', () => {
  test('recognises IRIs as references', async () => {
    const client = await connect({
      records: 600,
      relations: 'iri',
      formats: 'jsonld',
      nullFields: 'omitted',
    });
    const { collections, source } = await discover(client, {
      collections: ['accounts', 'accountAddresses', 'boms', 'bomLines'],
    });
    const referencesOf = (name: string) =>
      collections.find(({ collection }) => collection === name)?.references;
    expect(referencesOf('accountAddresses')).toEqual({
      accountId: { collection: 'accounts', form: 'iri', checked: 3, found: 3 },
    });
    expect(referencesOf('bomLines')?.bomId).toMatchObject({ collection: 'boms', form: 'iri', found: 3 });
    expect(referencesOf('accounts')).toEqual({});
    expect(source).toContain('IRI of one of the accounts (3 of 3 found there)');
  });
});
