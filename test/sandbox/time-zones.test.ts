import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, ids } from './support/call.ts';

describe('timeZone', () => {
  test.each([
    ['America/New_York', '2026-01-31T15:00:00Z', '2026-01-31T10:00:00-05:00'],
    ['America/New_York', '2026-07-31T15:00:00Z', '2026-07-31T11:00:00-04:00'],
    ['Asia/Kolkata', '2026-01-31T15:00:00Z', '2026-01-31T20:30:00+05:30'],
    ['Australia/Lord_Howe', '2026-01-31T15:00:00Z', '2026-02-01T02:00:00+11:00'],
    ['Australia/Lord_Howe', '2026-07-31T15:00:00Z', '2026-08-01T01:30:00+10:30'],
    ['UTC', '2026-01-31T15:00:00Z', '2026-01-31T15:00:00+00:00'],
  ])('of %s shows %s as %s', (timeZone, clock, shown) => {
    const sandbox = createSandbox({ timeZone, clock, timestamps: 'offset' });
    expect(sandbox.store.products.insert({})).toMatchObject({ createdAt: shown, updatedAt: shown });
  });

  test('leaves timestamps in UTC as they are', () => {
    const sandbox = createSandbox({ timeZone: 'Asia/Kolkata', clock: '2026-01-31T15:00:00Z' });
    expect(sandbox.store.products.insert({}).updatedAt).toBe('2026-01-31T15:00:00Z');
  });
});

describe('dateFilter', () => {
  const newYork = {
    timeZone: 'America/New_York',
    timestamps: 'offset',
    clock: '2026-01-31T15:00:00Z',
  } as const;

  test.each([
    ['utc', '2026-01-31T15:00:00Z', ['1']],
    ['utc', '2026-01-31T15:00:01Z', []],
    ['utc', '2026-01-31T10:00:00-05:00', ['1']],
    ['utc', '2026-01-31T10:00:00', ['1']],
    ['utc', '2026-01-31T10:00:01', []],
    ['utc', '2026-01-31', ['1']],
    ['utc', '2026-02-01', []],
    ['local', '2026-01-31T15:00:00Z', []],
    ['local', '2026-01-31T10:00:00Z', ['1']],
    ['local', '2026-01-31T10:00:01Z', []],
    ['local', '2026-01-31T10:00:00-05:00', ['1']],
    ['local', '2026-01-31T10:00:00+0530', ['1']],
    ['local', '2026-01-31T10:00:00', ['1']],
    ['local', '2026-01-31', ['1']],
  ] as const)('%s compares updatedSince=%s with 10:00 in New York', async (dateFilter, since, found) => {
    const sandbox = createSandbox({ ...newYork, dateFilter });
    sandbox.store.products.insert({});
    expect(ids(await call(sandbox, `/products?updatedSince=${encodeURIComponent(since)}`))).toEqual(found);
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
