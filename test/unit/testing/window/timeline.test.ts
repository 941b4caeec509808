import { describe, expect, test } from 'vitest';
import { type Band, bandsOf, barAt, heightOf } from '../../../../src/testing/window/timeline/draw.ts';
import {
  type Entry,
  outcomeOf,
  outcomeText,
  waitAfter,
} from '../../../../src/testing/window/timeline/entry.ts';
import { TimelineModel } from '../../../../src/testing/window/timeline/model.ts';
import {
  durationText,
  following,
  ticks,
  towards,
  zoomed,
} from '../../../../src/testing/window/timeline/view.ts';

const whole = (headers = {}) => ({ sent: 'whole', headers, bodyBytes: 0 }) as const;

function entry(
  number: number,
  startedAt: number,
  durationMs: number | null,
  more: Partial<Entry> = {},
): Entry {
  return {
    number,
    startedAt,
    durationMs,
    method: 'GET',
    url: '/',
    path: '/',
    key: 'full',
    idempotencyKey: null,
    status: 200,
    error: null,
    records: null,
    fault: null,
    bodyBytes: 0,
    quota: null,
    response: durationMs === null ? null : whole(),
    ...more,
  };
}

function modelOf(...entries: Entry[]) {
  const model = new TimelineModel();
  for (const one of entries) model.put(one);
  return model;
}

const rowsOf = (model: TimelineModel) =>
  model.lanes.map(({ name, bars }) => [name, bars.map(({ row }) => row).join(' ')]);

describe('the model', () => {
  test('has a lane for each key, and a row for each simultaneous request', () => {
    const model = modelOf(
      entry(1, 100, 50),
      entry(2, 110, 10),
      entry(3, 130, 10, { key: null }),
      entry(4, 140, 5),
      entry(5, 160, 5),
    );
    expect(rowsOf(model)).toEqual([
      ['full', '0 1 1 0'],
      ['no valid key', '0'],
    ]);
  });

  test('has a request that was sent when its client had the response before in the same row', () => {
    expect(rowsOf(modelOf(entry(1, 100, 50), entry(2, 148, 5), entry(3, 149, 5)))).toEqual([
      ['full', '0 0 1'],
    ]);
  });

  test('has six rows at most in a lane', () => {
    const model = modelOf(...Array.from({ length: 8 }, (_, at) => entry(at + 1, 100 + at, 50)));
    expect(rowsOf(model)).toEqual([['full', '0 1 2 3 4 5 5 5']]);
    expect(model.lanes[0]?.rows).toBe(6);
  });

  test('frees the row of a request when it ends, and keeps what it knows of one that has ended', () => {
    const model = modelOf(entry(1, 100, null), entry(2, 110, 5));
    expect(model.isRunning).toBe(true);
    model.put(entry(1, 100, 20));
    model.put(entry(1, 100, null));
    model.put(entry(3, 130, 5));
    expect([rowsOf(model), model.isRunning]).toEqual([[['full', '0 1 0']], false]);
  });

  test('joins the attempts under one idempotency key', () => {
    const create = { method: 'POST', idempotencyKey: 'k' };
    const model = modelOf(
      entry(1, 1, 1, create),
      entry(2, 5, 1, { ...create, idempotencyKey: 'l' }),
      entry(3, 9, 1, create),
    );
    expect([...model.retries].map((bars) => bars.map((bar) => bar.entry.number))).toEqual([[1, 3]]);
  });

  test('has the requests that belong together: a wait after a 429 does not part them', () => {
    const limited = { status: 429, response: whole({ 'Retry-After': '30' }) };
    const model = modelOf(entry(1, 1_000, 10), entry(2, 20_000, 10, limited), entry(3, 49_000, 10));
    expect(model.lastGroup).toEqual({ start: 20_000, end: 50_010 });
    expect(model.extent).toEqual({ start: 1_000, end: 50_010 });
    // Nor does a request that is still running.
    expect(modelOf(entry(1, 1_000, null), entry(2, 60_000, 10)).lastGroup.start).toBe(1_000);
  });

  test('knows nothing of what was before it was cleared', () => {
    const create = { method: 'POST', idempotencyKey: 'k' };
    const model = modelOf(entry(1, 100, 50, { ...create, key: null }), entry(2, 110, null));
    model.clear();
    model.put(entry(3, 120, 5, create));
    expect([rowsOf(model), model.size, model.find(1), [...model.retries]]).toEqual([
      [['full', '0']],
      1,
      undefined,
      [],
    ]);
    expect([model.isRunning, model.extent]).toEqual([false, { start: 120, end: 125 }]);
  });
});

test.each<[more: Partial<Entry>, outcome: string, text: string]>([
  [{}, 'success', '200'],
  [{ status: 302 }, 'redirect', '302'],
  [{ status: 404 }, 'rejected', '404'],
  [{ status: 503 }, 'failed', '503'],
  [{ response: { ...whole(), sent: 'nothing' } }, 'lost', '200, no response'],
  [{ response: { ...whole(), sent: 'partly' } }, 'lost', '200, cut off'],
  [{ status: null, response: { ...whole(), sent: 'nothing' } }, 'lost', 'no response'],
  [{ response: null }, 'lost', '200, client left'],
  [{ response: null, durationMs: null, status: null }, 'running', 'running'],
  [{ response: null, durationMs: null }, 'running', '200, not sent yet'],
  [{ response: { ...whole(), sent: 'slowly' } }, 'success', '200'],
])('a request %j is shown as %s: %s', (more, outcome, text) => {
  const shown = entry(1, 0, 5, more);
  expect([outcomeOf(shown), outcomeText(shown)]).toEqual([outcome, text]);
});

test.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'Retry-After': 'Sat, 31 Jan 2026 12:00:05 GMT', Date: 'Sat, 31 Jan 2026 12:00:00 GMT' }, 5_000],
  [{ 'Retry-After': 'Sat, 31 Jan 2026 11:59:00 GMT', Date: 'Sat, 31 Jan 2026 12:00:00 GMT' }, 0],
  [{ 'Retry-After': 'soon' }, 0],
  [{}, 0],
])('a 429 with %j asks for a wait of %i ms', (headers, ms) => {
  expect(waitAfter(entry(1, 0, 1, { status: 429, response: whole(headers) }))).toBe(ms);
});

test('a response that is no 429 asks for no wait of its key', () => {
  expect(waitAfter(entry(1, 0, 1, { status: 503, response: whole({ 'Retry-After': '2' }) }))).toBe(0);
});

test('the request at a place of the picture is the nearest one of its lane, and of its row', () => {
  const model = modelOf(entry(1, 0, 300), entry(2, 100, 50), entry(3, 500, 1, { key: null }));
  const bands = bandsOf(model.lanes);
  const [full, other] = bands as [Band, Band];
  const row = full.height - other.height;
  const numberAt = (x: number, y: number, view = { start: 0, end: 1_000 }) =>
    barAt({ view, gutter: 100, width: 1_100, bands, now: 1_000 }, x, y)?.entry.number;
  expect([numberAt(110, full.rows + 5), numberAt(220, full.rows + row + 5)]).toEqual([1, 2]);
  // A short one is clicked from some pixels away.
  expect([numberAt(608, other.rows + 5), numberAt(610, other.rows + 5)]).toEqual([3, undefined]);
  // Not in the names of the lanes, nor below them.
  expect([numberAt(98, full.rows + 5), numberAt(110, heightOf(bands))]).toEqual([undefined, undefined]);
  // One that began before the view is still in it.
  expect(numberAt(110, full.rows + 5, { start: 200, end: 1_200 })).toBe(1);
  const [limited] = bandsOf(modelOf(entry(1, 0, 1, { quota: { limit: 2, remaining: 1 } })).lanes);
  expect((limited?.rows ?? 0) > (full.rows ?? 0)).toBe(true);
});

describe('the view', () => {
  test('zooms around a time, within bounds', () => {
    expect(zoomed({ start: 0, end: 1000 }, 0.5, 250)).toEqual({ start: 125, end: 625 });
    const narrow = zoomed({ start: 0, end: 30 }, 0.01, 15);
    expect(narrow.end - narrow.start).toBe(20);
    const wide = zoomed({ start: 0, end: 60_000 }, 10_000, 0);
    expect(wide.end - wide.start).toBe(24 * 3_600_000);
  });

  test('follows what runs to now, and shows the whole of what has ended', () => {
    const group = { start: 1_000, end: 2_000 };
    expect(following(group, 2_500, true).end).toBeGreaterThan(2_500);
    expect(following(group, 60_000, false)).toEqual({ start: 970, end: 2_080 });
    // The next request may come soon.
    expect(following(group, 2_900, false)).toEqual({ start: 943, end: 3_052 });
    // Of many minutes, the last two.
    expect(following({ start: 0, end: 300_000 }, 900_000, false)).toEqual({ start: 176_400, end: 309_600 });
    const long = following({ start: 0, end: 90_000 }, 90_000, true);
    expect(long.start).toBeGreaterThan(55_000);
    // A wait of ten minutes does not move the request before it out of the view.
    const waiting = following({ start: 95_000, end: 700_000 }, 101_000, false);
    expect([waiting.start < 95_000, waiting.end > 131_000, waiting.end < 135_000]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('moves to another view in steps, and arrives', () => {
    let view = { start: 0, end: 100 };
    const target = { start: 1_000, end: 2_000 };
    for (let step = 0; step < 60; step += 1) view = towards(view, target, 0.25);
    expect(view).toBe(target);
  });

  test.each([20, 999, 5_500, 61_000, 7_200_000, 80_000_000])(
    'has at least two marks in %i ms, and at most eight',
    (span) => {
      const marks = ticks({ start: 1_700_000_000_123, end: 1_700_000_000_123 + span }, 8);
      expect(marks.length).toBeGreaterThanOrEqual(2);
      expect(marks.length).toBeLessThanOrEqual(9);
      expect(new Set(marks.map(({ text }) => text)).size).toBe(marks.length);
    },
  );
});

test.each([
  [999, /^\d\d:\d\d:\d\d\.\d{3}$/],
  [200_000, /^\d\d:\d\d:\d\d$/],
  [400_000, /^\d\d:\d\d$/],
])('the marks of %i ms are as precise as their distance', (span, form) => {
  for (const { text } of ticks({ start: 1_700_000_000_123, end: 1_700_000_000_123 + span }, 8))
    expect(text).toMatch(form);
});

test.each([
  [9.94, '9.9 ms'],
  [9.96, '10 ms'],
  [999.4, '999 ms'],
  [999.6, '1.00 s'],
  [9_996, '10.0 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [185_400, '3 min 5 s'],
])('a duration of %d ms is written as %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
