import { changes, createClient, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

test('a run that lists no change on a service that hides records says `likely`, and a full run finds the changes', async () => {
  await using sandbox = createSandbox({
    records: { accounts: 100 },
    timestampsEverywhere: true,
    hiddenRecords: ['45', ...ids(101, 130)],
  });
  const client = createClient(sandbox.clientOptions);
  const copy = new Set<string>();
  const run = {
    store: memoryStore(),
    tenant: 'acme',
    lookbackMs: 0,
    collections: ['accounts'] as const,
    onBatch: ({ records }: { records: readonly { id: string }[] }) => {
      for (const { id } of records) copy.add(id);
    },
  };
  const first = await sync(client, run);
  expect(copy.size).toBe(99);
  expect(first.collections[0]?.complete).toBe('certain');

  sandbox.clock.advance(60_000);
  for (const id of ids(101, 140)) sandbox.store.accounts.insert({ id });
  sandbox.clearLogs();
  const second = await sync(client, run);
  expect(sandbox.count()).toBe(1);
  expect(second.collections[0]?.complete).toBe('likely');

  await sync(client, { ...run, mode: 'full' });
  expect([...copy].filter((id) => Number(id) > 100)).toEqual(ids(131, 140));
});

test('a read finds what follows five hidden pages below the largest id of its type', async () => {
  const top = 2_147_483_647;
  await using sandbox = createSandbox({
    idColumn: 'int4',
    hiddenRecords: [String(top - 670), ...ids(top - 200, top - 51)],
  });
  for (const id of ids(top - 720, top)) sandbox.store.accounts.insert({ id });
  const batches = changes(createClient(sandbox.clientOptions).accounts, {
    store: memoryStore(),
    tenant: 'acme',
  });
  const seen = new Set<string>();
  let next = await batches.next();
  for (; !next.done; next = await batches.next()) for (const { id } of next.value.records) seen.add(id);
  expect([seen.size, next.value.complete]).toEqual([721 - 1 - 150, 'likely']);
});
