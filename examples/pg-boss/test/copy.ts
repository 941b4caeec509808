import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copyPair, prepareCopy } from '../src/copy.ts';
import { type Database, openDatabase } from '../src/database.ts';
import { Companies, copied } from './support/books.ts';

const pair = { tenant: 'acme', collection: 'accounts' } as const;

async function open() {
  const database = await openDatabase(undefined);
  await prepareCopy(database);
  const companies = new Companies({ acme: { records: { accounts: 70 } } });
  return { database, companies, client: companies.clientOf('acme'), sandbox: companies.of('acme') };
}

/** The database, with a failure in place of the nth checkpoint. */
function failingAt(database: Database, nth: number, failure: () => Promise<unknown>): Database {
  let checkpoints = 0;
  return {
    ...database,
    transaction: (work) =>
      database.transaction((sql) =>
        work({
          query: async (text, values) => {
            if (text.startsWith('insert into checkpoint') && ++checkpoints === nth) await failure();
            return sql.query(text, values);
          },
        }),
      ),
  };
}

test('commits rows and checkpoint together or not at all, and the next run resumes there', async () => {
  const { database, companies, client, sandbox } = await open();
  const broken = failingAt(database, 2, () => Promise.reject(new Error('the disk is full')));
  await assert.rejects(copyPair(broken, client, pair), /the disk is full/);
  const kept = await copied(database);
  assert.ok(kept.length > 0 && kept.length < 70, `${kept.length} rows`);

  const requests = sandbox.count();
  assert.equal(await copyPair(database, client, pair), 70 - kept.length);
  // Three more look behind the end of the collection.
  assert.ok(sandbox.count() - requests < requests + 5);
  assert.deepEqual(await copied(database), companies.records());
  await database.close();
});

test('a run that counted as dead writes nothing once another one has begun', async () => {
  const { database, companies, client, sandbox } = await open();
  let lists = 0;
  // While the second page of the first run is on its way, another run of the same pair does all of it.
  const stop = sandbox.onRequest(() => {
    lists += 1;
  });
  const slow = {
    ...database,
    transaction: async (work: Parameters<Database['transaction']>[0]) => {
      if (lists >= 2 && lists < 1_000) {
        lists = 1_000;
        await copyPair(database, client, pair);
        sandbox.store.accounts.update('1', { name: 'Changed since' });
        await copyPair(database, client, pair);
      }
      return database.transaction(work);
    },
  } as Database;
  await assert.rejects(copyPair(slow, client, pair), /Another run of acme accounts has begun/);
  stop();
  assert.deepEqual(await copied(database), companies.records());
  await database.close();
});
