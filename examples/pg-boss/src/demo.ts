import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { openDatabase } from './database.ts';
import { SyncQueue } from './queue.ts';

/** Three companies and two machines in one process, on PGlite; one of the machines is stopped half-way. */
export async function demo(): Promise<void> {
  const books = new Map(
    ['acme', 'bolt', 'crane'].map((tenant, index) => [
      tenant,
      createSandbox({
        seed: index,
        records: { accounts: 200, products: 100, budgets: 30, budgetLines: 120 },
      }),
    ]),
  );
  const database = await openDatabase(undefined);
  const machine = (name: string) =>
    SyncQueue.start({
      database,
      tenants: () => [...books.keys()],
      clientOf: (tenant) => createClient(books.get(tenant)?.clientOptions),
      onJob: (event, { tenant, collection }, result) =>
        console.log([name, event, tenant, collection, result?.problem ?? result?.records].join(' ').trim()),
    });
  const first = await machine('first ');
  const second = await machine('second');
  try {
    console.log(`${await first.plan()} jobs; once more: ${await second.plan()} new ones`);
    await Promise.all([first.work(2), second.work(2)]);
    while ((await second.ended()).length < 4) await wait(100);
    console.log('the first machine is switched off');
    await first.stop();
    while ((await second.open()) > 0) await wait(100);
    const { rows } = await database.query<{ tenant: string; count: number }>(
      'select tenant, count(*)::int as count from record group by tenant order by tenant',
    );
    for (const { tenant, count } of rows) console.log(`${tenant}: ${count} records in the copy`);
  } finally {
    await second.stop();
    await database.close();
  }
}
