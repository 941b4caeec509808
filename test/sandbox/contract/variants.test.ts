import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { checks, sample } from './checks/all.ts';
import { changedRequest, changedResponse, type Inject } from './defects.ts';
import { runCheck } from './suite/check.ts';
import { sandboxTarget } from './suite/sandbox-target.ts';
import type { Target } from './suite/target.ts';

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
  { idempotency: { differentBody: 'stored', lifetimeMs: 1000 }, seed: 99, maxRequestBytes: 20_000 },
  { allowedStatuses: ['active', 'archived'] },
  { rateLimit: { kind: 'fixed-from-first' } },
  { rateLimit: { kind: 'sliding' } },
  { rateLimit: { kind: 'sliding-counter' } },
  { rateLimit: { kind: 'token-bucket' } },
];

async function failuresOf(target: Target): Promise<string[]> {
  const failed: string[] = [];
  for (const check of sample) {
    await runCheck(check, target).catch((error: Error) => failed.push(`${check.name}: ${error.message}`));
  }
  return failed;
}

test.each(variants)(
  'the checks depend on nothing that the specification leaves open: %j',
  async (options) => {
    await using served = await sandboxTarget('fetch', options);
    expect(await failuresOf(served.target)).toEqual([]);
  },
);

const MAX_INT4 = 2_147_483_647;

/** Behaviour of correct services that the sandbox does not have. */
const behaviours: readonly (readonly [name: string, inject: Inject])[] = [
  [
    'an id beyond a 32-bit column is a 500',
    changedResponse((response, { url }) => {
      const id = url.pathname.split('/').at(-1) ?? '';
      if (/^\d+$/.test(id) && Number(id) > MAX_INT4) response.status = 500;
    }),
  ],
  [
    'an id of another form is 400',
    changedResponse((response, { url }) => {
      const id = url.pathname.split('/')[5] ?? '';
      if (response.status !== 404 || !/\D/.test(decodeURIComponent(id))) return;
      response.status = 400;
      response.text = response.text.replace('not_found', 'malformed_request');
    }),
  ],
  [
    'an empty JSON array is an empty object',
    changedRequest((request) => {
      if (request.body === '[]') request.body = '{}';
    }),
  ],
  [
    'a value of the wrong type is 400 malformed_request',
    changedResponse((response) => {
      if (response.status !== 422 || !response.text.includes('of type')) return;
      response.status = 400;
      response.text = response.text.replace('validation_failed', 'malformed_request');
    }),
  ],
  [
    // The sandbox has no such rule for these two fields; a number gets the same 422.
    'a type and a list of labels are one of a few',
    changedRequest((request) => {
      request.body = request.body?.replaceAll(/"(type|labels)":"[^"]*"/g, '"$1":1');
    }),
  ],
];

test.each(behaviours)('the checks pass for a service with the behaviour: %s', async (_, inject) => {
  await using served = await sandboxTarget('fetch');
  const { target } = served;
  expect(await failuresOf({ ...target, send: inject(target.send, target) })).toEqual([]);
});

test('the checks pass for a service that omits cleared fields', async () => {
  await using served = await sandboxTarget('fetch', { nullFields: 'omitted' });
  const [clearing, ...others] = checks.filter(({ name }) => name.includes('sent as null is cleared'));
  if (clearing === undefined || others.length > 0) throw new Error('Not one check clears fields.');
  await runCheck(clearing, served.target);
});
