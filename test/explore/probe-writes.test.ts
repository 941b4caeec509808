import { type Client, createClient } from 'accounting-data-sdk';
import { type ProbeOptions, probe, type WriteFindings } from 'accounting-data-sdk/explore';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { runUntilSettled, useVirtualClock } from '../support/virtual-clock.ts';

/** A client for a sandbox with 20 products. */
function twentyProducts(options: SandboxOptions = {}) {
  const sandbox = createSandbox({ records: { products: 20 }, ...options });
  return { sandbox, client: createClient(sandbox.clientOptions) };
}

const probeWrites = (client: Client, options: ProbeOptions = {}) =>
  probe(client, { collections: ['products'], write: true, ...options });

const values = (writes: WriteFindings) =>
  Object.fromEntries(
    Object.entries(writes).map(([name, finding]) => [name, 'known' in finding ? finding.value : finding]),
  );

const unknownBecause = (reason: string) => ({ known: false, reason: expect.stringContaining(reason) });

describe('a probe that writes', () => {
  test('names the fields that a service requires, and takes them from the caller', async () => {
    const { sandbox, client } = twentyProducts({ requiredFields: ['productNumber', 'name'] });
    const rejected = await probeWrites(client);
    const expected = { requiredFields: ['productNumber'], createStatus: undefined };
    expect(values(rejected.writes)).toMatchObject(expected);
    expect(sandbox.journal).toEqual([]);

    const given = await probeWrites(client, { write: { draft: { productNumber: 'P-1' } } });
    expect(given.writes.createStatus.value).toBe(201);
  });

  test('deletes its product even if it is stopped in the middle', async () => {
    const { sandbox, client } = twentyProducts();
    const stop = new AbortController();
    const running = probeWrites(client, {
      signal: stop.signal,
      onProgress: () => sandbox.store.products.count === 21 && stop.abort('enough'),
    });
    await expect(running).rejects.toBe('enough');
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'delete']);
    expect(sandbox.store.products.count).toBe(20);
  });

  test('finds and deletes a product whose response was lost with every attempt', async () => {
    const { sandbox, client } = twentyProducts();
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 2 });
    const retry = { maxAttempts: 2, baseDelayMs: 1 };
    const { writes } = await probeWrites(client.withOptions({ retry }));
    expect(writes.createStatus).toEqual(unknownBecause('connection_failed'));
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'delete']);
    expect([writes.leftBehind, sandbox.store.products.count]).toEqual([[], 20]);
  });

  test.for([[0], [9]])(
    'stopped during a create, deletes the product, or reports it as left behind after %i failed deletes',
    async ([failures]) => {
      const { sandbox, client } = twentyProducts();
      const stop = new AbortController();
      const left: string[] = [];
      const stopSoon = () => {
        setTimeout(() => stop.abort('enough'));
        return true;
      };
      sandbox.faults.add({ kind: 'stall' }, { method: 'POST', when: stopSoon, times: 1 });
      if (failures)
        sandbox.faults.add({ kind: 'status', status: 403 }, { method: 'DELETE', times: failures });
      const onLeftBehind = (ids: readonly string[]) => left.push(...ids);
      const running = probeWrites(client, { signal: stop.signal, onLeftBehind });
      await expect(running).rejects.toBe('enough');
      expect(sandbox.journal[0]?.action).toBe('create');
      const more = sandbox.store.products.ids().slice(20);
      expect(left).toEqual(more);
      expect(more.length).toBe(failures ? 1 : 0);
    },
  );
});

describe('a probe of writes that become visible late', () => {
  useVirtualClock();

  test('advises ten times as long a lookback, and a wait of push, if that is longer than the usual ones', async () => {
    const probing = probeWrites(twentyProducts({ commitDelayMs: 14_000 }).client);
    const report = await runUntilSettled(probing);
    expect(report.sync.lookbackMs).toBeGreaterThanOrEqual(140_000);
    expect(report.advice).toContainEqual(expect.stringMatching(/pass visibleAfterMs: 1\d\d000 to push/));
  });

  test('measures how late, and keeps the usual waits if they are long enough', async () => {
    const { client } = twentyProducts({ commitDelayMs: 1000 });
    const { writes, profile, advice } = await runUntilSettled(probeWrites(client));
    expect(writes.visibleAfterMs.value).toBeGreaterThanOrEqual(900);
    expect(profile.filter(({ of }) => of === 'sync')).toEqual([]);
    expect(advice).toEqual([]);
  });
});
