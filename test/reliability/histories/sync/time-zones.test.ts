import { describe, expect, test } from 'vitest';
import { liveInZone } from './time-zone-year.ts';

/** Longer than any soak, on any machine. */
const timeout = 3_600_000;

const soak = process.env.SOAK_ZONES !== undefined;

/**
 * Zones, and the days before their offset changes in 2026. A copy that begins in the half of the year with the higher
 * offset has not seen the lower one when it comes.
 */
const ZONES = [
  ['America/New_York', '2026-03-07T00:00:00Z', '2026-10-31T00:00:00Z'],
  ['America/St_Johns', '2026-03-07T00:00:00Z', '2026-10-31T00:00:00Z'],
  ['Pacific/Honolulu', '2026-03-07T00:00:00Z', '2026-10-31T00:00:00Z'],
  ['Atlantic/Azores', '2026-03-28T00:00:00Z', '2026-10-24T00:00:00Z'],
  ['Europe/London', '2026-03-28T00:00:00Z', '2026-10-24T00:00:00Z'],
  ['Europe/Amsterdam', '2026-03-28T00:00:00Z', '2026-10-24T00:00:00Z'],
  ['Asia/Kolkata', '2026-03-28T00:00:00Z', '2026-10-24T00:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T00:00:00Z', '2026-10-03T00:00:00Z'],
] as const;

const ALL_RUNS = ZONES.flatMap(([timeZone, ...starts]) =>
  (['local', 'utc'] as const).flatMap((dateFilter) =>
    starts.map((start) => ({ timeZone, dateFilter, start })),
  ),
);

/** Odd zones through the end of their daylight saving time, where a local bound goes wrong, and one zone in every way. */
const RUNS = ALL_RUNS.filter(
  ({ timeZone, dateFilter, start }) =>
    soak ||
    timeZone === 'America/New_York' ||
    (dateFilter === 'local' && start > '2026-09' && !/London|Amsterdam|Kolkata/.test(timeZone)),
);

describe('a copy of a service with local times', { timeout }, () => {
  test.each(RUNS)('loses nothing: $timeZone, $dateFilter, from $start', async (zone) => {
    const seed = 7;
    const days = soak ? 365 : 2;
    const year = await liveInZone({ ...zone, days, syncEvery: 120, seed });
    if (soak) console.info(JSON.stringify({ ...zone, seed, ...year, lost: year.lost.length }));
    expect(year.lost).toEqual([]);
    expect(year.changes).toBe(days * 24 * 3 * 2);
  });

  test('loses nothing with serviceTimeZone, whatever the service shows', async () => {
    for (const [serviceTimeZone, , start] of soak ? ZONES : [ZONES[0], ZONES[7]]) {
      const zone = { timeZone: serviceTimeZone, dateFilter: 'local', serviceTimeZone, start } as const;
      expect((await liveInZone({ ...zone, days: 2, syncEvery: 60, seed: 8 })).lost).toEqual([]);
    }
  });
});

describe('the simulation sees the losses of', { timeout }, () => {
  const autumn = {
    timeZone: 'America/New_York',
    dateFilter: 'local',
    start: '2026-10-31T00:00:00Z',
  } as const;
  const shifted = (hours: number) => (bound: string) => {
    const local = new Date(Date.parse(`${bound.slice(0, 19)}Z`) + hours * 3_600_000);
    return local.toISOString().slice(0, 19) + bound.slice(19);
  };

  test('a bound in UTC', async () => {
    const rewriteBound = (bound: string) => new Date(bound).toISOString();
    const { lost } = await liveInZone({ ...autumn, rewriteBound, days: 1, syncEvery: 60, seed: 9 });
    expect(lost.length).toBeGreaterThan(0);
  });

  test('a bound without the hour for the end of daylight saving time', async () => {
    const { lost } = await liveInZone({
      ...autumn,
      rewriteBound: shifted(1),
      days: 2,
      syncEvery: 20,
      seed: 9,
    });
    expect(lost.length).toBeGreaterThan(0);
  });
});
