import { expect, test } from 'vitest';
import { checkedQuery, type ListQuery, parameters } from '../../../src/collections/list-query.ts';
import { thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const sent = (query: ListQuery, own = {}) =>
  Object.fromEntries(parameters(checkedQuery(query), own, '_page'));

test.each<[ListQuery, Record<string, string>]>([
  [{}, {}],
  [{ page: undefined, updatedSince: undefined, id: undefined }, {}],
  [{ updatedSince: '2026-01-31' }, { updatedSince: '2026-01-31' }],
  [{ updatedSince: '2026-01-31T12:00:00+01:00' }, { updatedSince: '2026-01-31T12:00:00+01:00' }],
  [{ updatedSince: new Date(0) }, { updatedSince: '1970-01-01T00:00:00.000Z' }],
  [
    { id: { gt: '1', gte: '2', lt: '3', lte: '4' } },
    { 'id[gt]': '1', 'id[gte]': '2', 'id[lt]': '3', 'id[lte]': '4' },
  ],
  [{ id: { between: ['1', '9'] } }, { 'id[between]': '1..9' }],
  [{ id: { between: '1,9' } }, { 'id[between]': '1,9' }],
])('the list query %o is sent as %j', (query, expected) => {
  expect(sent(query)).toEqual(expected);
});

test('the page and the bounds of the pagination are sent beside the filters of the caller', () => {
  expect(sent({ updatedSince: '2026-01-31' }, { page: 3 })).toEqual({
    _page: '3',
    updatedSince: '2026-01-31',
  });
  expect(sent({ id: { between: '1..9', gt: '2' } }, { id: { gt: '5', lte: '8' } })).toEqual({
    'id[between]': '1..9',
    'id[gt]': '5',
    'id[lte]': '8',
  });
});

test.each<[unknown, string]>([
  [{ page: 0 }, 'page'],
  [{ page: 1.5 }, 'page'],
  [{ page: '2' }, 'page'],
  [{ updatedSince: 'yesterday' }, 'updatedSince'],
  [{ updatedSince: '2026-01-31T12:00:00' }, 'updatedSince'],
  [{ updatedSince: '2026-02-30' }, 'updatedSince'],
  [{ updatedSince: new Date(Number.NaN) }, 'updatedSince'],
  [{ updatedSince: new Date(Date.UTC(10_000, 0)) }, 'updatedSince'],
  [{ id: '100' }, 'id'],
  [{ id: { gt: '' } }, 'id.gt'],
  [{ id: { lt: 'a\nb' } }, 'id.lt'],
  [{ id: { between: ['1'] } }, 'id.between'],
  // The service would split these in another place.
  [{ id: { between: ['1..2', '3'] } }, 'id.between'],
  [{ id: { between: ['A.', 'B'] } }, 'id.between'],
  [{ id: { greaterThan: '1' } }, 'id.greaterThan'],
  [{ updated_since: '2026-01-31' }, 'updated_since'],
  ['2026-01-31', 'query'],
  [null, 'query'],
])(
  'the list query %o is rejected at once, because a service may ignore it and return everything',
  (query, argument) => {
    const fetch = scriptedFetch(jsonResponse([]));
    const { accounts } = scriptedClient(fetch);
    const error = thrown(() => accounts.list(query as ListQuery));
    expect(error).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
    expect(fetch.requests).toHaveLength(0);
  },
);

test.each<[string, object, object]>([
  ['pagination', {}, { pagination: { first: {} } }],
  ['resumeFrom', {}, { pagination: 'page', resumeFrom: 'token' }],
  ['page', { page: 2 }, { pagination: 'keyset' }],
  ['page', { page: 2 }, { resumeFrom: 'token' }],
])('%s: a list of %j with %j is rejected at once', (argument, query, options) => {
  const { accounts } = scriptedClient(scriptedFetch(jsonResponse([])));
  expect(thrown(() => accounts.list(query, options))).toMatchObject({ code: 'invalid_input', argument });
});
