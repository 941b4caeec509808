import { describe, expect, it, vi } from 'vitest';
import type { Page } from '../../../src/pagination/walk.ts';
import type { Batch } from '../../../src/sync/batch.ts';
import { ReconcileTally } from '../../../src/sync/reconcile-tally.ts';
import { Tally } from '../../../src/sync/tally.ts';
import { useFakeClock } from '../../support/fake-clock.ts';

useFakeClock();

type Row = { id: string; updatedAt?: unknown };

const page = (records: readonly Row[], longestPage = records.length) =>
  ({ records, longestPage, pagination: 'keyset' }) as Page<Row>;
const batch = (records: number, invalid = 0, last = false) =>
  ({ records: Array(records).fill({}), invalid: Array(invalid).fill({}), last }) as unknown as Batch<unknown>;

describe('the progress of a sync', () => {
  it('tells how many records a second were taken in since the run began', () => {
    const tally = new Tally('accounts');
    vi.advanceTimersByTime(60_000);
    tally.begin(undefined);
    tally.committed(batch(30));
    // Nothing can be told of no time at all.
    expect(tally.progress({ last: false }).recordsPerSecond).toBe(0);
    vi.advanceTimersByTime(2_000);
    expect(tally.progress({ last: false }).recordsPerSecond).toBe(15);
    tally.committed(batch(30));
    vi.advanceTimersByTime(500);
    expect(tally.progress({ last: true }).recordsPerSecond).toBe(24);
  });

  it('counts what was taken in, and no batch for the one that ends a run', () => {
    const tally = new Tally('accounts');
    tally.read(page([{ id: '1' }, { id: '2' }]));
    tally.committed(batch(2, 1));
    tally.committed(batch(3));
    tally.committed(batch(0, 0, true));
    expect(tally.progress({ last: true })).toEqual({
      collection: 'accounts',
      records: 5,
      pages: 2,
      recordsPerSecond: 0,
      pagination: 'keyset',
      waiting: false,
      waitingUntil: undefined,
      last: true,
    });
    expect(tally.report()).toMatchObject({ records: 5, invalid: 1, pages: 2 });
  });

  it('tells until when it waits, where that is known', () => {
    const tally = new Tally('accounts');
    const waits = (waitMs: number | undefined) => tally.progress({ last: false, waiting: true, waitMs });
    expect(waits(90_000)).toMatchObject({
      waiting: true,
      waitingUntil: new Date('2026-01-31T12:01:30Z'),
      pagination: undefined,
    });
    expect(waits(0).waitingUntil).toEqual(new Date('2026-01-31T12:00:00Z'));
    expect(waits(undefined)).toMatchObject({ waiting: true, waitingUntil: undefined });
  });
});

describe('the report of a run', () => {
  it('that never began says so', () => {
    expect(new Tally('boms').report()).toEqual({
      collection: 'boms',
      status: 'stopped',
      mode: undefined,
      pagination: undefined,
      resumed: false,
      records: 0,
      invalid: 0,
      pages: 0,
      staleRecords: 0,
      watermark: undefined,
      clockWentBack: false,
      lastFullRead: undefined,
    });
  });

  it('that failed shows the watermark that the store still has', () => {
    const tally = new Tally('accounts');
    const [watermark, full] = ['2026-01-05T08:00:00Z', '2026-01-04T08:00:00Z'];
    tally.begin({ scope: 's', by: 'b', watermark, full });
    expect(tally.report()).toMatchObject({
      watermark: new Date(watermark),
      lastFullRead: new Date(full),
    });
  });

  it('remembers the longest page, whichever it was', () => {
    const tally = new Tally('accounts');
    for (const longest of [10, 30, 20]) tally.read(page([], longest));
    expect(tally.longestPage).toBe(30);
  });

  it('counts records that are older than what was asked for, and none of which that cannot be told', () => {
    const tally = new Tally('accounts');
    const plan = { mode: 'incremental', watermark: undefined, token: undefined, resumed: false } as const;
    const rows = ['2026-01-04T23:59:59Z', '2026-01-05T00:00:00Z', 0, undefined, 'once'].map(
      (updatedAt, n) => ({ id: String(n), updatedAt }),
    );
    tally.plan = { ...plan, since: undefined };
    tally.read(page(rows));
    expect(tally.report().staleRecords).toBe(0);
    tally.plan = { ...plan, since: '2026-01-05T00:00:00Z' };
    tally.read(page(rows));
    tally.read(page(rows));
    expect(tally.report()).toMatchObject({ staleRecords: 2, mode: 'incremental' });
  });
});

describe('the progress of a reconcile', () => {
  it('tells its phase, how far that is, and until when it waits', () => {
    const told: unknown[] = [];
    const tally = new ReconcileTally('accounts', (progress) => told.push(progress));
    tally.tell();
    tally.reached('local');
    tally.reached('local', 4);
    tally.waits(90_000);
    tally.reached('read', 3);
    tally.waits(undefined);
    tally.tell();
    const still = { collection: 'accounts', waiting: false, waitingUntil: undefined };
    expect(told).toEqual([
      { ...still, phase: 'local', done: 0 },
      { ...still, phase: 'local', done: 5, waiting: true, waitingUntil: new Date('2026-01-31T12:01:30Z') },
      { ...still, phase: 'read', done: 3, waiting: true },
      { ...still, phase: 'read', done: 3 },
    ]);
  });
});

describe('the report of a reconcile', () => {
  it('begins and ends when the reconcile does', () => {
    const tally = new ReconcileTally('accounts', undefined);
    vi.advanceTimersByTime(5_000);
    tally.reached('read', 7);
    expect(tally.report()).toEqual({
      collection: 'accounts',
      pagination: undefined,
      local: 0,
      seen: 7,
      missing: 0,
      candidates: 0,
      deleted: 0,
      repaired: 0,
      startedAt: new Date('2026-01-31T12:00:00Z'),
      endedAt: new Date('2026-01-31T12:00:05Z'),
    });
  });

  it('is on its error in the form of that of a sync: a full walk that failed', () => {
    const tally = new ReconcileTally('accounts', undefined);
    tally.pagination = 'keyset';
    tally.reached('read', 7);
    vi.advanceTimersByTime(5_000);
    expect(tally.asSyncReport()).toEqual({
      tenant: '',
      startedAt: new Date('2026-01-31T12:00:00Z'),
      endedAt: new Date('2026-01-31T12:00:05Z'),
      records: 7,
      collections: [
        {
          ...new Tally('accounts').report(),
          status: 'failed',
          mode: 'full',
          pagination: 'keyset',
          records: 7,
        },
      ],
    });
  });
});
