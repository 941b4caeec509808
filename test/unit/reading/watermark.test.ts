import { expect, test } from 'vitest';
import { decodeState, encodeState } from '../../../src/reading/state.ts';
import { checkStart, toSeconds, watermarkOf } from '../../../src/reading/watermark.ts';

const START = '2026-01-05T08:00:00Z';

test.each([
  [0, '1970-01-01T00:00:00Z'],
  [1_999, '1970-01-01T00:00:01Z'],
  [-1, '1969-12-31T23:59:59Z'],
  [-1_000, '1969-12-31T23:59:59Z'],
  [-1_001, '1969-12-31T23:59:58Z'],
])('toSeconds rounds %d ms down to %s', (ms, text) => {
  expect(toSeconds(ms)).toBe(text);
});

test.each<[string, Parameters<typeof watermarkOf>[0], string]>([
  [
    'the Date of the first response, less the time that it took',
    { serverTime: new Date('2026-01-05T08:00:07Z'), requestedAt: new Date(0), durationMs: 2_500 },
    '2026-01-05T08:00:04Z',
  ],
  [
    'without a Date the local clock before the request, which may be five minutes ahead',
    { serverTime: undefined, requestedAt: new Date('2026-01-05T08:00:07.900Z'), durationMs: 2_500 },
    '2026-01-05T07:55:07Z',
  ],
])('the watermark is %s', (_, response, expected) => {
  expect(watermarkOf(response)).toBe(expected);
});

test.each([-62_135_596_800_000, -99_999_999_999_999, 8.64e15 * -1])(
  'the state can hold a watermark whatever the clock of the service shows: %d ms',
  (ms) => {
    const watermark = watermarkOf({ serverTime: new Date(ms), requestedAt: new Date(), durationMs: 0 });
    const state = { scope: 'scope', by: 'run', watermark };
    expect(decodeState(encodeState(state), 'key')).toMatchObject({ watermark: '1970-01-01T00:00:00Z' });
  },
);

test.each([
  [new Date('0000-01-01T00:00:00Z'), '0000-01-01T00:00:00Z'],
  [new Date('9999-12-31T23:59:59.999Z'), '9999-12-31T23:59:59Z'],
  ['2026-01-05T09:00:00.999+01:00', START],
])('checkStart accepts %s', (value, text) => {
  expect(checkStart(value, 'updatedSince')).toBe(text);
});
