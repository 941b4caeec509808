import { UnexpectedResponseError } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { type CreateState, known, NONE, type SentCreate } from '../../../src/push/create.ts';
import type { RowSight, ShownProduct } from '../../../src/push/match.ts';
import { keptRows, plannedResults, planOf } from '../../../src/push/plan.ts';
import type { PushRow, RowGroup } from '../../../src/push/rows.ts';

const row = (key: string, index = 0): PushRow => ({
  key,
  folded: key.toLowerCase(),
  index,
  row: undefined,
  draft: JSON.stringify({ name: 'Desk', remark: null }),
});

test.each<[string, exact: readonly string[], kept: readonly string[], duplicates: readonly string[]]>([
  ['the first row, if no product has exactly one of the keys', [], ['ab'], ['AB 0', 'Ab 0']],
  ['a row whose key a product has exactly', ['AB'], ['AB'], ['ab 1', 'Ab 1']],
  ['each row whose key a product has exactly', ['AB', 'Ab'], ['AB', 'Ab'], ['ab 1']],
  ['all, if each key has a product', ['ab', 'AB', 'Ab'], ['ab', 'AB', 'Ab'], []],
])('of rows with one folded key, a push keeps %s', (_, exact, expected, expectedDuplicates) => {
  const group: RowGroup = [row('ab'), row('AB', 1), row('Ab', 2)];
  const alone = row('c', 3);
  const groups = new Map([
    ['ab', group],
    ['c', [alone] as RowGroup],
  ]);
  const { rows, sharing, duplicates } = keptRows(groups, ({ key }) => exact.includes(key));
  expect(rows.map(({ key }) => key)).toEqual([...expected, 'c']);
  expect(sharing.map(({ key }) => key)).toEqual(expected.length > 1 ? expected : []);
  expect(duplicates.map(([{ key }, { firstIndex }]) => `${key} ${firstIndex}`)).toEqual(expectedDuplicates);
});

const shown = (fields: readonly string[] = []): ShownProduct => ({
  id: '7',
  createdAt: 100,
  key: 'a',
  isListed: true,
  fields,
  changes: fields.map((field) => ({ field, from: 'old', to: 'new' })),
});
const one = (product: ShownProduct): RowSight => ({
  sight: { products: 'one', product },
  product,
  ids: [product.id],
  reason: '',
});
const none = (more: object = {}, reason = ''): RowSight => ({
  sight: { products: 'none', mayLack: false, ...more },
  product: undefined,
  ids: [],
  reason,
});
const sent: SentCreate = {
  is: 'sent',
  idempotencyKey: 'k',
  draft: '{}',
  sendings: 1,
  isEarlier: true,
  isOwn: false,
  keys: 0,
  failures: 0,
};
const made = known({ id: '7', createdAt: 100, key: 'a' });
const error = new UnexpectedResponseError('', {}, { status: 200, reason: 'empty' });
const A = row('A');

/** A plan as one word for where the row is, or its result. */
function planned(state: CreateState, seen: RowSight) {
  const plan = planOf([{ row: A, state, seen, error }]);
  const [result] = plan.results;
  const { creates, updates, open } = plan;
  const places = { create: creates.length, update: updates.length, open: open.length };
  const place = Object.entries(places).flatMap(([name, count]) => (count > 0 ? [name] : []));
  expect(place.length + plan.results.length).toBe(1);
  return { place: place[0], result: result?.[1], next: plan.states[0]?.[1], plan };
}

test('a row without a product is created, and one whose product differs updated', () => {
  expect(planned(NONE, none())).toMatchObject({ place: 'create', next: undefined });
  expect(planned(sent, none())).toMatchObject({ place: 'create', next: undefined });
  expect(planned(NONE, one(shown(['name'])))).toMatchObject({ place: 'update', next: { id: '7' } });
});

test('a row whose product has its values has a result, by what this run did for it', () => {
  const unchanged = one(shown());
  expect(planned(NONE, unchanged).result).toEqual({ action: 'unchanged', id: '7' });
  expect(planned({ ...sent, isOwn: true }, unchanged).result).toMatchObject({ action: 'created', id: '7' });
  const updated = planned({ ...made, fieldsSent: ['name'] }, unchanged).result;
  expect(updated).toEqual({ action: 'updated', id: '7', fields: ['name'] });
});

test('a row that cannot be settled waits, or fails with the reason', () => {
  const missing = { made: { is: 'missing' } };
  expect(planned(made, none(missing))).toMatchObject({ place: 'open', next: { misses: 1 } });
  expect(planned(made, none({ made: { is: 'failed' } })).result).toEqual({
    action: 'failed',
    id: '7',
    error,
  });
  const unreachable = planned({ ...made, wasListed: true }, none(missing)).result;
  expect(unreachable).toMatchObject({
    action: 'failed',
    id: '7',
    reason: expect.stringContaining('cannot be requested'),
  });
  const lacking = planned(sent, none({ mayLack: true })).result;
  expect(lacking).toMatchObject({
    action: 'failed',
    error: {
      outcome: 'unknown',
      reason: 'wrong_content',
      message: expect.stringContaining('incomplete'),
    },
  });
  const unreadable = planned(NONE, none({ mayLack: true }, 'product 2')).result;
  expect(unreadable).toMatchObject({
    action: 'failed',
    error: {
      outcome: 'not_sent',
      reason: 'wrong_shape',
      message: expect.stringContaining('product 2'),
    },
  });
  const several: RowSight = {
    sight: { products: 'several' },
    product: shown(),
    ids: ['7', '8'],
    reason: 'why',
  };
  expect(planned(NONE, several).result).toEqual({
    action: 'conflict',
    id: '7',
    ids: ['7', '8'],
    reason: 'why',
  });
});

test('a dry run says what each write would send', () => {
  const results = (state: CreateState, seen: RowSight, isDryRun: boolean) =>
    [...plannedResults(planned(state, seen).plan, isDryRun)].map(([, outcome]) => outcome);
  const changes = [{ field: 'name', from: null, to: 'Desk' }];
  expect(results(NONE, none(), true)).toEqual([{ action: 'created', changes }]);
  expect(results(NONE, none(), false)).toEqual([{ action: 'created', changes: [] }]);
  expect(results(NONE, one(shown(['name'])), true)).toMatchObject([
    { action: 'updated', id: '7', fields: ['name'], changes: [{ field: 'name', from: 'old', to: 'new' }] },
  ]);
});
