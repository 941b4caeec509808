import { expect, test } from 'vitest';
import { SeededRandom } from '../../support/seeded-random.ts';
import type { SimRecord } from './chronicle.ts';
import { churn } from './churn.ts';
import { ORDERS } from './orders.ts';
import { type SimOptions, SimServer } from './server.ts';

const options: SimOptions = { seed: 1, order: 'id asc', pageSize: 10, ids: 'dense', records: 25 };

async function readAll(server: SimServer): Promise<SimRecord[]> {
  const fetchPage = server.fetchPage();
  const records: SimRecord[] = [];
  for (let page = 1; ; page++) {
    const response = await fetchPage({ page });
    if (response.records.length === 0) return records;
    records.push(...response.records);
  }
}

test('changes in the same way for the same seed', async () => {
  const lives = await Promise.all(
    [7, 7, 8].map(async (seed) => {
      const server = new SimServer({ ...options, seed });
      const random = new SeededRandom(seed);
      server.afterResponse = () => churn(server, random, { rate: 1 });
      return JSON.stringify(await readAll(server));
    }),
  );
  expect(lives[0]).toBe(lives[1]);
  expect(lives[0]).not.toBe(lives[2]);
});

test.each(ORDERS)('lists every record once, %s', async (order) => {
  const records = await readAll(new SimServer({ ...options, order }));
  expect(new Set(records.map((record) => record.id)).size).toBe(25);
});

test('shows a late commit later, with its earlier timestamp', async () => {
  const server = new SimServer(options);
  const [{ id } = { id: '' }] = server.records;
  const stamp = new Date(server.nowMs);
  server.update(id, 60_000);
  server.advance(59_000);
  expect((await server.get(id))?.version).toBe(1);
  server.advance(1_000);
  expect(await server.get(id)).toMatchObject({
    version: 2,
    updatedAt: stamp.toISOString().replace('.000Z', 'Z'),
  });
});

test('filters by timestamp and bounds, and sends the date of its clock without the fraction', async () => {
  const server = new SimServer(options);
  server.advance(10_500);
  const updatedSince = new Date(server.nowMs - 500);
  const ids = server.records.map((record) => record.id);
  server.update(ids[3] ?? '');
  server.update(ids[5] ?? '');
  const response = await server.fetchPage({ updatedSince, id: { gt: ids[3] } })({});
  expect(response.ids).toEqual([ids[5]]);
  expect(response.serverTime?.getTime()).toBe(server.nowMs - 500);
});

test('fails with what a hook throws, and forgets a deleted record', async () => {
  const server = new SimServer(options);
  const [{ id } = { id: '' }] = server.records;
  server.delete(id);
  expect(await server.get(id)).toBeUndefined();
  server.beforeResponse = ({ query }) => {
    if (query?.page === 2) throw new Error('429');
  };
  await expect(server.fetchPage()({ page: 2 })).rejects.toThrow('429');
  expect(server.requests).toBe(1);
});
