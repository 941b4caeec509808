import { createClient, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { SeededRandom } from '../../../support/seeded-random.ts';

const MINUTE_MS = 60_000;

export interface ZoneYearOptions {
  readonly timeZone: string;
  readonly dateFilter: 'utc' | 'local' | 'stored';
  /** When the first record is written. Until then the service has shown no offset. */
  readonly start: string;
  readonly days: number;
  /** Between two syncs, in minutes: a random time up to this. */
  readonly syncEvery: number;
  readonly seed: number;
}

/** What a copy had lost, and how many changes there were. */
export interface ZoneYear {
  readonly lost: readonly string[];
  readonly changes: number;
}

/**
 * A service with a change every 20 minutes, and a copy that is synced all the while. Products show timestamps, accounts
 * do not. A change must be in the copy after the second sync that begins an hour after it: one between may miss it.
 */
export async function liveInZone(options: ZoneYearOptions): Promise<ZoneYear> {
  const { timeZone, dateFilter, start, days } = options;
  const random = new SeededRandom(options.seed);
  const sandbox = createSandbox({
    timeZone,
    dateFilter,
    timestamps: 'offset',
    clock: start,
    rateLimit: false,
  });
  const client = createClient(sandbox.clientOptions);
  const copy = new Map<string, unknown>();
  const store = new Map<string, string>();
  /** By the record, when it was changed last. */
  const changed = new Map<string, number>();
  const syncs: number[] = [];
  const lost: string[] = [];
  let changes = 0;

  const bringUpToDate = async () => {
    await sync(client, {
      store,
      tenant: 'acme',
      collections: ['accounts', 'products'],
      onBatch: ({ collection, records }) => {
        for (const record of records) copy.set(`${collection}/${record.id}`, record.name);
      },
    });
    syncs.push(sandbox.clock.now());
    for (const [key, at] of changed) {
      const [collection, id] = key.split('/') as ['accounts' | 'products', string];
      const isCopied = copy.get(key) === sandbox.store[collection].get(id)?.name;
      const isDue = syncs.filter((time) => time >= at + 60 * MINUTE_MS).length >= 2;
      if (isCopied || isDue) changed.delete(key);
      if (!isCopied && isDue) lost.push(`${key} at ${new Date(at).toISOString()}`);
    }
    while (syncs.length > 9) syncs.shift();
  };

  let untilSync = 0;
  for (let minute = 0; minute < days * 24 * 60; minute += 20) {
    for (const collection of ['accounts', 'products'] as const) {
      const id = String(random.int(1, 12));
      const change = { name: `change ${++changes}` };
      if (sandbox.store[collection].get(id) === undefined)
        sandbox.store[collection].insert({ id, ...change });
      else sandbox.store[collection].update(id, change);
      changed.set(`${collection}/${id}`, sandbox.clock.now());
    }
    sandbox.clock.advance(random.int(0, 20) * MINUTE_MS);
    untilSync -= 20;
    if (untilSync <= 0) {
      await bringUpToDate();
      untilSync = random.int(1, options.syncEvery);
    }
    sandbox.clock.set(Date.parse(start) + (minute + 20) * MINUTE_MS);
    sandbox.clearLogs();
  }
  for (let hour = 1; hour <= 2; hour++) {
    sandbox.clock.advance(60 * MINUTE_MS);
    await bringUpToDate();
  }
  return { lost, changes };
}
