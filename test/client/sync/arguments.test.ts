import { changes, push, sync } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { nothing, setUpSync } from './set-up.ts';

type Call = (...args: unknown[]) => unknown;

const { client, sandbox, run } = setUpSync();
const { accounts } = client;
const onBatch = nothing;
const deletions = { localIds: () => [], onDelete: nothing };
const full = { ...run, onBatch, mode: 'full', ...deletions };
const list = accounts.list.bind(accounts);
const target = { open: () => expect.unreachable('a target was opened') };

/** Calls of a function with options of which some are wrong. */
const callsOf =
  (work: unknown, subject: object, options: object) =>
  (wrong: object): [Call, ...unknown[]] => [work as Call, subject, { ...options, ...wrong }];
const syncWith = callsOf(sync, client, { ...run, onBatch });
const fullSyncWith = callsOf(sync, client, full);
const changesWith = callsOf(changes, accounts, run);
const targetWith = callsOf(sync, client, { tenant: 'acme', target });

test.each<[string, string, [Call, ...unknown[]]]>([
  ['sync', 'client', [sync as Call, undefined, { ...run, onBatch }]],
  ['sync', 'client', [sync as Call, {}, { ...run, onBatch }]],
  ['sync', 'options', [sync as Call, client]],
  ['sync', 'options', [sync as Call, client, null]],
  ['sync', 'store', syncWith({ store: undefined })],
  ['sync', 'tenant', syncWith({ tenant: 'a:b' })],
  ['sync', 'onBatch', syncWith({ onBatch: undefined })],
  ['sync', 'onBatch', syncWith({ onBatch: 'no' })],
  ['sync', 'collections', syncWith({ collections: 'accounts' })],
  ['sync', 'collections', syncWith({ collections: ['accounts', 'unknown'] })],
  ['sync', 'collections', syncWith({ collections: ['toString'] })],
  ['sync', 'collections', syncWith({ collections: ['rateLimit'] })],
  ['sync', 'concurrency', syncWith({ concurrency: 0 })],
  ['sync', 'concurrency', syncWith({ concurrency: '2' })],
  ['sync', 'lookbackMs', syncWith({ lookbackMs: Number.POSITIVE_INFINITY })],
  ['sync', 'onForbidden', syncWith({ onForbidden: 'ignore' })],
  ['sync', 'stopAfter', syncWith({ stopAfter: {} })],
  ['sync', 'stopAfter.request', syncWith({ stopAfter: { request: 1 } })],
  ['sync', 'stopAfter.ms', syncWith({ stopAfter: { ms: 0 } })],
  ['sync', 'stopAfter.requests', syncWith({ stopAfter: { requests: 1.5 } })],
  ['sync', 'localIds', syncWith(deletions)],
  ['sync', 'localIds', fullSyncWith({ localIds: undefined })],
  ['sync', 'localIds', fullSyncWith({ localIds: [] })],
  ['sync', 'onDelete', fullSyncWith({ onDelete: undefined })],
  ['sync', 'maxCandidates', fullSyncWith({ maxCandidates: -1 })],
  ['sync', 'client', [sync as Call, { accounts: { segment: 'accounts', list } }, run]],
  ['sync', 'collections', [sync as Call, { accounts: { list } }, { ...run, collections: ['accounts'] }]],
  ['sync', 'target', targetWith({ target: {} })],
  ['sync', 'target', targetWith({ target: { open: () => ({}) } })],
  ['sync', 'tenant', targetWith({ tenant: '../acme' })],
  ['sync', 'store', targetWith({ store: run.store })],
  ['sync', 'onBatch', targetWith({ onBatch })],
  ['sync', 'localIds', targetWith({ localIds: () => [] })],
  ['sync', 'onDelete', targetWith({ onDelete: nothing })],
  ['changes', 'collection', [changes as Call, undefined, run]],
  ['changes', 'collection', [changes as Call, {}, run]],
  ['changes', 'options', [changes as Call, accounts]],
  ['changes', 'collection', [changes as Call, { list, segment: 'accounts' }, run]],
  ['changes', 'name', changesWith({ name: 'no:colon' })],
  ['changes', 'store', changesWith({ store: {} })],
  ['changes', 'tenant', changesWith({ tenant: 'a company' })],
  ['changes', 'prefix', changesWith({ prefix: '' })],
  ['changes', 'mode', changesWith({ mode: 'some' })],
  ['changes', 'id.gt', changesWith({ id: { gt: 5 } })],
  ['changes', 'lookbackMs', changesWith({ lookbackMs: -1 })],
  ['changes', 'timeoutMs', changesWith({ timeoutMs: 0 })],
  ['changes', 'signal', changesWith({ signal: {} })],
  ['changes', 'headers.x-auth-token', changesWith({ headers: { 'X-Auth-Token': 'k' } })],
  ['changes', 'updatedSince', changesWith({ updatedSince: 'yesterday' })],
  ['changes', 'updatedSince', changesWith({ updatedSince: '2026-01-05T08:00:00' })],
  ['changes', 'updatedSince', changesWith({ updatedSince: new Date(Number.NaN) })],
  ['changes', 'updatedSince', changesWith({ updatedSince: new Date('+010000-01-01T00:00:00Z') })],
  ['changes', 'updatedSince', changesWith({ updatedSince: 2026 })],
  ['push', 'options', [push as Call, client.products]],
  ['push', 'products', [push as Call, undefined, { tenant: 'acme', rows: [], key: () => '1' }]],
  ['push', 'products', [push as Call, accounts, { tenant: 'acme', rows: [], key: () => '1' }]],
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
