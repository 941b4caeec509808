import { expect, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { liveInZone, type ZoneYearOptions } from './time-zone-year.ts';

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

const ALL_RUNS = ZONES.flatMap(([timeZone, spring, autumn]) => [
  { timeZone, dateFilter: 'local', start: spring },
  { timeZone, dateFilter: 'local', start: autumn },
  { timeZone, dateFilter: 'local', start: autumn, serviceTimeZone: timeZone },
  { timeZone, dateFilter: 'utc', start: spring },
  { timeZone, dateFilter: 'utc', start: autumn },
]) satisfies Partial<ZoneYearOptions>[];

/** Odd zones through the end of their daylight saving time, where a local bound goes wrong, and one zone in every way. */
const RUNS = ALL_RUNS.filter(
  ({ timeZone, dateFilter, start, serviceTimeZone }) =>
    soak ||
    timeZone === 'Australia/Lord_Howe' ||
    (dateFilter === 'local' &&
      start > '2026-09' &&
      !serviceTimeZone &&
      /America|Pacific|Azores/.test(timeZone)),
);

test.each(RUNS)(
  'a copy loses nothing of a service with local times: $timeZone, $dateFilter, from $start, serviceTimeZone $serviceTimeZone',
  NO_HURRY,
  async (zone) => {
    const days = soak ? 365 : 2;
    const year = await liveInZone({ ...zone, days, syncEvery: 120, seed: 7 });
    if (soak) console.info(JSON.stringify({ ...zone, ...year, lost: year.lost.length }));
    expect(year.lost).toEqual([]);
    expect(year.changes).toBe(days * 24 * 3 * 2);
  },
);

const inUtc = (bound: string) => new Date(bound).toISOString();
const anHourLater = (bound: string) => {
  const local = new Date(Date.parse(`${bound.slice(0, 19)}Z`) + 3_600_000);
  return local.toISOString().slice(0, 19) + bound.slice(19);
};

test.each([
  ['in UTC', inUtc],
  ['without the hour for the end of daylight saving time', anHourLater],
])('the simulation sees the losses of a bound %s', NO_HURRY, async (_, rewriteBound) => {
  const autumn = {
    timeZone: 'America/New_York',
    dateFilter: 'local',
    start: '2026-10-31T00:00:00Z',
  } as const;
  const { lost } = await liveInZone({ ...autumn, rewriteBound, days: 2, syncEvery: 60, seed: 9 });
  expect(lost.length).toBeGreaterThan(0);
});
