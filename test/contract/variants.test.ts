import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/testing/index.ts';
import { checks } from './checks/all.ts';
import { runCheck } from './suite/check.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';

/** Ways in which services may differ without breaking the contract. Each option that it leaves open is in one. */
const variants: readonly SandboxOptions[] = [
  { pageSize: 7, order: 'id-desc', timestamps: 'offset', problemType: 'path' },
  { pageSize: 100, order: 'none', timestamps: 'milliseconds', problemType: 'url' },
  { order: 'updated-asc', ids: { start: 9_999_990, gap: 13 }, invalidFilter: 'reject', problemType: 'urn' },
  {
    order: 'updated-desc',
    ids: { form: 'uuid' },
    betweenSeparator: ',',
    problemContentType: 'application/json',
  },
  {
    order: 'created-desc',
    ids: { form: 'ulid' },
    afterLastPage: 'not-found',
    problemContentType: 'application/ld+json',
  },
  {
    createStatus: 200,
    updateStatus: 201,
    deleteStatus: 200,
    moneyDigits: 'as-sent',
    requiredFields: ['name'],
  },
  { idempotency: { replay: 'conflict' }, unknownFields: 'reject', clockOffsetMs: -90_000 },
  { idempotency: { differentBody: 'stored', lifetimeMs: 1000 }, seed: 99, maxRequestBytes: 20_000 },
  { rateLimit: { kind: 'fixed-from-first' } },
  { rateLimit: { kind: 'sliding' } },
  { rateLimit: { kind: 'sliding-counter' } },
  { rateLimit: { kind: 'token-bucket' } },
];

/** What differs does so for all collections alike: one stands for the others. */
const sample = checks.filter(({ segment = 'bom-lines' }) => segment === 'bom-lines');

test.each(variants)('leans on nothing that the contract leaves open: %j', async (options) => {
  await using served = await sandboxTarget('fetch', options);
  const failed: string[] = [];
  for (const check of sample) {
    await runCheck(check, served.target).catch((error: Error) =>
      failed.push(`${check.name}: ${error.message}`),
    );
  }
  expect(failed).toEqual([]);
});
