import { changes, push, sync } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { nothing, setUpSync } from './set-up.ts';

type Call = (...args: unknown[]) => unknown;

const { client, sandbox, run } = setUpSync();
const { accounts } = client;
const onBatch = nothing;
const list = accounts.list.bind(accounts);
const target = { open: () => expect.unreachable('a target was opened') };
const rows = { tenant: 'acme', rows: [], key: () => '1' };

/** Calls of a function with options of which some are wrong. */
const callsOf =
  (work: unknown, subject: object, options: object) =>
  (wrong: object): [Call, ...unknown[]] => [work as Call, subject, { ...options, ...wrong }];
const syncWith = callsOf(sync, client, { ...run, onBatch });
const changesWith = callsOf(changes, accounts, run);
const targetWith = callsOf(sync, client, { tenant: 'acme', target });

// The kinds of options are tested in client/options.
test.each<[string, string, [Call, ...unknown[]]]>([
  ['sync', 'client', [sync as Call, undefined, { ...run, onBatch }]],
  ['sync', 'client', [sync as Call, null, { ...run, onBatch }]],
  ['sync', 'client', [sync as Call, { accounts: { segment: 'accounts', list } }, run]],
  ['sync', 'store', syncWith({ store: undefined })],
  ['sync', 'tenant', syncWith({ tenant: 'a:b' })],
  ['sync', 'onBatch', syncWith({ onBatch: undefined })],
  ['sync', 'collections', syncWith({ collections: ['accounts', 'unknown'] })],
  ['sync', 'stopAfter', syncWith({ stopAfter: {} })],
  ['sync', 'tenant', syncWith({ tenant: undefined })],
  ['sync', 'localIds', syncWith({ mode: 'full', onDelete: nothing })],
  ['sync', 'onDelete', syncWith({ mode: 'full', localIds: () => [] })],
  ['sync', 'store', targetWith({ store: run.store })],
  ['changes', 'collection', [changes as Call, undefined, run]],
  ['changes', 'name', changesWith({ name: 'no:colon' })],
  ['changes', 'prefix', changesWith({ prefix: '' })],
  ['changes', 'id.gt', changesWith({ id: { gt: 5 } })],
  ['changes', 'headers.x-auth-token', changesWith({ headers: { 'X-Auth-Token': 'k' } })],
  ['changes', 'updatedSince', changesWith({ updatedSince: '2026-01-05T08:00:00' })],
  ['push', 'products', [push as Call, accounts, rows]],
])('%s names the argument that is missing or invalid and sends nothing: %s %#', async (_, argument, call) => {
  const [work, ...args] = call;
  // Also `changes`, which throws before the first `next` or at it.
  const result = async () => {
    const started = (await work(...args)) as { next?: () => Promise<unknown> } | undefined;
    await started?.next?.();
  };
  expect(await caught(result())).toMatchObject({ code: 'invalid_input', argument });
  expect(sandbox.count()).toBe(0);
});

test('a sync of changes does not call localIds, so that one call serves both modes', async () => {
  const localIds = () => expect.unreachable('localIds was called');
  await sync(client, { ...run, tenant: 'both', onBatch, localIds, onDelete: nothing });
  expect(await sync(client, { ...run, tenant: 'both', onBatch, localIds, onDelete: nothing })).toMatchObject({
    records: 0,
  });
});
