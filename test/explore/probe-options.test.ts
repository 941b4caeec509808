import { type CollectionDetails, type ProbeReport, probe } from 'accounting-data-sdk/explore';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { productSandbox } from './support/products.ts';

/** Combinations of options that reading shows. Together they hold every value of each. */
const combinations: readonly SandboxOptions[] = [
  {},
  { pageSize: 3 },
  { pageSize: 7, order: 'id-desc' },
  { pageSize: 100, ids: { gap: 9, start: 1000 } },
  { order: 'id-desc' },
  { order: 'created-asc' },
  { order: 'created-desc', pageSize: 50 },
  { order: 'updated-asc' },
  { order: 'updated-desc', listBody: 'member' },
  { order: 'none' },
  { order: 'none', ids: { form: 'uuid' } },
  { ids: { form: 'uuid' } },
  { ids: { form: 'ulid' } },
  { ids: { form: 'uuid' }, order: 'id-desc' },
  { ids: { form: 'ulid' }, order: 'updated-desc', pageSize: 20 },
  { invalidFilter: 'reject' },
  { invalidFilter: 'reject', ids: { form: 'uuid' } },
  { betweenSeparator: ',' },
  { betweenSeparator: ';', invalidFilter: 'reject' },
  { betweenSeparator: '|', ids: { form: 'uuid' } },
  { betweenSeparator: '-', order: 'none' },
  { afterLastPage: 'not_found' },
  { afterLastPage: 'not_found', listBody: 'hydra:member' },
  { listBody: 'member' },
  { listBody: 'hydra:member', pageSize: 10 },
  { problemType: 'path' },
  { problemType: 'url', problemContentType: 'application/json' },
  { problemType: 'urn', afterLastPage: 'not_found' },
  { problemType: 'about:blank' },
  { problemType: 'rfc-url' },
  { problemType: 'status', problemContentType: 'application/ld+json' },
  { problemType: 'absent' },
  { timestamps: 'offset' },
  { timestamps: 'milliseconds', order: 'updated-asc' },
  { clockOffsetMs: 3_600_000 },
  { clockOffsetMs: -90_000, timestamps: 'milliseconds' },
  { rateLimit: { limit: 500 } },
  {
    pageSize: 5,
    order: 'none',
    ids: { form: 'uuid' },
    betweenSeparator: ':',
    invalidFilter: 'reject',
    afterLastPage: 'not_found',
    listBody: 'hydra:member',
    problemType: 'absent',
    problemContentType: 'application/ld+json',
    timestamps: 'milliseconds',
    clockOffsetMs: 86_400_000,
    rateLimit: { limit: 77, windowMs: 1_000_000 },
  },
];

const DEFAULTS = {
  pageSize: 30,
  order: 'id-asc',
  idForm: 'numeric',
  invalidFilter: 'ignore',
  betweenSeparator: '..',
  afterLastPage: 'empty',
  listBody: 'array',
  problemType: 'bare',
  problemContentType: 'application/problem+json',
  timestamps: 'seconds',
  clockOffsetMs: 0,
  budget: 10_000,
};

/** What was asked of the sandbox, defaults included. */
function optionsOf({ ids, rateLimit, ...others }: SandboxOptions) {
  const budget = rateLimit ? rateLimit.limit : undefined;
  return { ...DEFAULTS, ...others, idForm: ids?.form ?? DEFAULTS.idForm, budget: budget ?? DEFAULTS.budget };
}

const SANDBOX_NAMES: Readonly<Record<string, string>> = {
  ignored: 'ignore',
  rejected: 'reject',
};
const named = (value: string | undefined) => SANDBOX_NAMES[value ?? ''] ?? value;

/** The report in the sandbox's own words. */
function optionsSeen({ collections, clock, quota, problems }: ProbeReport, offsetMs: number) {
  const { details } = collections.find(({ collection }) => collection === 'products') ?? {};
  if (details === undefined) throw new Error('products were not read');

  const offset = clock.value;
  const fits = offset !== undefined && Math.abs(offset.offsetMs - offsetMs) <= offset.withinMs;
  return {
    pageSize: details.pageSize.value,
    order: details.order.value,
    idForm: details.idForm.value,
    invalidFilter: named(details.updatedSince.invalidValue.value),
    betweenSeparator: details.between.separator.value,
    afterLastPage: named(details.afterLastPage.value),
    listBody: details.listBody,
    problemType: problems.typeForm.value,
    problemContentType: problems.notFound.value,
    timestamps: details.timestamps.value,
    // `Date` is cut to the second, and a request takes its time: what is known is a span, and it must be a narrow one.
    clockOffsetMs: fits && offset.withinMs <= 5_000 ? offsetMs : offset,
    budget: quota.limit.value,
  };
}

const HONOURED = ['gt', 'gte', 'lt', 'lte'] as const;
const filtersOf = ({ id, between, updatedSince }: CollectionDetails) => [
  ...HONOURED.map((name) => id[name].value),
  id.together.value,
  between.verdict.value,
  between.inclusive.value,
  updatedSince.verdict.value,
  updatedSince.inclusive.value,
];

describe('a probe that only reads', () => {
  test.for(combinations.map((options) => ({ name: JSON.stringify(options), options })))(
    'names the options of the sandbox without knowing them: $name',
    async ({ options }) => {
      const { sandbox, client } = productSandbox(options);
      const report = await probe(client, { collections: ['accounts', 'products'] });

      expect(optionsSeen(report, options.clockOffsetMs ?? 0)).toEqual(optionsOf(options));
      const { details } = report.collections[1] ?? {};
      // An unordered collection may hide a bound behind its first page; nothing else may stay open.
      const expected = [
        'honoured',
        'honoured',
        'honoured',
        'honoured',
        true,
        'honoured',
        true,
        'honoured',
        true,
      ];
      const seen = details === undefined ? [] : filtersOf(details);
      const mayHide = ['created', 'updated', 'none'].some((order) => options.order?.startsWith(order));
      expect(seen.map((value, at) => (at === 6 && mayHide && value === undefined ? true : value))).toEqual(
        expected,
      );
      expect(sandbox.requests.every(({ method }) => method === 'GET')).toBe(true);
    },
  );

  test('reports what only writing shows as unknown', async () => {
    const { client } = productSandbox({
      createStatus: 200,
      updateStatus: 204,
      deleteStatus: 200,
      idempotency: { replay: 'conflict', differentBody: 'stored', lifetimeMs: 1000 },
      requiredFields: ['name'],
      allowedStatuses: ['active'],
      unknownFields: 'reject',
      moneyDigits: 2,
      maxRequestBytes: 1000,
      tooLargeStatus: 422,
      commitDelayMs: 5000,
    });
    const { writes, quota } = await probe(client, { collections: ['products'] });

    const { leftBehind, ...findings } = writes;
    expect(leftBehind).toEqual([]);
    expect(Object.values(findings).map(({ value }) => value)).toEqual(
      Object.keys(findings).map(() => undefined),
    );
    expect(quota.windowMs.value).toBe(undefined);
  });

  test('does not claim an order if records show neither ids in order nor timestamps', async () => {
    const { client } = productSandbox({ order: 'updated-desc' });
    const { collections } = await probe(client, { collections: ['accounts'] });
    expect(collections[0]?.details?.order.value).toBe(undefined);
  });

  test('names the other order that fits as well', async () => {
    const { client } = productSandbox({ records: { boms: 40 }, timestampsEverywhere: true });
    const { collections } = await probe(client, { collections: ['boms'] });
    expect(collections[0]?.details?.order).toMatchObject({
      value: 'id-asc',
      evidence: expect.stringContaining('created-asc fits as well'),
    });
  });
});
