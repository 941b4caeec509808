import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { Redis } from 'ioredis';
import { COLLECTIONS, rowsKey } from './copy.ts';
import { SyncQueue } from './queue.ts';
import { type RedisServer, startRedis } from './redis-server.ts';

/** Three companies and two machines in one process, with a Redis of its own; one of the machines is stopped half-way. */
export async function demo(): Promise<void> {
  const server = await startRedis().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (server !== undefined) return show(server);
  console.error(
    'There is no redis-server: install one (Debian: apt-get install redis-server), or set REDIS_URL.',
  );
  process.exitCode = 1;
}

async function show(server: RedisServer): Promise<void> {
  await using running = server;
  const { url } = running;
  const books = new Map(
    ['acme', 'bolt', 'crane'].map((tenant, index) => [
      tenant,
      createSandbox({
        seed: index,
        records: { accounts: 200, products: 100, budgets: 30, budgetLines: 120 },
      }),
    ]),
  );
  const machine = (name: string) =>
    new SyncQueue({
      url,
      tenants: () => [...books.keys()],
      clientOf: (tenant) => createClient(books.get(tenant)?.clientOptions),
      onJob: (event, tenant, result) => console.log([name, event, tenant, result?.records].join(' ').trim()),
    });
  const first = machine('first ');
  const second = machine('second');
  console.log(`${await first.plan()} jobs; once more: ${await second.plan()} new ones`);
  first.work(1);
  while ((await first.ended()).length < 1) await wait(10);
  console.log('the first machine is switched off');
  await first.stop();
  second.work(2);
  while ((await second.open()) > 0) await wait(50);
  await second.stop();

  const redis = new Redis(url);
  for (const tenant of books.keys()) {
    const counts = await Promise.all(
      COLLECTIONS.map((collection) => redis.hlen(rowsKey(tenant, collection))),
    );
    console.log(`${tenant}: ${counts.reduce((sum, count) => sum + count)} records in the copy`);
  }
  redis.disconnect();
}
