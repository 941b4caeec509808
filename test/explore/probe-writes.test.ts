import { createClient } from 'accounting-data-sdk';
import { type ProbeOptions, probe, type WriteFindings } from 'accounting-data-sdk/explore';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';

async function written(options: SandboxOptions, more: ProbeOptions = {}) {
  const sandbox = createSandbox({ records: { products: 20 }, ...options });
  const client = createClient(sandbox.clientOptions);
  const { writes, profile } = await probe(client, { collections: ['products'], write: true, ...more });
  return { sandbox, writes, profile };
}

const values = (writes: WriteFindings) =>
  Object.fromEntries(
    Object.entries(writes).map(([name, finding]) => [name, 'known' in finding ? finding.value : finding]),
  );

describe('a probe that writes', () => {
  test('creates, updates and deletes a product and leaves nothing behind', async () => {
    const { sandbox, writes } = await written({});
    expect(values(writes)).toMatchObject({
      createStatus: 201,
      replay: 'stored',
      differentBody: 'rejected',
      visibleAfterMs: 0,
      updateStatus: 200,
      patchSemantics: true,
      moneyDigits: 4,
      unknownFields: 'ignored',
      deleteStatus: 204,
      deleteAgain: 'not_found',
      leftBehind: [],
    });
    expect(sandbox.store.products.count).toBe(20);
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'update', 'delete']);
  });

  test('measures how late a write becomes visible', async () => {
    const { writes, profile } = await written({ commitDelayMs: 300 });
    expect(writes.visibleAfterMs.value).toBeGreaterThanOrEqual(250);
    // A short measurement on a quiet service is no reason to look back less than the default.
    expect(profile.find(({ of }) => of === 'sync')).toMatchObject({
      name: 'lookbackMs',
      value: 120_000,
      reason: expect.stringContaining('look'),
    });
  });

  test('names the fields that a service requires, and takes them from the caller', async () => {
    const rejected = await written({ requiredFields: ['productNumber', 'name'] });
    expect(values(rejected.writes)).toMatchObject({
      requiredFields: ['productNumber'],
      createStatus: undefined,
    });
    expect(rejected.sandbox.journal).toEqual([]);

    const draft = { productNumber: 'P-1' };
    const given = await written({ requiredFields: ['productNumber', 'name'] }, { write: { draft } });
    expect(given.writes.createStatus.value).toBe(201);
  });

  test('deletes its product even if it is stopped in the middle', async () => {
    const sandbox = createSandbox({ records: { products: 20 } });
    const stop = new AbortController();
    const running = probe(createClient(sandbox.clientOptions), {
      collections: ['products'],
      write: true,
      signal: stop.signal,
      onProgress: () => sandbox.store.products.count === 21 && stop.abort('enough'),
    });
    await expect(running).rejects.toBe('enough');
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'delete']);
    expect(sandbox.store.products.count).toBe(20);
  });

  test('finds and deletes a product whose response was lost with every attempt', async () => {
    const sandbox = createSandbox({ records: { products: 20 } });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 2 });
    const client = createClient({ ...sandbox.clientOptions, retry: { maxAttempts: 2, baseDelayMs: 1 } });
    const { writes } = await probe(client, { collections: ['products'], write: true });
    expect(writes.createStatus).toEqual({
      known: false,
      reason: 'the create returned connection_failed',
    });
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'delete']);
    expect([writes.leftBehind, sandbox.store.products.count]).toEqual([[], 20]);
  });

  test.for([[0], [9]])(
    'deletes a product that it was stopped at making, or says that it is left',
    async ([failures]) => {
      const sandbox = createSandbox({ records: { products: 20 } });
      const stop = new AbortController();
      const left: string[] = [];
      const stopSoon = () => {
        setTimeout(() => stop.abort('enough'));
        return true;
      };
      sandbox.faults.add({ kind: 'stall' }, { method: 'POST', when: stopSoon });
      if (failures)
        sandbox.faults.add({ kind: 'status', status: 403 }, { method: 'DELETE', times: failures });
      const running = probe(createClient(sandbox.clientOptions), {
        collections: ['products'],
        write: true,
        signal: stop.signal,
        onLeftBehind: (ids) => left.push(...ids),
      });
      await expect(running).rejects.toBe('enough');
      expect(sandbox.journal[0]?.action).toBe('create');
      const more = sandbox.store.products.ids().slice(20);
      expect(left).toEqual(more);
      expect(more.length).toBe(failures ? 1 : 0);
    },
  );

  test('learns nothing from requests that got no response', async () => {
    const sandbox = createSandbox({ records: { products: 20 } });
    const reset = { kind: 'connection-reset' } as const;
    sandbox.faults.add(reset, { method: 'POST', skip: 1, times: 2 });
    sandbox.faults.add(reset, { method: 'DELETE', skip: 1, times: 1 });
    const client = createClient(sandbox.clientOptions);
    const { writes } = await probe(client, { collections: ['products'], write: true });
    const { createStatus, replay, replayType, differentBody, deleteStatus, deleteAgain } = writes;
    expect([createStatus.value, deleteStatus.value]).toEqual([201, 204]);
    for (const finding of [replay, replayType, differentBody, deleteAgain])
      expect(finding).toEqual({ known: false, reason: expect.stringContaining('connection_failed') });
    expect(sandbox.store.products.count).toBe(20);
  });

  test('names what it could not delete', async () => {
    const sandbox = createSandbox({ records: { products: 20 } });
    sandbox.faults.add({ kind: 'status', status: 403, type: 'forbidden' }, { method: 'DELETE', times: 9 });
    const { writes } = await probe(createClient(sandbox.clientOptions), {
      collections: ['products'],
      write: true,
    });
    expect(writes.deleteStatus.value).toBe(undefined);
    expect(writes.leftBehind).toEqual([sandbox.store.products.ids().at(-1)]);
  });

  test('creates nothing with a key that may not write', async () => {
    const sandbox = createSandbox({ records: { products: 20 } });
    const client = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.readOnly });
    const { writes } = await probe(client, { collections: ['products'], write: true });
    expect(writes.createStatus).toEqual({
      known: false,
      reason: 'the create returned scope_required',
    });
  });
});
