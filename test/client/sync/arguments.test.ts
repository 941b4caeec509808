import { changes, createClient, memoryStore, push, reconcile, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';

type Call = (...args: unknown[]) => unknown;

const client = createClient(createSandbox().clientOptions);
const run = { store: memoryStore(), tenant: 'acme', onBatch: () => undefined };
const reconciled = { localIds: () => [], onDelete: () => undefined };

/** Calls as JavaScript may: also `changes`, which throws before the first `next` or at it. */
async function call(work: Call, args: readonly unknown[]): Promise<unknown> {
  return caught(
    (async () => {
      const result = (await work(...args)) as { next?: () => Promise<unknown> };
      await result?.next?.();
    })(),
  );
}

test.each<[string, string, Call, unknown[]]>([
  ['sync', 'options', sync as Call, [client]],
  ['sync', 'options', sync as Call, [client, null]],
  ['sync', 'client', sync as Call, [undefined, run]],
  ['changes', 'options', changes as Call, [client.accounts]],
  ['changes', 'collection', changes as Call, [undefined, { store: run.store, tenant: 'acme' }]],
  [
    'changes',
    'id.gt',
    changes as Call,
    [client.accounts, { store: run.store, tenant: 'acme', id: { gt: 5 } }],
  ],
  ['changes', 'id', changes as Call, [client.accounts, { store: run.store, tenant: 'acme', id: null }]],
  ['sync', 'localIds', sync as Call, [client, { ...run, ...reconciled, mode: 'full', localIds: [] }]],
  ['sync', 'client', sync as Call, [{}, run]],
  ['sync', 'collections', sync as Call, [client, { ...run, collections: 'accounts' }]],
  ['reconcile', 'localIds', reconcile as Call, [client.accounts, { ...reconciled, localIds: () => null }]],
  ['reconcile', 'options', reconcile as Call, [client.accounts]],
  ['reconcile', 'collection', reconcile as Call, [undefined, reconciled]],
  ['reconcile', 'localIds', reconcile as Call, [client.accounts, { ...reconciled, localIds: '12' }]],
  ['push', 'options', push as Call, [client.products]],
  ['push', 'products', push as Call, [undefined, { tenant: 'acme', rows: [], key: () => '1' }]],
])('%s names the argument that is missing or invalid: %s', async (_, argument, work, args) => {
  expect(await call(work, args)).toMatchObject({ code: 'invalid_input', argument });
});
