import assert from 'node:assert/strict';
import type { CallResponse } from '../../support/call.ts';
import { type Check, checksOf, UNKNOWN_ID } from '../suite/client.ts';

const check = checksOf('Limits');

const WHOLE = /^\d+$/;

/** The quota headers of a response. */
function quota({ headers, call }: CallResponse): { limit: number; remaining: number } {
  const [limit, remaining] = [
    headers.get('x-ratelimit-limit') ?? '',
    headers.get('x-ratelimit-remaining') ?? '',
  ];
  assert.match(limit, WHOLE, `${call}: X-RateLimit-Limit`);
  assert.match(remaining, WHOLE, `${call}: X-RateLimit-Remaining`);
  assert.ok(Number(limit) > 0 && Number(remaining) <= Number(limit), `${call}: ${remaining} of ${limit}`);
  return { limit: Number(limit), remaining: Number(remaining) };
}

const headers: readonly Check[] = [
  check('every response to a read carries the quota, errors too', async (client) => {
    quota(await client.list('accounts'));
    quota(await client.list('products', { _page: '2' }));
    quota((await client.get('accounts', UNKNOWN_ID)).expectStatus(404));
    quota((await client.list('accounts', {}, { key: null })).expectStatus(401));
    quota((await client.list('accounts', {}, { key: 'no-such-key' })).expectStatus(401));
    quota((await client.list('accounts', {}, { key: client.keys.forbidden })).expectStatus(403));
  }),
  check('every response to a write carries the quota, errors too', async (client) => {
    const created = await client.create({ name: 'Contract check' });
    const id = String(created.record.id);
    const responses = [
      created,
      await client.update(id, { brand: 'Oak & Co' }),
      await client.create('{'),
      await client.create({ isInactive: 'perhaps' }),
      await client.send('/products', { method: 'POST', body: {} }),
      await client.update(UNKNOWN_ID, { brand: 'Oak & Co' }),
      await client.delete(id),
      await client.delete(id),
    ];
    for (const response of responses) quota(response);
  }),
];

const exhausted: readonly Check[] = [
  check(
    'over the quota: 429 rate_limited as application/problem+json with Retry-After in whole seconds',
    async (client) => {
      const rejected = await client.limited().exhaust();
      assert.equal(rejected.mediaType, 'application/problem+json');
      assert.match(rejected.headers.get('retry-after') ?? '', WHOLE);
      assert.equal(quota(rejected).remaining, 0);
    },
  ),
  check(
    'each request takes one of the reported quota, and none is rejected before it is used up',
    async (client) => {
      const limitedClient = client.limited();
      const { limit, remaining } = quota(await limitedClient.list('boms'));
      for (let left = remaining; left > 0; left -= 1) {
        const response = (await limitedClient.list('accounts')).expectStatus(200);
        assert.deepEqual(quota(response), { limit, remaining: left - 1 });
      }
      (await limitedClient.list('accounts')).expectProblem(429, 'rate_limited');
    },
  ),
  check('the key works again after Retry-After', async (client) => {
    const limitedClient = client.limited();
    const rejected = await limitedClient.exhaust();
    limitedClient.sandbox.clock.advance(Number(rejected.headers.get('retry-after')) * 1000);
    (await limitedClient.list('accounts')).expectStatus(200);
  }),
  check('each key has its own quota: another key still works', async (client) => {
    const limitedClient = client.limited();
    await limitedClient.exhaust();
    (await limitedClient.list('accounts', {}, { key: limitedClient.keys.readOnly })).expectStatus(200);
    (await limitedClient.list('accounts')).expectProblem(429, 'rate_limited');
  }),
  check('over the quota every operation is 429, single records and products too', async (client) => {
    const limitedClient = client.limited();
    await limitedClient.exhaust();
    for (const path of ['/accounts/1', '/products', '/products/1', '/budget-lines?_page=2']) {
      (await limitedClient.send(path)).expectProblem(429, 'rate_limited');
    }
  }),
];

export const limits: readonly Check[] = [...headers, ...exhausted];
