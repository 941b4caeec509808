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
import { type ConnectorRun, type ConnectorTestsOptions, connectorTests } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { writeCodeBlocks } from '../../package/docs/code-blocks.ts';
import { NO_HURRY } from '../../support/seeds.ts';
import { failuresOf } from './failures.ts';

const tenant = 'acme';
const SOME: readonly CollectionName[] = ['accounts', 'products'];

/** Cases that depend on where records go. `SOAK_CONNECTORS=1` runs every case with every connector. */
const only = (...names: string[]) => ({
  lanes: 1,
  names: process.env.SOAK_CONNECTORS === undefined ? names : undefined,
});

/** A connector whose copy is a Map for each collection. */
function toMap(
  collections: readonly CollectionName[],
  read: (service: ConnectorRun, copy: ReturnType<typeof copyOf>) => Promise<unknown>,
): ConnectorTestsOptions {
  let copy = copyOf();
  return {
    collections,
    records: (name) => [...copy.of(name).values()],
    reset() {
      copy = copyOf();
    },
    run: (service) => read(service, copy),
  };
}

function copyOf() {
  const records = new Map(collectionNames.map((name) => [name, new Map<string, object>()]));
  return {
    store: memoryStore(),
    of: (name: CollectionName) => records.get(name) ?? new Map<string, object>(),
  };
}

/** With short waits. By default, a 404 after the last page and a name that is a number are errors. */
const clientOf = ({ baseUrl, apiKey }: ConnectorRun) =>
  createClient({
    baseUrl,
    apiKey,
    retry: { baseDelayMs: 100 },
    afterLastPage: 'not_found',
    validation: 'off',
  });

/** Batches, and deletions by `localIds` and `onDelete`. */
const byOnBatch = (collections: readonly CollectionName[]) =>
  toMap(collections, (service, { store, of }) =>
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
  );

/** `changes()`, one collection after the other: a 403 of one must not keep the others from their run. */
const byChanges = (): ConnectorTestsOptions => ({
  ...toMap(SOME, async (service, { store, of }) => {
    const client = clientOf(service);
    const failed: unknown[] = [];
    for (const name of SOME) {
      try {
        for await (const { records } of changes(client[name], { tenant, store, signal: service.signal }))
          for (const record of records) of(name).set(record.id, record);
      } catch (error) {
        if (!isAccountingError(error, 'scope_required')) throw error;
        failed.push(error);
      }
    }
    if (failed.length > 0) throw failed[0];
  }),
  expected: { 'deleted records': 'a list of changes shows no deletions' },
});

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

// At the same time and in many lanes, because they mostly wait.
describe.concurrent('every case is passed by', NO_HURRY, () => {
  test.each<[connector: string, ...how: Parameters<typeof failuresOf>]>([
    ['a push, as in the guide', (lane) => ofTheGuide('push(', lane), { lanes: 9 }],
    ['a full sync to SQLite, as in the guide', (lane) => ofTheGuide('sqliteTarget(', lane), { lanes: 6 }],
    [
      'sync by onBatch',
      () => connectorTests(byOnBatch(SOME)),
      only('deleted records', 'killed and started again'),
    ],
    ['a sync of all collections', () => connectorTests(byOnBatch(collectionNames)), only('changed records')],
    [
      'changes(), apart from deletions',
      () => connectorTests(byChanges()),
      only('several changes in one second', 'deleted records', 'one forbidden collection'),
    ],
    ['a push with every default', () => connectorTests(pushing()), only('changed rows')],
  ])('%s', async (_, ...how) => {
    expect(await failuresOf(...how)).toEqual(new Map());
  });
});
