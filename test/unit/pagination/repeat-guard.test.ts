import { expect, test } from 'vitest';
import { RepeatGuard } from '../../../src/pagination/repeat-guard.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { answerOf, ids } from './services.ts';

const fresh = (guard: RepeatGuard, rows: readonly string[], invalid: readonly (string | undefined)[] = []) =>
  guard.newRecords(answerOf(rows, invalid)).map(({ id }) => id);

test('lets any number of rows pass that are not repeated', () => {
  const guard = new RepeatGuard(undefined);
  for (let page = 0; page < 100; page++) {
    const rows = ids(page * 10, page * 10 + 9);
    expect(fresh(guard, rows)).toEqual(rows);
  }
});

test('drops what the two pages before held, and what a page holds twice', () => {
  const guard = new RepeatGuard(undefined);
  expect(fresh(guard, ['1', '2', '2'])).toEqual(['1', '2']);
  expect(fresh(guard, ['2', '3'])).toEqual(['3']);
  expect(fresh(guard, ['1', '4'])).toEqual(['4']);
  expect(fresh(guard, ['5'])).toEqual(['5']);
  // The pages that held it are farther back.
  expect(fresh(guard, ['2', '6'])).toEqual(['2', '6']);
});

test.each([
  ['some of its rows', ['1', '2', '3'], ['1', '3'], []],
  ['its rows and another', ['1', '2'], ['1', '2', '3'], ['3']],
  ['as many, of which one is another', ['1', '2'], ['1', '3'], ['3']],
])('takes a page for no repetition that holds %s', (_, first, second, rest) => {
  const guard = new RepeatGuard(undefined);
  fresh(guard, first);
  expect(fresh(guard, second)).toEqual(rest);
});

test('takes empty pages for no repetition', () => {
  const guard = new RepeatGuard(undefined);
  expect([fresh(guard, []), fresh(guard, []), fresh(guard, ['1'])]).toEqual([[], [], ['1']]);
});

test('notices a third identical page in a row, even if its rows are invalid', () => {
  const records = new RepeatGuard(undefined);
  fresh(records, ['1', '2']);
  expect(fresh(records, ['2', '1'])).toEqual([]);
  expect(() => fresh(records, ['1', '2'])).toThrow(
    "GET a list returned the rows of earlier pages again and again: the service ignored the page that was requested. Use pagination: 'keyset', or check your own cursor.",
  );
  const invalid = new RepeatGuard({ method: 'GET', path: '/boms' });
  for (let page = 0; page < 2; page++) fresh(invalid, ['1'], ['2', undefined]);
  expect(() => fresh(invalid, ['1'], ['2', undefined])).toThrow('GET /boms returned the rows');
});

test('tells rows without an id apart by what they hold', () => {
  const guard = new RepeatGuard(undefined);
  const page = (...names: string[]) => ({
    ...answerOf([]),
    invalid: names.map((name) => ({ collection: 'boms', id: undefined, issues: [], record: { name } })),
  });
  guard.newRecords(page('a', 'b'));
  expect(() => guard.newRecords(page('c', 'd'))).not.toThrow();
  expect(() => guard.newRecords(page('d', 'c'))).not.toThrow();
  expect(() => guard.newRecords(page('c', 'd'))).toThrow('again and again');
});

test.each([2, 7, 10, 50])('notices that %i pages come in turn', (pages) => {
  const guard = new RepeatGuard(undefined);
  let count = 0;
  expect(() => {
    for (; count < 10_000; count++) fresh(guard, ids((count % pages) * 100, (count % pages) * 100 + 99));
  }).toThrow('again and again');
  expect(count).toBeGreaterThan(4 * pages);
  expect(count).toBeLessThan(20 * pages);
});

test('notices rows that come again in any order, after many that did not', () => {
  const guard = new RepeatGuard(undefined);
  const random = new SeededRandom(7);
  let count = 0;
  expect(() => {
    for (; count < 10_000; count++) {
      const from = count < 100 ? 1_000 + count * 10 : random.int(0, 90);
      fresh(guard, ids(from, from + 9));
    }
  }).toThrow('again and again');
  expect(count).toBeGreaterThan(100);
});
