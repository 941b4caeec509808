import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, ids } from './support/call.ts';
import { play } from './support/play.ts';

describe('times', () => {
  test.each([
    ['seconds', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.900Z', '2026-01-31T12:00:01Z'],
    ['milliseconds', '2026-01-31T12:00:00.250Z', '2026-01-31T12:00:00.250Z', '2026-01-31T12:00:00.251Z'],
    // Without an offset it is in UTC, and a date is its midnight.
    ['seconds', '2026-01-31T12:00:00Z', '2026-01-31T12:00', '2026-01-31T12:00:01'],
    ['offset', '2026-01-31T12:00:00+00:00', '2026-01-31', '2026-02-01'],
  ] as const)(
    'timestamps %s show %s; updatedSince=%s lists it, %s does not',
    async (form, shown, since, later) => {
      const sandbox = createSandbox({ timestamps: form, clock: '2026-01-31T12:00:00.250Z' });
      expect(sandbox.store.products.insert({})).toMatchObject({ createdAt: shown, updatedAt: shown });
      await play(sandbox, [
        [`GET /products?updatedSince=${since}`, '1'],
        [`GET /products?updatedSince=${later}`, ''],
      ]);
    },
  );

  test('the clock stands still at a timestamp until a test moves it, and runs with the machine otherwise', async () => {
    const sandbox = createSandbox({ clock: '2026-01-31T12:00:00Z', clockOffsetMs: -60_000 });
    const date = async () => (await call(sandbox, '/boms')).headers.get('date');
    expect(await date()).toBe('Sat, 31 Jan 2026 11:59:00 GMT');
    sandbox.clock.advance(3_600_000);
    expect(await date()).toBe('Sat, 31 Jan 2026 12:59:00 GMT');
    sandbox.clock.set('2027-01-01');
    expect(await date()).toBe('Fri, 01 Jan 2027 00:00:00 GMT');

    let now = 5000;
    const { clock } = createSandbox({ clock: { now: () => now } });
    clock.set(100_000);
    now = 6000;
    expect(clock.now()).toBe(101_000);
    clock.freeze();
    now = 9000;
    expect(clock.now()).toBe(101_000);
  });

  test('a write does not overtake an earlier one of the same record, and clear removes both', async () => {
    const sandbox = createSandbox({ clock: '2026-01-31T12:00:00Z' });
    const { boms } = sandbox.store;
    boms.insert({ name: 'a' });
    boms.update('1', { name: 'b' }, { visibleAfterMs: 10_000 });
    boms.update('1', { name: 'c' });
    await play(sandbox, [
      ['GET /boms/1', { name: 'a' }],
      10_000,
      ['GET /boms/1', { name: 'c' }],
      ['GET /boms', '1'],
    ]);
    boms.update('1', { name: 'd' }, { visibleAfterMs: 1000 });
    boms.clear();
    await play(sandbox, [1000, ['GET /boms', '']]);
    expect(boms.get('1')).toBeUndefined();
    // A test sees its own deletion at once.
    boms.insert({ id: '9' });
    boms.delete('9', { visibleAfterMs: 1000 });
    expect(boms.get('9')).toBeUndefined();
    await play(sandbox, [['GET /boms', '9'], 1000, ['GET /boms', '']]);
  });
});

test.each([
  ['America/New_York', '2026-07-31T15:00:00Z', '2026-07-31T11:00:00-04:00'],
  ['Australia/Lord_Howe', '2026-07-31T15:00:00Z', '2026-08-01T01:30:00+10:30'],
])('timeZone of %s shows %s as %s', (timeZone, clock, shown) => {
  const sandbox = createSandbox({ timeZone, clock, timestamps: 'offset' });
  expect(sandbox.store.products.insert({})).toMatchObject({ createdAt: shown, updatedAt: shown });
});

describe('dateFilter', () => {
  const newYork = {
    timeZone: 'America/New_York',
    timestamps: 'offset',
    clock: '2026-01-31T15:00:00Z',
  } as const;

  test.each([
    ['utc', '2026-01-31T10:00:00-05:00', ['1']],
    ['utc', '2026-01-31T10:00:01', []],
    ['local', '2026-01-31T10:00:00Z', ['1']],
    ['local', '2026-01-31T10:00:01Z', []],
    ['local', '2026-01-31T10:00:00-05:00', ['1']],
    ['local', '2026-01-31T10:00:00+0530', ['1']],
    ['stored', '2026-01-31T15:00:00Z', ['1']],
    ['stored', '2026-01-31T10:00:01-05:00', []],
  ] as const)('%s compares updatedSince=%s with 10:00 in New York', async (dateFilter, since, found) => {
    const sandbox = createSandbox({ ...newYork, dateFilter });
    sandbox.store.products.insert({});
    expect(ids(await call(sandbox, `/products?updatedSince=${encodeURIComponent(since)}`))).toEqual(found);
  });

  test('a time without an offset is a local one, also in the hour after clocks go forward', async () => {
    const sandbox = createSandbox({ ...newYork, clock: '2026-03-08T07:30:00Z' });
    sandbox.store.products.insert({});
    await play(sandbox, [
      ['GET /products?updatedSince=2026-03-08T03:30:00', '1'],
      ['GET /products?updatedSince=2026-03-08T03:30:01', ''],
    ]);
  });

  test('local shows the repeated hour in autumn as its first occurrence', () => {
    const shownAt = (clock: string, dateFilter: 'utc' | 'local') =>
      createSandbox({ ...newYork, clock, dateFilter }).store.products.insert({}).updatedAt;
    expect(shownAt('2026-11-01T06:30:00Z', 'utc')).toBe('2026-11-01T01:30:00-05:00');
    expect(shownAt('2026-11-01T06:30:00Z', 'local')).toBe('2026-11-01T01:30:00-04:00');
    expect(shownAt('2026-11-01T05:30:00Z', 'local')).toBe('2026-11-01T01:30:00-04:00');
    expect(shownAt('2026-11-01T07:00:00Z', 'local')).toBe('2026-11-01T02:00:00-05:00');
  });
});
