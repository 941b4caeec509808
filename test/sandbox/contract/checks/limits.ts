import assert from 'node:assert/strict';
import type { Answer } from '../suite/answer.ts';
import { type Check, check } from '../suite/check.ts';
import { type Probe, UNKNOWN_ID } from '../suite/probe.ts';
import { scarce, spend } from '../suite/spend.ts';

const SECTION = 'Limits';

const WHOLE = /^\d+$/;

/** The two headers of an answer. */
function budget({ headers, asked }: Answer): { limit: number; remaining: number } {
  const [limit, remaining] = [
    headers.get('x-ratelimit-limit') ?? '',
    headers.get('x-ratelimit-remaining') ?? '',
  ];
  assert.match(limit, WHOLE, `${asked}: X-RateLimit-Limit`);
  assert.match(remaining, WHOLE, `${asked}: X-RateLimit-Remaining`);
  assert.ok(Number(limit) > 0 && Number(remaining) <= Number(limit), `${asked}: ${remaining} of ${limit}`);
  return { limit: Number(limit), remaining: Number(remaining) };
}

const listAccounts = (probe: Probe) => probe.list('accounts');

const headers: readonly Check[] = [
  check(SECTION, 'every answer to a read carries the budget, errors too', async (probe) => {
    budget(await probe.list('accounts'));
    budget(await probe.list('products', { _page: '2' }));
    budget((await probe.get('accounts', UNKNOWN_ID)).expectStatus(404));
    budget((await probe.list('accounts', {}, { key: null })).expectStatus(401));
    budget((await probe.list('accounts', {}, { key: 'no-such-key' })).expectStatus(401));
  }),
  check(
    SECTION,
    'every answer to a write carries the budget, errors too',
    async (probe) => {
      const created = await probe.create({ name: 'Contract check' });
      const { id } = created.record;
      const answers = [
        created,
        await probe.update(id, { brand: 'Oak & Co' }),
        await probe.create('{'),
        await probe.create({ isInactive: 'perhaps' }),
        await probe.ask('/products', { method: 'POST', body: {} }),
        await probe.update(UNKNOWN_ID, { brand: 'Oak & Co' }),
        await probe.delete(id),
        await probe.delete(id),
      ];
      for (const answer of answers) budget(answer);
    },
    ['write'],
  ),
  check(
    SECTION,
    'a 403 carries the budget',
    async (probe) => {
      budget((await probe.list('accounts', {}, { key: probe.key('powerless') })).expectStatus(403));
    },
    ['key without permission'],
  ),
];

const refusals: readonly Check[] = [
  check(
    SECTION,
    'the headers report the budget: each request takes one of it',
    async (probe) => {
      const poor = await scarce(probe);
      const first = budget(await poor.list('accounts'));
      const second = budget(await poor.list('boms'));
      assert.deepEqual([second.limit, second.remaining], [first.limit, first.remaining - 1]);
    },
    ['exhaust'],
  ),
  check(
    SECTION,
    'over the budget: 429 rate_limited as application/problem+json with Retry-After in whole seconds',
    async (probe) => {
      const refused = await spend(await scarce(probe), listAccounts);
      assert.equal(refused.mediaType, 'application/problem+json');
      assert.match(refused.headers.get('retry-after') ?? '', WHOLE);
      assert.equal(budget(refused).remaining, 0);
    },
    ['exhaust'],
  ),
  check(
    SECTION,
    'nothing is refused before the budget that was reported is gone',
    async (probe) => {
      const poor = await scarce(probe);
      const { remaining } = budget(await poor.list('accounts'));
      for (let left = remaining; left > 0; left -= 1) {
        assert.equal(budget((await poor.list('accounts')).expectStatus(200)).remaining, left - 1);
      }
      (await poor.list('accounts')).expectProblem(429, 'rate_limited');
    },
    ['exhaust'],
  ),
  check(
    SECTION,
    'after Retry-After the key is let in again',
    async (probe) => {
      const poor = await scarce(probe);
      const refused = await spend(poor, listAccounts);
      await probe.target.wait(Number(refused.headers.get('retry-after')) * 1000);
      (await poor.list('accounts')).expectStatus(200);
    },
    ['exhaust'],
  ),
  check(
    SECTION,
    'the budget is that of one key: another is let in meanwhile',
    async (probe) => {
      const poor = await scarce(probe);
      await spend(poor, listAccounts);
      (await poor.list('accounts', {}, { key: poor.key('readOnly') })).expectStatus(200);
      (await poor.list('accounts')).expectProblem(429, 'rate_limited');
    },
    ['exhaust', 'key that only reads'],
  ),
  check(
    SECTION,
    'over the budget every operation is 429, single records and products too',
    async (probe) => {
      const poor = await scarce(probe);
      await spend(poor, listAccounts);
      for (const path of ['/accounts/1', '/products', '/products/1', '/budget-lines?_page=2']) {
        (await poor.ask(path)).expectProblem(429, 'rate_limited');
      }
    },
    ['exhaust'],
  ),
];

export const limits: readonly Check[] = [...headers, ...refusals];
