import { describe, expect, test } from 'vitest';
import { type ResolvedRunOptions, resolveRunOptions } from '../../../src/sync/options.ts';
import { everything, planRun, stateAfter, stateDuring } from '../../../src/sync/run-plan.ts';
import type { SyncState } from '../../../src/sync/state.ts';

const W = '2026-01-05T08:00:00Z';
const base: SyncState = { scope: 's', by: 'b' };
const options = (more: object = {}): ResolvedRunOptions =>
  resolveRunOptions({ store: new Map<string, string>(), tenant: 'acme', ...more });
const begun = { watermark: undefined, token: undefined, resumed: false };

const hintOf = (pageSize: number) => ({ pageSize, order: 'asc', proven: true }) as const;

describe('the plan of a run', () => {
  test.each([
    ['everything the first time', undefined, {}, { mode: 'full', since: undefined }],
    ['everything where only an older run is known that never ended', base, {}, { mode: 'full' }],
    [
      'what changed since the caller says, the first time',
      base,
      { updatedSince: '2026-01-01' },
      { mode: 'incremental', since: '2026-01-01T00:00:00Z' },
    ],
    [
      'what changed since the watermark, less the lag',
      { ...base, watermark: W },
      { updatedSince: '2026-01-01', lookbackMs: 60_000 },
      { mode: 'incremental', since: '2026-01-05T07:59:00Z' },
    ],
    [
      'everything in mode full',
      { ...base, watermark: W },
      { mode: 'full' },
      { mode: 'full', since: undefined },
    ],
  ])('is %s', (_, state, more, plan) => {
    expect(planRun(state, options(more))).toEqual({ ...begun, since: undefined, ...plan });
  });

  const incremental = { ...base, watermark: W, run: { watermark: W, since: W, token: 't' } };
  const full = { ...base, run: { watermark: W, token: 't' } };

  test.each([
    ['an incremental run', incremental, {}, { mode: 'incremental', since: W, token: 't' }],
    ['a full run', full, {}, { mode: 'full', since: undefined, token: 't' }],
    ['a full run by another one', full, { mode: 'full' }, { mode: 'full', since: undefined, token: 't' }],
    [
      'a run by pages, which begins again',
      incremental,
      { pagination: 'page' },
      { mode: 'incremental', since: W, token: undefined },
    ],
  ])('ends %s that was interrupted, with the watermark that it had', (_, state, more, plan) => {
    expect(planRun(state, options(more))).toEqual({ watermark: W, resumed: true, ...plan });
  });

  test('gives an interrupted incremental run up for one that reads everything', () => {
    expect(planRun(incremental, options({ mode: 'full' }))).toEqual({
      ...begun,
      mode: 'full',
      since: undefined,
    });
  });

  test('is everything where no bound can be trusted', () => {
    expect(everything(W)).toEqual({ ...begun, mode: 'full', since: undefined, watermark: W });
  });
});

describe('the state', () => {
  test('while a run is under way holds where it goes on, and what was known before', () => {
    const before = { ...base, watermark: W, pageSize: 30 };
    expect(stateDuring(before, { watermark: W, since: W, token: 't' })).toStrictEqual({
      ...before,
      run: { watermark: W, since: W, token: 't' },
    });
    expect(stateDuring(before, { watermark: W })).toStrictEqual({ ...before, run: { watermark: W } });
  });

  test.each([
    ['a full walk', 'full', hintOf(30), { watermark: W, full: W, hint: hintOf(30) }],
    ['an incremental one', 'incremental', hintOf(30), { watermark: W, full: 'before', hint: hintOf(30) }],
    ['one that proved no page size', 'incremental', undefined, { watermark: W, full: 'before' }],
    ['one that met hidden rows', 'full', hintOf(0), { watermark: W, full: W, hint: hintOf(0) }],
  ] as const)('after %s holds its watermark and no run', (_, mode, hint, state) => {
    const before = { ...base, full: 'before', hint: hintOf(20), run: { watermark: W } };
    const plan = { ...everything(W), mode, watermark: W };
    expect(stateAfter(before, plan, hint)).toStrictEqual({ ...base, ...state });
  });

  test('after a walk that showed no row has no page size where none was known', () => {
    expect(stateAfter(base, { ...everything(W), watermark: W }, undefined)).toStrictEqual({
      ...base,
      watermark: W,
      full: W,
    });
  });
});
