import { type Client, createClient } from 'accounting-data-sdk';
import { type ProbeOptions, probe } from 'accounting-data-sdk/explore';
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

describe('a probe that writes', () => {
  test('names the fields that a service requires, and takes them from the caller', async () => {
    const { sandbox, client } = twentyProducts({ requiredFields: ['productNumber', 'name'] });
    const rejected = await probeWrites(client);
    expect(rejected.writes.requiredFields.value).toEqual(['productNumber']);
    expect(rejected.sandbox.requiredFields).toEqual(['productNumber']);
    expect(rejected.advice).toContain(
      'Nothing is known of writes: the create failed: validation_failed. Pass a draft (--draft) with productNumber.',
    );
    expect(sandbox.journal).toEqual([]);

    const given = await probeWrites(client, { write: { draft: { productNumber: 'P-1' } } });
    expect(given.writes.createStatus.value).toBe(201);
    expect(given.advice.join()).not.toContain('known of writes');
  });

  test('advises that nothing is known of writes if the key may not create', async () => {
    const { sandbox } = twentyProducts();
    const client = createClient({ ...sandbox.clientOptions, apiKey: sandbox.keys.readOnly });
    const { advice } = await probeWrites(client);
    expect(advice).toContain('Nothing is known of writes: the create failed: scope_required.');
  });

  test('finds and deletes a product whose response was lost with every attempt', async () => {
    const { sandbox, client } = twentyProducts();
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 2 });
    const { writes } = await probeWrites(client.withOptions({ retry: { maxAttempts: 2, baseDelayMs: 1 } }));
    expect(writes.createStatus).toMatchObject({ reason: expect.stringContaining('connection_failed') });
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'delete']);
    expect([writes.leftBehind, sandbox.store.products.count]).toEqual([[], 20]);
  });

  // The second one is of the service, but it was cut.
  test.each(['<h1>Created</h1>', '{"id":"1'])(
    'finds and deletes a product after the response %s',
    async (body) => {
      const { sandbox, client } = twentyProducts();
      sandbox.faults.add({ kind: 'rewrite', body }, { method: 'POST', times: 1 });
      const { writes } = await probeWrites(client);
      expect(writes.createStatus).toMatchObject({ reason: 'the create failed: unexpected_response' });
      expect([writes.leftBehind, sandbox.store.products.count]).toEqual([[], 20]);
    },
  );

  test.each([
    [503, undefined, undefined],
    [409, 'conflict', 'rejected'],
  ])('learns from a %i to a key that was sent before: %s, %s', async (status, replay, differentBody) => {
    const { sandbox, client } = twentyProducts();
    sandbox.faults.add({ kind: 'status', status }, { method: 'POST', skip: 1, times: 2 });
    const { writes } = await probeWrites(client);
    expect([writes.replay.value, writes.differentBody.value]).toEqual([replay, differentBody]);
    expect([writes.leftBehind, sandbox.store.products.count]).toEqual([[], 20]);
  });

  test('leaves nothing behind if another user deletes its product', async () => {
    const { sandbox, client } = twentyProducts({ unknownFields: 'store' });
    const kept = await probeWrites(client);
    expect(kept.writes.unknownFields.value).toBe('kept');
    sandbox.onRequest(({ method }) => method === 'PATCH' && sandbox.store.products.delete('22'));
    const { writes } = await probeWrites(client);
    expect(writes.updateStatus.known || writes.unknownFields.known).toBe(true);
    expect([writes.deleteStatus.known, writes.leftBehind]).toEqual([false, []]);
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

describe('a probe of writes', () => {
  useVirtualClock();

  test.each<[SandboxOptions, found: number, listed: number | undefined]>([
    [{ newRecords: { listedAfterMs: 6_000 } }, 0, 7_750],
    [{ newRecords: { foundAfterMs: 3_000 } }, 3_750, 0],
    [{ newRecords: { listedAfterMs: 600, foundAfterMs: 2_000 } }, 3_750, 750],
    [{ newRecords: { listedAfterMs: 6_000 }, ids: { form: 'uuid' }, textIdBounds: 'ignore' }, 0, 7_750],
    [
      {
        ...{ newRecords: { listedAfterMs: 6_000 }, ids: { form: 'uuid' }, textIdBounds: 'ignore' },
        ...{ timeZone: 'America/New_York', dateFilter: 'local', timestamps: 'offset' },
      },
      0,
      7_750,
    ],
    [{ newRecords: { listedAfterMs: 60_000 } }, 0, undefined],
    [
      { newRecords: { listedAfterMs: 6_000 }, filters: { id: 'ignore', updatedSince: 'reject' } },
      0,
      undefined,
    ],
  ])('%j says when a new record is found and when it is listed', async (options, found, listed) => {
    const { client, sandbox: service } = twentyProducts(options);
    // A list of changes has others, too.
    service.store.products.update(service.store.products.ids()[0] ?? '', { name: 'Changed' });
    const { writes, sandbox } = await runUntilSettled(probeWrites(client));
    const near = (ms: number | undefined) => (ms === undefined ? undefined : expect.closeTo(ms, -2));
    expect([writes.foundAfterMs.value, writes.listedAfterMs.value]).toEqual([near(found), near(listed)]);
    const canBeListed = options.filters === undefined;
    const last = listed === undefined ? undefined : Math.max(found, listed);
    expect(writes.visibleAfterMs.value).toEqual(canBeListed ? near(last) : near(found));
    const seconds = (ms: number | undefined) => ms && Math.floor(ms / 1_000) * 1_000;
    expect([sandbox.newRecords?.foundAfterMs, sandbox.newRecords?.listedAfterMs]).toEqual(
      [found, listed].map(seconds),
    );
  });

  test('stopped in the last wait for a new record, ends at once and deletes it', async () => {
    const { client, sandbox } = twentyProducts({ newRecords: { listedAfterMs: 60_000 } });
    const stop = new AbortController();
    const beganAt = Date.now();
    setTimeout(() => stop.abort('enough'), 10_000);
    await expect(runUntilSettled(probeWrites(client, { signal: stop.signal }))).rejects.toBe('enough');
    expect(Date.now() - beganAt).toBeLessThan(11_000);
    expect(sandbox.journal.map(({ action }) => action)).toEqual(['create', 'delete']);
  });

  test.each([
    [14_000, true],
    [1_000, false],
  ])('that take %i ms advises a longer lookback and a wait of push: %s', async (commitDelayMs, isAdvised) => {
    const { client } = twentyProducts({ commitDelayMs });
    const { sync, writes, advice } = await runUntilSettled(probeWrites(client));
    expect(writes.visibleAfterMs.value).toBeGreaterThanOrEqual(0.9 * commitDelayMs);
    const wait = expect.stringMatching(/shown after 15\d{3} ms: pass visibleAfterMs: 15\d000 to push/);
    expect(advice).toEqual(isAdvised ? [wait] : []);
    expect(sync.lookbackMs ?? 0).toBeGreaterThanOrEqual(isAdvised ? 10 * commitDelayMs : 0);
    expect(Object.keys(sync)).toEqual(isAdvised ? ['lookbackMs'] : []);
  });
});
