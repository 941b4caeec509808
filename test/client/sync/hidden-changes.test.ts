import { changes, createClient, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';

const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

test('a sync finds the changes behind a page of hidden ones, once the service has hidden rows', async () => {
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
  await sync(client, run);
  expect(copy.size).toBe(99);

  sandbox.clock.advance(60_000);
  for (const id of ids(101, 140)) sandbox.store.accounts.insert({ id });
  await sync(client, run);
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

test('an outage clock waits between two requests, however small maxWaitMs is', async () => {
  vi.useFakeTimers();
  await using sandbox = createSandbox({ records: { accounts: 1 }, rateLimit: false });
  sandbox.faults.add({ kind: 'status', status: 502 }, { times: Number.POSITIVE_INFINITY });
  const client = createClient({ ...sandbox.clientOptions, maxWaitMs: 0 });
  const options = {
    store: memoryStore(),
    tenant: 'acme',
    maxWaitMs: 0,
    maxOutageMs: 60_000,
    retry: { maxAttempts: 1 },
  };
  const end = sync(client, { ...options, collections: ['accounts'], onBatch: () => {} }).catch(
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(120_000);
  vi.useRealTimers();
  expect(await end).toMatchObject({ code: 'sync_failed' });
  expect(sandbox.requests.length).toBeLessThan(40);
});

test('an error of a create that must not be repeated is not retryable', async () => {
  await using sandbox = createSandbox();
  const client = createClient({ ...sandbox.clientOptions, retry: { creates: false } });
  sandbox.faults.next({ kind: 'lost-response', committed: true });
  await expect(client.products.create({ name: 'Desk' })).rejects.toMatchObject({
    outcome: 'unknown',
    retryable: false,
  });
});
