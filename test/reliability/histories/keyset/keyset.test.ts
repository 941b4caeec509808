import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectFinding, expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { ORDERS, type Order } from '../service/orders.ts';
import {
  directionGuessed,
  eachPageCertified,
  idGreaterOnTrust,
  onlyFirstPageCertified,
  pages,
} from './losing-strategies.ts';
import { playKeyset, playStrategy } from './play.ts';

const USUAL = 60;

test(
  'keyset pagination loses no record that exists throughout the read, whatever the service, and says `likely` if it can',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const seen = { resumed: 0, hides: 0, likely: 0 };
    await expectNoFindings(seeds, async (seed) => {
      // A task ends here: until then weak references keep what they refer to.
      await setImmediate();
      const { findings, resumed, hides, complete } = await playKeyset(seed);
      if (resumed) seen.resumed += 1;
      if (hides) seen.hides += 1;
      if (complete === 'likely') seen.likely += 1;
      return findings;
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} reads:`, seen);
    if (seeds.length < USUAL) return;
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(USUAL / 20);
  },
);

const notAscending = ORDERS.filter((order) => order !== 'id asc');
const notById = notAscending.filter((order) => order !== 'id desc');
const inOrders = <S>(orders: readonly Order[], name: string, strategy: S, rate: number) =>
  orders.map((order) => [name, order, strategy, rate] as const);

test.each([
  ...inOrders(ORDERS, 'page', pages, 0.3),
  ...inOrders(notAscending, '`id[gt]`, trusting the order', idGreaterOnTrust, 0.3),
  ...inOrders(notById, 'the direction guessed', directionGuessed, 0.3),
  ...inOrders(notById, 'the first page alone certified', onlyFirstPageCertified, 0.3),
  ...inOrders(notAscending, 'each page certified by `_page=2`', eachPageCertified, 1),
])('the simulation sees records lost by %s: %s', NO_HURRY, async (_, order, strategy, rate) => {
  await expectFinding(200, (seed) =>
    playStrategy(
      async function* (server) {
        for await (const { records } of strategy(server.fetchPage())) yield records;
      },
      { seed, order, rate, records: 13 + (seed % 48), pageSize: 10 },
    ),
  );
});
