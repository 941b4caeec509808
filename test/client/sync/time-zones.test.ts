import { changes, sync } from 'accounting-data-sdk';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { loggerOfWarnings } from '../../support/warnings.ts';
import { clientOf, collect, HOUR_MS, nothing, setUpSync } from './set-up.ts';

const START = '2026-01-31T15:00:00Z';

/** A service in New York whose date filter ignores offsets. Products show timestamps, accounts do not. */
function inNewYork(options: SandboxOptions = {}) {
  const {
    sandbox,
    states: store,
    run,
  } = setUpSync({
    timeZone: 'America/New_York',
    dateFilter: 'local',
    timestamps: 'offset',
    clock: START,
    ...options,
  });
  const { logger, warnings } = loggerOfWarnings();
  const client = clientOf(sandbox, { logger });
  return {
    sandbox,
    client,
    logger,
    warnings,
    store,
    run: { ...run, lookbackMs: 0 },
    bounds: () => sandbox.requests.flatMap(({ query }) => query.updatedSince ?? []),
    /** The offsets of the bounds, each once. */
    offsets: () => [...new Set(sandbox.requests.flatMap(({ query }) => query.updatedSince?.slice(-6) ?? []))],
  };
}

describe('the bound of an incremental run is written', () => {
  test('in the lowest offset that the collection showed, and in -12:00 if it showed none', async () => {
    const { sandbox, client, run, bounds } = inNewYork();
    sandbox.store.products.insert({ id: '1' });
    sandbox.store.accounts.insert({ id: '1' });
    const options = { ...run, collections: ['accounts', 'products'] as const, onBatch: nothing };
    await sync(client, options);
    sandbox.clock.advance(HOUR_MS);
    await sync(client, options);
    expect(new Set(bounds())).toEqual(new Set(['2026-01-31T03:00:00-12:00', '2026-01-31T10:00:00-05:00']));
  });

  test('for the offset of the service under a schema that drops the timestamps', async () => {
    const { sandbox, run, offsets } = inNewYork({ timestampsEverywhere: true });
    const client = clientOf(sandbox, { schemas: { accounts: z.object({ id: z.string() }) } });
    sandbox.store.accounts.insert({ id: '1' });
    for (let n = 0; n < 2; n++) await collect(changes(client.accounts, run));
    expect(offsets()).toEqual(['-05:00']);
  });

  test('for the offset of the last page that showed one', async () => {
    const { sandbox, client, run, offsets } = inNewYork({ clock: '2026-07-01T15:00:00Z' });
    const read = () => collect(changes(client.products, run));
    sandbox.store.products.insert({ id: '1' });
    for (let n = 0; n < 3; n++) await read();
    sandbox.clock.set('2026-11-30T15:00:00Z');
    sandbox.store.products.insert({ id: '2' });
    for (let n = 0; n < 3; n++) await read();
    expect(offsets()).toEqual(['-04:00', '-05:00']);
    sandbox.clock.set('2027-07-01T15:00:00Z');
    sandbox.store.products.insert({ id: '3' });
    for (let n = 0; n < 3; n++) await read();
    expect(offsets()).toEqual(['-04:00', '-05:00']);
    expect(sandbox.requests.at(-1)?.query.updatedSince).toMatch(/-04:00$/);
  });
});

describe('a service that rejects a bound with an offset', () => {
  test.each([400, 422])(
    'with %i gets the bound in Z once more, with a warning, and from then on',
    async (status) => {
      const { sandbox, run, logger, warnings } = inNewYork({ dateFilter: 'utc' });
      const bounds: string[] = [];
      const client = clientOf(sandbox, {
        logger,
        fetch: async (...request) => {
          const bound = new URL(request[0]).searchParams.get('updatedSince');
          if (bound !== null) bounds.push(bound);
          if (bound?.endsWith('Z') !== false) return sandbox.fetch(...request);
          return Response.json({ title: 'updatedSince', status }, { status });
        },
      });
      sandbox.store.products.insert({ id: '1' });
      await collect(changes(client.products, run));
      sandbox.clock.advance(HOUR_MS);
      sandbox.store.products.update('1', { name: 'Desk' });
      await expect(collect(changes(client.products, run))).resolves.toMatchObject({ records: 1 });
      await collect(changes(client.products, run));
      expect(bounds[0]).toMatch(/-05:00$/);
      expect(bounds.slice(1).every((bound) => bound.endsWith('Z'))).toBe(true);
      expect(warnings.filter((text) => text.includes('was rejected'))).toHaveLength(1);
    },
  );
});
