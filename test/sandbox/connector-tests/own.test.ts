// What this package promises: its own functions pass the cases, apart from those that the guides exclude.

import {
  type CollectionName,
  changes,
  collectionNames,
  createClient,
  isAccountingError,
  memoryStore,
  push,
  sync,
} from 'accounting-data-sdk';
import { postgresTarget } from 'accounting-data-sdk/targets';
import { type ConnectorRun, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { writeCodeBlocks } from '../../package/docs/code-blocks.ts';
import { openPglite } from '../../support/pglite.ts';
import { NO_HURRY } from '../../support/seeds.ts';
import { failuresOf } from './failures.ts';

const tenant = 'acme';
const SOME: readonly CollectionName[] = ['accounts', 'products'];

const isSoak = process.env.SOAK_CONNECTORS !== undefined;

/** Cases that depend on where records go. `SOAK_CONNECTORS=1` runs every case with every connector. */
const only = (...names: string[]) => ({ names: isSoak ? undefined : names });

/** Short waits. By default a 404 after the last page and a name that is a number are errors, the latter not with a target. */
const clientOf = ({ baseUrl, apiKey }: ConnectorRun, options: object = {}) =>
  createClient({ baseUrl, apiKey, retry: { baseDelayMs: 100 }, afterLastPage: 'not_found', ...options });

async function toPostgres(): Promise<ConnectorTestsOptions> {
  const database = await openPglite();
  const connection = { query: (text: string, values?: unknown[]) => database.query<object>(text, values) };
  return {
    collections: SOME,
    // Faster than DROP SCHEMA, because the tables and views stay.
    async reset() {
      const { rows } = await database.query<{ name: string }>(
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'accounting'",
      );
      for (const { name } of rows) await database.exec(`DELETE FROM ${name}`);
    },
    run: (service) =>
      sync(clientOf(service), {
        tenant,
        collections: SOME,
        mode: 'full',
        target: postgresTarget(connection),
        signal: service.signal,
      }),
    async records(name) {
      const sql = 'SELECT body FROM accounting.record WHERE collection = $1';
      return (await database.query<{ body: object }>(sql, [name])).rows.map(({ body }) => body);
    },
  };
}

/** A copy in a Map for each collection, and a store. */
function mapCopy(collections: readonly CollectionName[]) {
  const copy = new Map<CollectionName, Map<string, object>>();
  let store = memoryStore();
  const of = (name: CollectionName) => copy.get(name) ?? new Map<string, object>();
  const reset = () => {
    store = memoryStore();
    for (const name of collections) copy.set(name, new Map());
  };
  reset();
  const records = (name: CollectionName) => [...of(name).values()];
  return { of, store: () => store, options: { collections, records, reset } };
}

/** Batches in a Map, and deletions by `localIds` and `onDelete`. */
function toMap(collections: readonly CollectionName[]): ConnectorTestsOptions {
  const { of, store, options } = mapCopy(collections);
  return {
    ...options,
    run: (service) =>
      sync(clientOf(service, { validation: 'off' }), {
        tenant,
        collections,
        mode: 'full',
        store: store(),
        signal: service.signal,
        onBatch: ({ collection, records }) => {
          for (const record of records) of(collection).set(record.id, record);
        },
        localIds: (name) => [...of(name).keys()],
        onDelete: (ids, name) => {
          for (const id of ids) of(name).delete(id);
        },
      }),
  };
}

/** `changes()`, one collection after the other: a 403 of one must not keep the others from their run. */
function byChanges(): ConnectorTestsOptions {
  const { of, store, options } = mapCopy(SOME);
  return {
    ...options,
    async run(service) {
      const client = clientOf(service, { validation: 'off' });
      const failed: unknown[] = [];
      for (const name of SOME) {
        try {
          const how = { tenant, store: store(), signal: service.signal };
          for await (const { records } of changes(client[name], how))
            for (const record of records) of(name).set(record.id, record);
        } catch (error) {
          if (!isAccountingError(error, 'scope_required')) throw error;
          failed.push(error);
        }
      }
      if (failed.length > 0) throw failed[0];
    },
    expected: { 'deleted records': 'a list of changes shows no deletions' },
  };
}

/** Every option has its default, but `retry.creates`: in one case the service ignores idempotency keys. */
function pushing(): ConnectorTestsOptions {
  let store = memoryStore();
  return {
    reset() {
      store = memoryStore();
    },
    writes: {
      async run({ baseUrl, apiKey, signal, products }) {
        const client = createClient({ baseUrl, apiKey, retry: { creates: false } });
        const options = { tenant, rows: [...products], key: 'productNumber', store, signal } as const;
        const { counts } = await push(client.products, options);
        if (counts.failed + counts.conflict > 0) throw new Error('Rows failed.');
      },
    },
  };
}

const blocks = writeCodeBlocks('src/guides/connector-tests.md', 'connectors');

/** The cases of the code block with this text. Each lane loads it anew, with a copy and a state of its own. */
async function ofTheGuide(text: string, lane: number) {
  const block = blocks.find(({ code }) => code.includes(text));
  const { cases } = await import(/* @vite-ignore */ `${block?.file}?lane=${lane}`);
  return cases;
}

type Played = [connector: string, ...how: Parameters<typeof failuresOf>];

const passes = async (_: string, ...how: Parameters<typeof failuresOf>) =>
  expect(await failuresOf(...how)).toEqual(new Map());

describe('every case is passed by', NO_HURRY, () => {
  // One after another, because the database blocks this process, and a run has to end in time on a slow machine too.
  test.each<Played>([
    ['a full sync to SQLite, as in the guide', (lane) => ofTheGuide('sqliteTarget(', lane)],
    [
      'a full sync with onBatch',
      () => connectorTests(toMap(SOME)),
      only('deleted records', 'killed and started again'),
    ],
    ['a full sync of all collections', () => connectorTests(toMap(collectionNames)), only('changed records')],
    [
      'changes(), apart from deletions',
      () => connectorTests(byChanges()),
      only('several changes in one second', 'deleted records', 'one forbidden collection'),
    ],
  ])('%s', passes);

  // At the same time and in more lanes, because they mostly wait.
  test.concurrent.each<Played>([
    ['a push, as in the guide', (lane) => ofTheGuide('push(', lane), { lanes: 9 }],
    ['a push with every default', () => connectorTests(pushing()), { lanes: 9, ...only('changed rows') }],
  ])('%s', passes);

  // One lane, because each starts a database, which takes longer than ten cases.
  test.runIf(isSoak)('a full sync to PostgreSQL', () =>
    passes('', async () => connectorTests(await toPostgres()), { lanes: 1 }),
  );
});
