import { changes, memoryStore } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';
import { collect, MINUTE_MS } from './set-up.ts';

/** A service that stores the local time of a change without its offset, and converts the bound to local time. */
function serviceAround(setBackAt: number, before: number, after: number) {
  const localOf = (ms: number) => ms + (ms < setBackAt ? before : after) * MINUTE_MS;
  const bounds: string[] = [];
  let now = 0;
  let changedAt = Number.POSITIVE_INFINITY;
  const fetch = scriptedFetch(async ({ url }) => {
    const bound = url.searchParams.get('updatedSince');
    if (bound !== null) bounds.push(bound);
    const isListed = bound === null || localOf(changedAt) >= localOf(Date.parse(bound));
    const rows = isListed ? [{ id: '1', changedAt }] : [];
    return jsonResponse(rows, 200, { date: new Date(now).toUTCString() });
  });
  const client = scriptedClient(fetch, { rateLimiter: false });
  return {
    bounds,
    /** What a run finds that begins so many minutes after the last one, and a change in between. */
    async finds(serviceTimeZone: string | undefined, lastRun: number, change: number): Promise<number> {
      const run = {
        tenant: 'acme',
        store: memoryStore(),
        lookbackMs: 0,
        serviceTimeZone,
        pagination: 'none',
      } as const;
      [now, changedAt] = [lastRun, lastRun - MINUTE_MS];
      await collect(changes(client.accounts, run));
      [now, changedAt] = [change + MINUTE_MS, change];
      return (await collect(changes(client.accounts, run))).records;
    },
  };
}

const AMSTERDAM = Date.parse('2026-10-25T01:00:00Z');
const LORD_HOWE = Date.parse('2026-04-04T15:00:00Z');

test.each<[string, number, number, number]>([
  ['Europe/Amsterdam', AMSTERDAM, 120, 60],
  ['Australia/Lord_Howe', LORD_HOWE, 660, 630],
])(
  'a sync with serviceTimeZone %s finds every change in the night when clocks go back',
  async (zone, setBackAt, before, after) => {
    const service = serviceAround(setBackAt, before, after);
    const missed: string[] = [];
    for (let last = -150; last <= 150; last += 17) {
      for (const later of [1, 20, 80]) {
        const [lastRun, change] = [setBackAt + last * MINUTE_MS, setBackAt + (last + later) * MINUTE_MS];
        if ((await service.finds(zone, lastRun, change)) === 0) missed.push(`${last} + ${later}`);
      }
    }
    expect(missed).toEqual([]);
  },
);

test('the bound goes back by the step of the clocks only around that step', async () => {
  const moved = async (zone: string, minutes: number) => {
    const { finds, bounds } = serviceAround(AMSTERDAM, 120, 60);
    const lastRun = AMSTERDAM + minutes * MINUTE_MS;
    await finds(zone, lastRun, lastRun + MINUTE_MS);
    return Math.round((lastRun - Date.parse(bounds[0] ?? '')) / MINUTE_MS);
  };
  const zone = 'Europe/Amsterdam';
  const found = [-120, -61, -59, -7, 0, 30, 60, 61, 120].map((minutes) => moved(zone, minutes));
  expect(await Promise.all(found)).toEqual([0, 0, 60, 60, 60, 60, 60, 0, 0]);
  expect(await moved('Asia/Tokyo', -7)).toBe(0);
  expect(await moved('UTC', -7)).toBe(0);
  expect(await moved('+02:00', -7)).toBe(0);
});
