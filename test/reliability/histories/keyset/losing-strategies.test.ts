import { describe, expect, test } from 'vitest';
import { ORDERS, type Order } from '../service/orders.ts';
import { readChanging } from './history.ts';
import {
  directionGuessed,
  eachPageCertified,
  idGreaterOnTrust,
  onlyFirstPageCertified,
  pages,
  type Strategy,
} from './losing-strategies.ts';

/** Not a test of how busy the machine is. */
const timeout = 3_600_000;
/** Soak runs count the losses in all two hundred; the others only want to see one. */
const soak = process.env.SOAK_HISTORIES !== undefined;

/** Histories of up to sixty records, ten a page. */
const histories = (order: Order, rate: number) =>
  Array.from({ length: 200 }, (_, seed) => ({
    seed,
    order,
    records: 13 + (seed % 48),
    pageSize: 10,
    churn: { rate },
  }));

/** How many reads lost a record that existed unchanged from their beginning to their end. */
async function readsWithLoss(strategy: Strategy, order: Order, rate: number): Promise<number> {
  let losses = 0;
  for (const history of histories(order, rate)) {
    const verdict = await readChanging(async function* (server) {
      for await (const response of strategy(server.fetchPage())) yield response.records;
    }, history);
    if (verdict.lost.length > 0) losses++;
    if (losses > 0 && !soak) break;
  }
  return losses;
}

/** Printed in soak runs only. */
function report(what: string, order: Order, losses: number): void {
  if (soak) console.info(`${what}, ${order}: ${losses} of 200`);
}

/** A change after every request, or after three of ten. */
const rates = { every: 1, some: 0.3 };

describe('the simulation sees the losses of', { timeout }, () => {
  const everywhere = ORDERS;
  const butByIdAscending = ORDERS.filter((order) => order !== 'id asc');
  const notById = ORDERS.filter((order) => order !== 'id asc' && order !== 'id desc');

  test.each([
    ['page', pages, everywhere, rates.some],
    ['`id[gt]`, trusting the order', idGreaterOnTrust, butByIdAscending, rates.some],
    ['the direction guessed', directionGuessed, notById, rates.some],
    ['the first page alone certified', onlyFirstPageCertified, notById, rates.some],
    [
      'each page certified by `_page=2`, under changes after every request',
      eachPageCertified,
      butByIdAscending,
      rates.every,
    ],
  ] as const)('%s', async (name, strategy, orders, rate) => {
    for (const order of orders) {
      const losses = await readsWithLoss(strategy, order, rate);
      report(name, order, losses);
      expect(losses, order).toBeGreaterThan(0);
    }
  });
});
