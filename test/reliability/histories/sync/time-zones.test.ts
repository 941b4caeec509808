import { describe, expect, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { liveInZone, type ZoneYearOptions } from './time-zone-year.ts';

/** `SOAK_ZONES=365` reads for so many days, in every zone. */
const { SOAK_ZONES } = process.env;
const DAYS = Number(SOAK_ZONES ?? 2);
const AUTUMN = '2026-10-31T00:00:00Z';
const LORD_HOWE = { timeZone: 'Australia/Lord_Howe', start: '2026-10-03T00:00:00Z' };

type Zone = Pick<ZoneYearOptions, 'timeZone' | 'start'>;

/**
 * Zones through the end of their daylight saving time, where a local bound goes wrong. A copy that
 * begins in the half of the year with the higher offset has not seen the lower one when it comes.
 */
const ZONES: readonly Zone[] = [
  { timeZone: 'America/New_York', start: AUTUMN },
  { timeZone: 'Atlantic/Azores', start: '2026-10-24T00:00:00Z' },
  { ...LORD_HOWE, start: '2026-04-04T00:00:00Z' },
];
/** More of them, for a soak. */
const MORE_ZONES: readonly Zone[] = [
  { timeZone: 'America/St_Johns', start: AUTUMN },
  { timeZone: 'Pacific/Honolulu', start: AUTUMN },
  { timeZone: 'Pacific/Kiritimati', start: AUTUMN },
  { timeZone: 'Etc/GMT+12', start: AUTUMN },
  LORD_HOWE,
];

describe.each(SOAK_ZONES === undefined ? ZONES : [...ZONES, ...MORE_ZONES])(
  'a copy loses nothing of a service with local times: $timeZone, from $start',
  (zone) => {
    test.for([
      ['ignores offsets', 'local'],
      ['honours offsets', 'utc'],
      ['stores local times', 'stored'],
    ] as const)('that %s', NO_HURRY, async ([, dateFilter]) => {
      const { lost, changes } = await liveInZone({
        ...zone,
        dateFilter,
        days: DAYS,
        syncEvery: 120,
        seed: 7,
      });
      expect(lost).toEqual([]);
      expect(changes).toBe(DAYS * 24 * 3 * 2);
    });
  },
);
