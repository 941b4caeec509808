import { createClient, sync } from 'accounting-data-sdk';
import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { NO_HURRY } from '../../../support/seeds.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** `SOAK_ZONES=365` reads for so many days in each zone. */
const DAYS = Number(process.env.SOAK_ZONES ?? 2);

/**
 * Zones through the end of their daylight saving time, where a local bound goes wrong. A copy that begins in the half of
 * the year with the higher offset has not seen the lower one when it comes.
 */
const ZONES = [
  ['America/New_York', '2026-10-31T00:00:00Z'],
  ['Atlantic/Azores', '2026-10-24T00:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T00:00:00Z'],
] as const;
/** A service, and a function that syncs a copy of its accounts and products. Products show timestamps, accounts do not. */
function copyOf(options: SandboxOptions, take: (key: string, name: unknown) => void) {
  const sandbox = createSandbox({ rateLimit: false, records: 0, ...options });
  const client = createClient(sandbox.clientOptions);
  const store = new Map<string, string>();
  const bringUpToDate = async () => {
    sandbox.clearLogs();
    await sync(client, {
      store,
      tenant: 'acme',
      collections: ['accounts', 'products'],
      onBatch: ({ collection, records }) => {
        for (const record of records) take(`${collection}/${record.id}`, record.name);
      },
    });
  };
  return { sandbox, bringUpToDate };
}

const nameIn = ({ store }: Sandbox, key: string) => {
  const [collection, id = ''] = key.split('/') as ['accounts' | 'products', string];
  return store[collection].get(id)?.name;
};

/**
 * What a copy loses of a service with a change every 20 minutes, if it is synced all the while, at random times. A change
 * must be in the copy after the second sync that begins an hour after it: one between may miss it.
 */
async function lostIn(options: SandboxOptions & { clock: string }): Promise<readonly string[]> {
  const random = new SeededRandom(7);
  const copy = new Map<string, unknown>();
  const { sandbox, bringUpToDate } = copyOf(options, (key, name) => copy.set(key, name));
  const start = Date.parse(options.clock);
  /** By the record, when it was changed last. */
  const changed = new Map<string, number>();
  const syncs: number[] = [];
  const lost: string[] = [];
  const bring = async () => {
    await bringUpToDate();
    syncs.push(sandbox.clock.now());
    while (syncs.length > 9) syncs.shift();
    for (const [key, at] of changed) {
      const isCopied = copy.get(key) === nameIn(sandbox, key);
      const isDue = syncs.filter((time) => time >= at + HOUR_MS).length >= 2;
      if (isCopied || isDue) changed.delete(key);
      if (!isCopied && isDue) lost.push(`${key} at ${new Date(at).toISOString()}`);
    }
  };
  let untilSync = 0;
  for (let minute = 0; minute < DAYS * 24 * 60; minute += 20) {
    for (const collection of ['accounts', 'products'] as const) {
      const id = String(random.int(1, 12));
      const change = { name: `change at minute ${minute}` };
      const records = sandbox.store[collection];
      if (records.get(id) === undefined) records.insert({ id, ...change });
      else records.update(id, change);
      changed.set(`${collection}/${id}`, sandbox.clock.now());
    }
    sandbox.clock.advance(random.int(0, 20) * MINUTE_MS);
    untilSync -= 20;
    if (untilSync <= 0) {
      await bring();
      untilSync = random.int(1, 120);
    }
    sandbox.clock.set(start + (minute + 20) * MINUTE_MS);
  }
  for (let hour = 1; hour <= 2; hour++) {
    sandbox.clock.advance(HOUR_MS);
    await bring();
  }
  expect(copy.size).toBeGreaterThan(20);
  return lost;
}

describe.each(ZONES)('a copy loses nothing of a service with local times: %s, from %s', (timeZone, clock) => {
  test.for([
    ['ignores offsets', 'local'],
    ['honours offsets', 'utc'],
    ['stores local times', 'stored'],
  ] as const)('that %s', NO_HURRY, async ([, dateFilter]) => {
    expect(await lostIn({ timeZone, dateFilter, timestamps: 'offset', clock })).toEqual([]);
  });
});

test('a loop of syncs every 30 seconds gets each change eight times, as the guide to syncing says', async () => {
  const times = new Map<string, number>();
  const { sandbox, bringUpToDate } = copyOf({ clock: '2026-06-01T00:00:00Z' }, (key) =>
    times.set(key, (times.get(key) ?? 0) + 1),
  );
  for (let run = 0; run < 260; run++) {
    if (run === 7 || run === 67) sandbox.store.products.insert({ id: String(run), name: 'Desk' });
    await bringUpToDate();
    sandbox.clock.advance(30_000);
  }
  expect([...times]).toEqual([
    ['products/7', 8],
    ['products/67', 8],
  ]);
});
