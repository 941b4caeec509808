import { describe, expect, test, vi } from 'vitest';
import type { Page } from '../../../src/pagination/page.ts';
import type { Batch } from '../../../src/sync/batch.ts';
import { ReconcileStats } from '../../../src/sync/reconcile-stats.ts';
import { RunStats } from '../../../src/sync/run-stats.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

type Row = { id: string; updatedAt?: unknown };

const page = (records: readonly Row[], hint?: Page<Row>['hint']) =>
  ({ records, invalid: [], hint, pagination: 'keyset' }) as unknown as Page<Row>;
const batch = (records: number, invalid = 0, last = false) =>
  ({ records: Array(records).fill({}), invalid: Array(invalid).fill({}), last }) as unknown as Batch<unknown>;

describe('the progress of a sync', () => {
  test('tells how many records a second were taken in since the run began', () => {
    const stats = new RunStats('accounts');
    vi.advanceTimersByTime(60_000);
    stats.begin(undefined);
    stats.committed(batch(30));
    // Nothing can be told of no time at all.
    expect(stats.progress({ last: false }).recordsPerSecond).toBe(0);
    vi.advanceTimersByTime(2_000);
    expect(stats.progress({ last: false }).recordsPerSecond).toBe(15);
    stats.committed(batch(30));
    vi.advanceTimersByTime(500);
    expect(stats.progress({ last: true }).recordsPerSecond).toBe(24);
  });

  test('counts what was taken in, and no batch for the one that ends a run', () => {
    const stats = new RunStats('accounts');
    stats.read(page([{ id: '1' }, { id: '2' }]));
    stats.committed(batch(2, 1));
    stats.committed(batch(3));
    stats.committed(batch(0, 0, true));
    expect(stats.progress({ last: true })).toEqual({
      collection: 'accounts',
      records: 5,
      pages: 2,
      recordsPerSecond: 0,
      pagination: 'keyset',
      waiting: false,
      waitingUntil: undefined,
      last: true,
    });
    expect(stats.report()).toMatchObject({ records: 5, invalid: 1, pages: 2 });
  });

  test('tells until when it waits, where that is known', () => {
    const stats = new RunStats('accounts');
    const waits = (waitMs: number | undefined) => stats.progress({ last: false, waiting: true, waitMs });
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
  test('that never began says so', () => {
    expect(new RunStats('boms').report()).toEqual({
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

  test('that failed shows the watermark that the store still has', () => {
    const stats = new RunStats('accounts');
    const [watermark, full] = ['2026-01-05T08:00:00Z', '2026-01-04T08:00:00Z'];
    stats.begin({ scope: 's', by: 'b', watermark, full });
    expect(stats.report()).toMatchObject({
      watermark: new Date(watermark),
      lastFullRead: new Date(full),
    });
  });

  test('takes the hint from the last page, which knows it for the whole read', () => {
    const stats = new RunStats('accounts');
    for (const pageSize of [10, 30, 0]) stats.read(page([], { pageSize, proven: false }));
    expect(stats.hint).toEqual({ pageSize: 0, proven: false });
  });

  test('counts records that are older than what was asked for, and none of which that cannot be told', () => {
    const stats = new RunStats('accounts');
    const plan = { mode: 'incremental', watermark: undefined, token: undefined, resumed: false } as const;
    const rows = ['2026-01-04T23:59:59Z', '2026-01-05T00:00:00Z', 0, undefined, 'once'].map(
      (updatedAt, n) => ({ id: String(n), updatedAt }),
    );
    stats.plan = { ...plan, since: undefined };
    stats.read(page(rows));
    expect(stats.report().staleRecords).toBe(0);
    stats.plan = { ...plan, since: '2026-01-05T00:00:00Z' };
    stats.read(page(rows));
    stats.read(page(rows));
    expect(stats.report()).toMatchObject({ staleRecords: 2, mode: 'incremental' });
  });
});

describe('the progress of a reconcile', () => {
  test('tells its phase, how far that is, and until when it waits', () => {
    const told: unknown[] = [];
    const stats = new ReconcileStats('accounts', (progress) => told.push(progress));
    stats.tell();
    stats.reached('local');
    stats.reached('local', 4);
    stats.waits(90_000);
    stats.reached('read', 3);
    stats.waits(undefined);
    stats.tell();
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
  test('begins and ends when the reconcile does', () => {
    const stats = new ReconcileStats('accounts', undefined);
    vi.advanceTimersByTime(5_000);
    stats.reached('read', 7);
    expect(stats.report()).toEqual({
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
});
