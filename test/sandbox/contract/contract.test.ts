import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authentication, errors } from './checks/errors.ts';
import { filters } from './checks/filters.ts';
import { general } from './checks/general.ts';
import { limits } from './checks/limits.ts';
import { products } from './checks/products.ts';
import { reading } from './checks/reading.ts';
import { creating, updating } from './checks/writing.ts';
import { ContractClient } from './suite/client.ts';
import { readOnlySegments } from './suite/specification.ts';

const common = [...general, ...filters, ...products, ...creating, ...updating].concat(
  authentication,
  errors,
  limits,
);
const checks = [...common, ...readOnlySegments.flatMap(reading)];
/** With the reading of one collection, because it is the same for all. */
const sample = [...common, ...reading('bom-lines')];

describe('the sandbox follows the specification', () => {
  const client = new ContractClient();
  test.each(checks)('$name', ({ run }) => run(client));
});

describe('the sandbox follows the specification on a port', () => {
  const client = new ContractClient();
  beforeAll(() => client.sandbox.listen());
  afterAll(() => client.sandbox.close());
  test.each([...errors, ...creating])('$name', ({ run }) => run(client));
});

/** Services that differ in what the specification leaves open. Each such option occurs in one of them. */
const variants: readonly SandboxOptions[] = [
  {
    pageSize: 7,
    order: 'id-desc',
    timestamps: 'offset',
    problemType: 'path',
    createStatus: 200,
    updateStatus: 201,
    deleteStatus: 200,
    moneyDigits: 'as-sent',
    requiredFields: ['name'],
    rateLimit: { kind: 'fixed-from-first' },
  },
  {
    pageSize: 100,
    order: 'none',
    timestamps: 'milliseconds',
    problemType: 'url',
    idempotency: { replay: 'conflict' },
    unknownFields: 'reject',
    clockOffsetMs: -90_000,
    rateLimit: { kind: 'sliding-counter' },
  },
  {
    order: 'updated-asc',
    ids: { start: 9_999_990, gap: 13 },
    invalidFilter: 'reject',
    problemType: 'urn',
    pageSizeParameter: 'itemsPerPage',
    idempotency: { differentBody: 'stored' },
    seed: 99,
  },
  {
    order: 'updated-desc',
    ids: { form: 'uuid' },
    betweenSeparator: ',',
    rateLimit: { kind: 'token-bucket' },
  },
  {
    order: 'created-desc',
    ids: { form: 'ulid' },
    afterLastPage: 'not_found',
  },
];

test.each(variants)(
  'the checks depend on nothing that the specification leaves open: %j',
  async (options) => {
    const client = new ContractClient(options);
    const failed: string[] = [];
    for (const { name, run } of sample) {
      await run(client).catch((error: Error) => failed.push(`${name}: ${error.message}`));
    }
    expect(failed).toEqual([]);
  },
);

test('the checks pass for a service that omits cleared fields', async () => {
  const clearing = updating.find(({ name }) => name.includes('sent as null is cleared'));
  if (clearing === undefined) throw new Error('No check clears fields.');
  await clearing.run(new ContractClient({ nullFields: 'omitted' }));
});
