import { expect, it } from 'vitest';
import { RepeatGuard } from '../../../src/pagination/repeat-guard.ts';
import { answerOf, ids } from './services.ts';

const fresh = (guard: RepeatGuard, rows: readonly string[], invalid: readonly (string | undefined)[] = []) =>
  guard.fresh(answerOf(rows, invalid)).map(({ id }) => id);

it('lets any number of rows pass that are not repeated', () => {
  const guard = new RepeatGuard(undefined);
  for (let page = 0; page < 100; page++) {
    const rows = ids(page * 10, page * 10 + 9);
    expect(fresh(guard, rows)).toEqual(rows);
  }
});

it('drops what the two pages before held, and what a page holds twice', () => {
  const guard = new RepeatGuard(undefined);
  expect(fresh(guard, ['1', '2', '2'])).toEqual(['1', '2']);
  expect(fresh(guard, ['2', '3'])).toEqual(['3']);
  expect(fresh(guard, ['1', '4'])).toEqual(['4']);
  expect(fresh(guard, ['5'])).toEqual(['5']);
  // The pages that held it are farther back.
  expect(fresh(guard, ['2', '6'])).toEqual(['2', '6']);
});

it.each([
  ['some of its rows', ['1', '2', '3'], ['1', '3'], []],
  ['its rows and another', ['1', '2'], ['1', '2', '3'], ['3']],
  ['as many, of which one is another', ['1', '2'], ['1', '3'], ['3']],
])('takes a page for no repetition that holds %s', (_, first, second, rest) => {
  const guard = new RepeatGuard(undefined);
  fresh(guard, first);
  expect(fresh(guard, second)).toEqual(rest);
});

it('takes empty pages for no repetition', () => {
  const guard = new RepeatGuard(undefined);
  expect([fresh(guard, []), fresh(guard, []), fresh(guard, ['1'])]).toEqual([[], [], ['1']]);
});

it('notices a page that is the one before, also where its rows fit no schema', () => {
  const records = new RepeatGuard(undefined);
  fresh(records, ['1', '2']);
  expect(() => fresh(records, ['2', '1'])).toThrow(
    'GET a list answered again with rows of earlier pages: the service ignored the page that was asked for.',
  );
  const invalid = new RepeatGuard({ method: 'GET', path: '/boms' });
  fresh(invalid, ['1'], ['2', undefined]);
  expect(() => fresh(invalid, ['1'], ['2', undefined])).toThrow('GET /boms answered again with rows');
});

it('tells rows without an id apart by what they hold', () => {
  const guard = new RepeatGuard(undefined);
  const page = (...names: string[]) => ({
    ...answerOf([]),
    invalid: names.map((name) => ({ collection: 'boms', id: undefined, issues: [], record: { name } })),
  });
  guard.fresh(page('a', 'b'));
  expect(() => guard.fresh(page('c', 'd'))).not.toThrow();
  expect(() => guard.fresh(page('d', 'c'))).toThrow('answered again');
});

it('gives up where every row has come more than four times, and not before', () => {
  const guard = new RepeatGuard(undefined);
  let rows = 0;
  const turn = () => {
    for (let page = 0; page < 10; page++) {
      fresh(guard, ids(page * 100, page * 100 + 99));
      rows += 100;
    }
  };
  expect(() => {
    for (;;) turn();
  }).toThrow('answered again');
  expect(rows).toBeGreaterThan(3_000);
  expect(rows).toBeLessThan(5_500);
});
