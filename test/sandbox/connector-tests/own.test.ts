// What this package promises: its own functions pass the cases, apart from those that the guides exclude.

import { DatabaseSync } from 'node:sqlite';
import {
  type Client,
  changes,
  createClient,
  isAccountingError,
  memoryStore,
  push,
  sync,
} from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import {
  type ConnectorRun,
  type ConnectorTestsOptions,
  connectorTests,
  type WritingRun,
} from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { startPglite } from '../../support/pglite.ts';
import { NO_HURRY } from '../../support/seeds.ts';

const collections = ['accounts', 'products'] as const;
const tenant = 'acme';

/** Short waits: the cases have waits of their own. The option for the case `exactly one page`: by default a 404 is an error. */
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

function toSqlite(): ConnectorTestsOptions {
  let database = new DatabaseSync(':memory:');
  return {
    reset() {
      database = new DatabaseSync(':memory:');
    },
    run: (service) =>
      sync(clientOf(service), {
        tenant,
        collections,
        mode: 'full',
        target: sqliteTarget(database),
        signal: service.signal,
      }),
    records: (name) => {
      const isNew =
        database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'accounting_record'").get() === undefined;
      if (isNew) return [];
      const rows = database.prepare('SELECT body FROM accounting_record WHERE collection = ?').all(name);
      return rows.map(({ body }) => JSON.parse(String(body)));
    },
  };
}

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
      sync(clientOf(service), {
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
      const client = clientOf(service);
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
    reset: () => database.exec('DROP SCHEMA IF EXISTS accounting CASCADE'),
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

/** Rows that failed or are in conflict reject the run. */
function byPush(): NonNullable<ConnectorTestsOptions['writes']> & { readonly reset: () => void } {
  let store = memoryStore();
  return {
    reset() {
      store = memoryStore();
    },
    async run(service: WritingRun) {
      // The option for the case `keys that are ignored`.
      const client = clientOf(service, { retry: { baseDelayMs: 100, creates: false }, timeoutMs: 2_000 });
      const { counts } = await push(client.products, {
        tenant,
        rows: [...service.products],
        key: 'productNumber',
        store,
        signal: service.signal,
      });
      if (counts.failed + counts.conflict > 0)
        throw new Error(`${counts.failed} failed, ${counts.conflict} in conflict`);
    },
  };
}

async function failuresOf(options: ConnectorTestsOptions): Promise<string[]> {
  const failures: string[] = [];
  for (const { run } of connectorTests({ seed: Number(process.env.SEED ?? 1), ...options })) {
    await run().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

describe.concurrent('every case is passed by', NO_HURRY, () => {
  test('a full sync to SQLite', async () => {
    expect(await failuresOf({ collections, ...toSqlite() })).toEqual([]);
  });

  test('a full sync to PostgreSQL', async () => {
    expect(await failuresOf({ collections, ...(await toPostgres()) })).toEqual([]);
  });

  test('a sync with onBatch', async () => {
    expect(await failuresOf({ collections, ...toMap() })).toEqual([]);
  });

  test('changes(), apart from deletions', async () => {
    expect(await failuresOf({ collections, ...byChanges(), expected: NO_DELETIONS })).toEqual([]);
  });

  test('a push', async () => {
    const { reset, ...writes } = byPush();
    expect(await failuresOf({ writes, reset })).toEqual([]);
  });
});
