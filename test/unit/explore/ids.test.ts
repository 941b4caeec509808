import { expect, test } from 'vitest';
import { collectionOfIri, type IdForm, idComparison, idFormOf, missingId } from '../../../src/explore/ids.ts';
import { idsOf, readListBody } from '../../../src/explore/rows.ts';
import { ID_FORMS } from '../../../src/schemas/service-forms.ts';

const UUID = '0af8d1b2-77c4-4e5b-9c3d-00000000000a';
const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

test.each<[ids: readonly string[], form: IdForm | undefined]>([
  [[], undefined],
  [['0', '17', '9'.repeat(39)], 'numeric'],
  [['9'.repeat(40)], 'text'],
  [['7', '007'], 'text'],
  [[UUID, UUID.toUpperCase()], 'uuid'],
  [[ULID, ULID.toLowerCase()], 'ulid'],
  // Too large for 128 bits.
  [[ULID.replace('0', '8')], 'text'],
  [[UUID, '7'], 'text'],
  [[UUID, ULID], 'text'],
])('the form of ids is one that all have: %j is %s', (ids, form) => {
  expect(idFormOf(ids)).toBe(form);
});

test.each<[form: IdForm | undefined, sorted: readonly string[] | undefined]>([
  ['numeric', ['9', '10', '9007199254740992', '9007199254740993']],
  ['uuid', [UUID, UUID.toUpperCase().replace('A', 'B')]],
  ['ulid', [ULID, ULID.toLowerCase().replace('1', '2')]],
  ['text', undefined],
  [undefined, undefined],
])('ids of the form %s are in the order %j', (form, sorted) => {
  const compare = idComparison(form);
  expect(compare && sorted?.toReversed().sort(compare)).toEqual(sorted);
  for (const id of sorted ?? []) expect(compare?.(id, id)).toBe(0);
});

test('an id that is missing has the form of the others, so that the service looks for it', () => {
  for (const form of ID_FORMS) expect(idFormOf([missingId(form)])).toBe(form);
  expect(Number(missingId('numeric'))).toBeLessThan(2 ** 31 - 1);
});

test.each([
  ['/api/public/v1/account-addresses/7', 'accountAddresses'],
  ['https://books.example.com/tenant/api/public/v1/accounts/A%2F1', 'accounts'],
  ['/api/public/v1/accounts', undefined],
  ['/api/public/v1/accounts/7/lines', undefined],
  ['/api/public/v1/others/7', undefined],
  ['/other/accounts/7', undefined],
  [7, undefined],
])('the IRI %j is of the collection %s', (value, collection) => {
  expect(collectionOfIri(value)).toBe(collection);
});

test('the rows of a list are its objects, in each form of a list', () => {
  const list = [{ id: '1' }, null, 'x', ['2'], { id: 3 }, { id: '' }, {}];
  const rows = [{ id: '1' }, { id: 3 }, { id: '' }, {}];
  expect(readListBody(list)).toEqual({ form: 'array', rows });
  for (const form of ['member', 'hydra:member'] as const)
    expect(readListBody({ [form]: list })).toEqual({ form, rows });
  for (const body of [{ rows: list }, { member: {} }, 'x', null]) expect(readListBody(body)).toBeUndefined();
  expect(idsOf(rows)).toEqual(['1', '3']);
});
