// What this package promises: its own functions pass the cases, apart from those that the guides exclude.

import {
  type Client,
  changes,
  createClient,
  isAccountingError,
  memoryStore,
  sync,
} from 'accounting-data-sdk';
import { postgresTarget } from 'accounting-data-sdk/targets';
import {
  type ConnectorRun,
  type ConnectorTest,
  type ConnectorTestsOptions,
  connectorTests,
} from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { writeCodeBlocks } from '../../package/docs/code-blocks.ts';
import { startPglite } from '../../support/pglite.ts';
import { NO_HURRY } from '../../support/seeds.ts';
import { failuresOf } from './failures.ts';

const collections = ['accounts', 'products'] as const;
const tenant = 'acme';

/**
 * The cases that depend on where records go. How they are read is proven by the sync to SQLite: `SOAK_CONNECTORS=1` runs
 * every case with every connector.
 */
const ONLY = {
  only: [
    'several changes in one second',
    'a name that is a number',
    'unusual names',
    'deleted records',
    'one forbidden collection',
    'killed in the first night',
  ],
};
const chosen = process.env.SOAK_CONNECTORS === undefined ? ONLY : {};

/**
 * Short waits: the cases have waits of their own. By default a 404 after the last page and a name that is a number are
 * errors, the latter not with a target.
 */
function clientOf({ baseUrl, apiKey }: ConnectorRun, options: object = {}): Client {
  return createClient({
    baseUrl,
    apiKey,
    retry: { baseDelayMs: 100 },
    afterLastPage: 'not_found',
    ...options,
  });
}

/** A list of changes shows no deletions: the guide to syncing says so. */
const NO_DELETIONS = { 'deleted records': 'a list of changes shows no deletions' };

/** Batches in a Map, and deletions by `localIds` and `onDelete`. */
function toMap(): ConnectorTestsOptions {
  let store = memoryStore();
  const copy = new Map<string, Map<string, object>>();
  const of = (name: string) => {
    const records = copy.get(name) ?? new Map<string, object>();
    copy.set(name, records);
    return records;
  };
  return {
    reset() {
      store = memoryStore();
      copy.clear();
    },
    run: (service) =>
      sync(clientOf(service, { validation: 'off' }), {
        tenant,
        collections,
        mode: 'full',
        store,
        signal: service.signal,
        onBatch: ({ collection, records }) => {
          for (const record of records) of(collection).set(record.id, record);
        },
        localIds: (name) => [...of(name).keys()],
        onDelete: (ids, name) => {
          for (const id of ids) of(name).delete(id);
        },
      }),
    records: (name) => [...of(name).values()],
  };
}

/** `changes()`, one collection after the other: a 403 of one must not keep the others from their run. */
function byChanges(): ConnectorTestsOptions {
  let store = memoryStore();
  const copy = new Map(collections.map((name) => [name as string, new Map<string, object>()]));
  return {
    reset() {
      store = memoryStore();
      for (const records of copy.values()) records.clear();
    },
    async run(service) {
      const client = clientOf(service, { validation: 'off' });
      const failed: unknown[] = [];
      for (const name of collections) {
        try {
          for await (const { records } of changes(client[name], { tenant, store, signal: service.signal })) {
            for (const record of records) copy.get(name)?.set(record.id, record);
          }
        } catch (error) {
          if (!isAccountingError(error, 'scope_required')) throw error;
          failed.push(error);
        }
      }
      if (failed.length > 0) throw failed[0];
    },
    records: (name) => [...(copy.get(name)?.values() ?? [])],
  };
}

async function toPostgres(): Promise<ConnectorTestsOptions> {
  const database = await startPglite();
  const connection = { query: (text: string, values?: unknown[]) => database.query<object>(text, values) };
  return {
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
        collections,
        mode: 'full',
        target: postgresTarget(connection),
        signal: service.signal,
      }),
    async records(name) {
      const { rows } = await database.query<{ found: string | null }>(
        "SELECT to_regclass('accounting.record') AS found",
      );
      if (rows[0]?.found == null) return [];
      const copied = await database.query<{ body: object }>(
        'SELECT body FROM accounting.record WHERE collection = $1',
        [name],
      );
      return copied.rows.map(({ body }) => body);
    },
  };
}

const GUIDE = 'src/guides/connector-tests.md';
const blocks = writeCodeBlocks(GUIDE, 'connector-tests');

/** The cases of the first block of the guide that contains a text. Each lane has a copy of the connector. */
async function ofTheGuide(text: string, lane: number): Promise<ConnectorTest[]> {
  const block = blocks.find(({ code }) => code.includes(text));
  const { cases } = await import(/* @vite-ignore */ `${block?.file}?lane=${lane}`);
  return cases;
}

// One after another, because the database blocks this process, and a run has to end within 30 s on a slow machine too.
describe('every case is passed by', NO_HURRY, () => {
  test.each<[string, Parameters<typeof failuresOf>[0], lanes?: number]>([
    ['a full sync to SQLite, as in the guide', (lane) => ofTheGuide('sqliteTarget(', lane)],
    // More lanes, because it mostly waits.
    ['a push, as in the guide', (lane) => ofTheGuide('push(', lane), 8],
    // One lane, because each starts a database, which takes longer than ten cases.
    [
      'a full sync to PostgreSQL',
      async () => connectorTests({ collections, ...(await toPostgres()), ...chosen }),
      1,
    ],
    ['a full sync with onBatch', () => connectorTests({ collections, ...toMap(), ...chosen })],
    [
      'changes(), apart from deletions',
      () => connectorTests({ collections, ...byChanges(), ...chosen, expected: NO_DELETIONS }),
    ],
  ])('%s', async (_, make, lanes) => {
    expect(await failuresOf(make, lanes)).toEqual(new Map());
  });
});
