import { expect, test } from 'vitest';
import { parseExactly } from '../../../src/files/exact-json.ts';
import { ndjsonRows } from '../../../src/files/ndjson.ts';
import { caught } from '../../support/caught.ts';

/** The rows of a file that is read in pieces of so many bytes. */
async function rowsOf(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  })();
  const rows = [];
  for await (const row of ndjsonRows(pieces)) rows.push(row);
  return rows;
}

test.each([1, 2, 3, 7, 1_000])('NDJSON is the same in pieces of %i bytes', async (size) => {
  const second = '{"id":"2","name":"a\u2028b","price":0.30000000000000001}';
  const text = `\uFEFF{"id":"1","name":"Zoë 😀"}\r\n\n  \n${second}`;
  const [first, last, ...others] = await rowsOf(text, size);
  expect(first).toMatchObject({ line: 1, row: { id: '1', name: 'Zoë 😀' }, lossy: undefined });
  expect(last).toMatchObject({ line: 4, text: second, row: { id: '2', name: 'a\u2028b' } });
  expect([last?.lossy, others]).toEqual(['0.30000000000000001', []]);
  for (const [end, problem] of [
    ['\n[]', 'line 5 is not a JSON object.'],
    ['\nnull', 'line 5 is not a JSON object.'],
    ['\n{"secret', 'line 5 is not a JSON object.'],
  ] as const)
    expect(await caught(rowsOf(text + end, size))).toMatchObject({ message: problem });
});

test.each<[json: string, lossy: string | undefined]>([
  ['[9007199254740993, 9007199254740995]', '9007199254740993'],
  ['[9007199254740992, 1.50, -0.10, 1e3, 100000000000000000000, 0.000]', undefined],
  ['["9007199254740993"]', undefined],
  ['1.00000000000000001', '1.00000000000000001'],
  ['-123456789012345678.9', '-123456789012345678.9'],
  ['1e400', '1e400'],
  ['1e-400', '1e-400'],
  ['0.1234567890123456', undefined],
])('of the numbers in %s the first that loses digits is %s', (json, lossy) => {
  expect(parseExactly(json)).toEqual({ value: JSON.parse(json), lossy });
});
