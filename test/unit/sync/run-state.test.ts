import { describe, expect, test } from 'vitest';
import { MalformedRequestError } from '../../../src/errors/malformed-request-error.ts';
import { resolved } from '../../../src/input/checks.ts';
import type { Page } from '../../../src/pagination/page.ts';
import type { SyncState } from '../../../src/reading/state.ts';
import { asRun, type RunOptions, runOptions } from '../../../src/sync/run-options.ts';
import { committed, delivering, progressOf, removed, reportOf } from '../../../src/sync/run-report.ts';
import {
  begin,
  checkpointOf,
  finish,
  inUtc,
  next,
  type RunState,
  unread,
} from '../../../src/sync/run-state.ts';

const own = { scope: 'scope', parameters: undefined, by: 'this run' };
const LAST = '2026-01-05T08:00:00Z';
/** LAST less two minutes, in the lowest offset on Earth. */
const BOUND = '2026-01-04T19:58:00-12:00';

/** What the store has after a run that ended. */
const ended: SyncState = { scope: 'scope', by: 'earlier', watermark: LAST, full: '2026-01-01T00:00:00Z' };

/** What the store has if a run was interrupted. */
const interrupted = (since: string | undefined, token: string | undefined = 'token'): SyncState => ({
  ...ended,
  run: { watermark: '2026-01-05T09:00:00Z', since, token },
});

const rulesOf = (options: Partial<RunOptions> = {}, pagination: 'keyset' | 'page' = 'keyset') => ({
  ...asRun(resolved(runOptions, { tenant: 'acme', ...options }, { of: 'sync' })),
  pagination,
});

function startOf(found?: SyncState, ...rules: Parameters<typeof rulesOf>): RunState {
  return begin(unread(own), found, rulesOf(...rules));
}

/** A page that the service sent at this time. */
function pageAt(time: string, page: Partial<Page<{ id: string }>> = {}): Page<{ id: string }> {
  const first = { serverTime: new Date(time), requestedAt: new Date(time), durationMs: 0 };
  return {
    ...first,
    first,
    rows: [],
    records: [],
    ids: [],
    sent: [],
    invalid: [],
    rateLimit: undefined,
    pagination: 'keyset',
    complete: 'certain',
    evidence: { facts: ['whole_intervals'], longest: 2 },
    repeated: 0,
    restarted: false,
    resumeToken: 'after',
    ...page,
  } as Page<{ id: string }>;
}

const LATER = '2026-01-05T10:00:00Z';

const malformed = new MalformedRequestError('400', { method: 'GET', path: '/accounts' }, {
  status: 400,
  problem: { violations: [], extensions: {} },
  headers: {},
} as never);

test('a page of a resumed run keeps its watermark, even if the clock of the service went back', () => {
  const { state, kind } = next(startOf(interrupted(BOUND)), pageAt('2026-01-01T00:00:00Z'), rulesOf());
  expect(checkpointOf(state).run).toMatchObject({
    watermark: '2026-01-05T09:00:00Z',
    since: BOUND,
    token: 'after',
  });
  // If the run is not resumed, what it has not read is read from there.
  expect(checkpointOf(state).watermark).toBe(LAST);
  expect([kind, state.clockWentBack]).toEqual(['pass', false]);
});

test('a resumed run keeps the length of the longest response that the one before has met', () => {
  const found = interrupted(BOUND);
  const evidence = { facts: [], longest: 5 };
  const { state } = next(
    startOf({ ...found, run: { ...found.run, evidence } as never }),
    pageAt(LATER),
    rulesOf(),
  );
  expect(state.run?.evidence).toEqual({ facts: ['whole_intervals'], longest: 5 });
});

test('a run that is resumed by page begins again, because a page has no place', () => {
  const { run } = startOf(interrupted(BOUND), {}, 'page');
  expect(run).toEqual({ ...interrupted(BOUND).run, token: undefined, resumed: true });
});

test.each([
  ['without a bound', startOf()],
  ['to a bound in UTC', startOf({ ...ended, offset: 'Z' })],
  ['after the first page', next(startOf(ended), pageAt(LATER), rulesOf()).state],
])('a 400 %s does not change how the bound is written', (_, state) => {
  expect(inUtc(state, malformed)).toBeUndefined();
});

test('a 400 to the bound of a resumed run begins that run again in UTC, with its watermark', () => {
  const { run = {}, stored } = inUtc(startOf(interrupted(BOUND)), malformed) ?? startOf();
  const { watermark } = interrupted(BOUND).run ?? {};
  expect(run).toEqual({ watermark, since: '2026-01-05T07:58:00Z', token: undefined, resumed: false });
  expect(stored.offset).toBe('Z');
});

test('a run names the first row without an id that can be read by its number in the read', () => {
  const invalid = [{ collection: 'accounts', id: undefined, issues: [], record: null }];
  const whole = pageAt(LATER, { rows: [{ id: '1' }, { id: '2' }] });
  const broken = pageAt(LATER, { rows: [{ id: '3' }, null], invalid });
  const first = next(startOf(), whole, rulesOf()).state;
  expect(first.unreadable).toBeUndefined();
  const second = next(first, broken, rulesOf()).state;
  expect(second.unreadable).toMatch(/^in row 4 of the read, /);
  expect(next(second, broken, rulesOf()).state.unreadable).toBe(second.unreadable);
});

test('a slow first response does not look like a clock that went back', () => {
  const first = {
    serverTime: new Date('2026-01-05T08:00:30Z'),
    requestedAt: new Date(LAST),
    durationMs: 60_000,
  };
  const { state, kind } = next(startOf(ended), pageAt(LATER, { first }), rulesOf());
  expect([kind, state.clockWentBack, state.run?.watermark]).toEqual(['pass', false, '2026-01-05T07:59:30Z']);
});

describe('the end of a run', () => {
  test('of a first read looked for deletions only if it was asked for or marked', () => {
    const first = next(startOf(undefined), pageAt(LATER), rulesOf()).state;
    expect(finish(first, 'incremental')).toMatchObject({ full: LATER, checked: undefined });
    expect(finish(first, 'full')).toMatchObject({ checked: LATER });
    expect(finish({ ...first, run: { ...first.run, read: 1 } }, 'incremental')).toMatchObject({
      checked: LATER,
    });
  });

  test('without a page changes nothing', () => {
    const begun = startOf(interrupted(BOUND));
    expect(finish(begun, 'incremental')).toEqual({ ...interrupted(BOUND), ...own });
    expect(checkpointOf(begun).run).toEqual(interrupted(BOUND).run);
  });

  test.each([
    ['an incremental run', { ...ended, deep: LAST }, undefined, LAST],
    ['an incremental run of a state without it', ended, undefined, LATER],
    ['a deep run', { ...ended, deep: '2026-01-05T07:00:00Z' }, undefined, LATER],
    ['a full run', { ...ended, deep: LAST }, 'full', LATER],
  ] as const)('notes that it read deep, or keeps when one did: %s', (_, found, mode, deep) => {
    const run = next(startOf(found, { mode }), pageAt(LATER), rulesOf({ mode })).state;
    expect(finish(run, mode ?? 'incremental').deep).toBe(deep);
  });
});

describe('the report of a run', () => {
  const batch = { records: [{ id: '1' }, { id: '2' }], invalid: [] };

  test('counts a batch as it was before the consumer took it', () => {
    const taken = { records: [...batch.records], invalid: [] };
    const state = delivering(startOf(ended), taken);
    taken.records.length = 0;
    expect(state.counts.records).toBe(0);
    expect(reportOf(committed(state, undefined))).toMatchObject({ records: 2, pages: 1 });
    expect(reportOf(committed(state, undefined))).not.toHaveProperty('added');
  });

  test('counts a batch with invalid rows alone as one that held something, and one without rows as none', () => {
    const invalid = [{ collection: 'accounts', id: '3', issues: [], record: {} }];
    const once = committed(delivering(startOf(ended), { records: [], invalid }), undefined);
    expect(reportOf(once)).toMatchObject({ records: 0, invalid: 1, pages: 1 });
    const twice = committed(delivering(once, { records: [], invalid: [] }), undefined);
    expect(reportOf(twice)).toMatchObject({ pages: 1 });
  });

  test('says how many records a second were committed', () => {
    const state = committed(delivering(startOf(ended), batch), undefined);
    expect(progressOf(state, 500)).toMatchObject({ records: 2, recordsPerSecond: 4 });
    expect(progressOf(state, 0)).toMatchObject({ recordsPerSecond: 0 });
  });

  test('adds up what a target says that it changed, and moves what it keeps as invalid', () => {
    const written = { added: 1, changed: 1, unchanged: 0, replaced: ['1'], invalid: 1 };
    const once = committed(delivering(startOf(ended), batch), written);
    const twice = committed(delivering(once, { records: [], invalid: [] }), { ...written, invalid: 0 });
    expect(reportOf(removed(twice, 3))).toMatchObject({
      records: 1,
      invalid: 1,
      pages: 1,
      added: 2,
      changed: 2,
      unchanged: 0,
      replaced: 2,
      deleted: 3,
    });
  });
});
