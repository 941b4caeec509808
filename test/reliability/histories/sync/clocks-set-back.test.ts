import { changes } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { collect, HOUR_MS, MINUTE_MS, setUpSync } from '../../../client/sync/set-up.ts';

/** When clocks are set back: in Lord Howe by half an hour. */
const AMSTERDAM = ['Europe/Amsterdam', '2026-10-25T01:00:00Z'] as const;
const NEW_YORK = ['America/New_York', '2026-11-01T06:00:00Z'] as const;
const LORD_HOWE = ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'] as const;

/** Two before, and four after the clocks are set back. */
const HOURS = 6;

/**
 * A copy of a service that stores local times, brought up to date again and again through the night in which clocks go
 * back, while a record is changed every three minutes.
 */
async function throughTheNight(timeZone: string, setBackAt: string, everyMs: number) {
  const from = Date.parse(setBackAt) - 2 * HOUR_MS;
  const { sandbox, client, run } = setUpSync({
    timeZone,
    dateFilter: 'stored',
    clock: new Date(from).toISOString(),
    pageSize: 100,
  });
  const { accounts } = sandbox.store;
  const copy = new Map<string, unknown>();
  /** By the record, when it was changed last. */
  const changedAt = new Map<string, number>();
  let [latestMs, delivered] = [0, 0];
  let nextRun = from;
  for (let now = from; now < from + HOURS * HOUR_MS; now += MINUTE_MS / 2) {
    sandbox.clock.set(now);
    if (now % (3 * MINUTE_MS) === 0) {
      const id = String(1 + Math.floor((now / (3 * MINUTE_MS)) % 40));
      const name = `at ${now}`;
      if (accounts.get(id) === undefined) accounts.insert({ id, name });
      else accounts.update(id, { name });
      changedAt.set(id, now);
    }
    if (now < nextRun) continue;
    nextRun += everyMs;
    await collect(changes(client.accounts, run), ({ records }) => {
      delivered += records.length;
      for (const record of records) copy.set(record.id, record.name);
    });
    for (const [id, at] of changedAt) {
      if (copy.get(id) !== accounts.get(id)?.name) latestMs = Math.max(latestMs, now - at);
    }
    sandbox.clearLogs();
  }
  return { latestMs, delivered };
}

test.each(
  [AMSTERDAM, NEW_YORK, LORD_HOWE].flatMap(([zone, setBackAt]) =>
    [5, 17, 45, 70].map((minutes) => [zone, minutes, setBackAt] as const),
  ),
)(
  'a copy of a service that stores local times finds each change in the night when clocks go back: %s, every %f minutes',
  async (zone, minutes, setBackAt) => {
    const { latestMs } = await throughTheNight(zone, setBackAt, minutes * MINUTE_MS);
    // By the first run an hour after the one that read deep before the change.
    expect(latestMs).toBeLessThan((60 + 2 * minutes) * MINUTE_MS);
  },
);

test.each([
  ['in an ordinary night', ['UTC', AMSTERDAM[1]], 9],
  ['in the night when clocks go back', AMSTERDAM, 25],
] as const)(
  'a loop of 30 seconds finds each change, and gets it no more than a few times: %s',
  async (_, [zone, setBackAt], most) => {
    const { latestMs, delivered } = await throughTheNight(zone, setBackAt, MINUTE_MS / 2);
    expect(latestMs).toBeLessThan(61 * MINUTE_MS);
    const times = delivered / ((HOURS * 60) / 3);
    // About five times in the two minutes of the lookback, and in two runs that read deep.
    expect(times).toBeGreaterThan(4);
    expect(times).toBeLessThan(most);
  },
);
