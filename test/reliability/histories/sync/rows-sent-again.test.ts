// How often a loop of syncs gets each change, as the guide to syncing says.

import { createClient, sync } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

const RUNS = 360;
/** The runs before which a product is created. */
const CREATED = [7, 67] as const;

/** How often each of them comes in three hours of syncs every 30 seconds. */
async function deliveries(options: SandboxOptions): Promise<readonly (number | undefined)[]> {
  const sandbox = createSandbox({ ...options, clock: '2026-06-01T00:00:00Z', rateLimit: false, records: 0 });
  const client = createClient(sandbox.clientOptions);
  const [store, times] = [new Map<string, string>(), new Map<string, number>()];
  for (let run = 0; run < RUNS; run++) {
    if (CREATED.some((at) => at === run)) sandbox.store.products.insert({ id: String(run), name: 'Desk' });
    await sync(client, {
      store,
      tenant: 'acme',
      collections: ['products'],
      onBatch: ({ records }) => {
        for (const { id } of records) times.set(id, (times.get(id) ?? 0) + 1);
      },
    });
    sandbox.clock.advance(30_000);
    sandbox.clearLogs();
  }
  return CREATED.map((run) => times.get(String(run)));
}

const NEW_YORK = 'America/New_York';

test.each<SandboxOptions>([
  { timeZone: 'UTC', dateFilter: 'utc', timestamps: 'seconds' },
  { timeZone: NEW_YORK, dateFilter: 'utc', timestamps: 'offset' },
  { timeZone: NEW_YORK, dateFilter: 'local', timestamps: 'offset' },
  { timeZone: NEW_YORK, dateFilter: 'stored', timestamps: 'offset' },
])('a loop of syncs every 30 seconds gets a change eight times: %j', async (options) => {
  expect(await deliveries(options)).toEqual(CREATED.map(() => 8));
});

test('a loop of syncs gets a change of hours ago in each run if the service ignores offsets and shows none', async () => {
  const options = { timeZone: NEW_YORK, dateFilter: 'local', timestamps: 'seconds' } as const;
  expect(await deliveries(options)).toEqual(CREATED.map((run) => RUNS - run));
});
