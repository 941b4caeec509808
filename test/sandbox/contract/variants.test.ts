import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { checks, sample } from './checks/all.ts';
import { runCheck } from './suite/check.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';

/** Services that differ in what the specification leaves open. Each such option occurs in one of them. */
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
    afterLastPage: 'not_found',
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
  { idempotency: { differentBody: 'stored', lifetimeMs: 1000 }, seed: 99 },
  { pageSizeParameter: 'itemsPerPage' },
  { rateLimit: { kind: 'fixed-from-first' } },
  { rateLimit: { kind: 'sliding' } },
  { rateLimit: { kind: 'sliding-counter' } },
  { rateLimit: { kind: 'token-bucket' } },
];

test.each(variants)(
  'the checks depend on nothing that the specification leaves open: %j',
  async (options) => {
    await using served = await sandboxTarget('fetch', options);
    const failed: string[] = [];
    for (const check of sample) {
      await runCheck(check, served.target).catch((error: Error) =>
        failed.push(`${check.name}: ${error.message}`),
      );
    }
    expect(failed).toEqual([]);
  },
);

test('the checks pass for a service that omits cleared fields', async () => {
  await using served = await sandboxTarget('fetch', { nullFields: 'omitted' });
  const [clearing, ...others] = checks.filter(({ name }) => name.includes('sent as null is cleared'));
  if (clearing === undefined || others.length > 0) throw new Error('Not one check clears fields.');
  await runCheck(clearing, served.target);
});
