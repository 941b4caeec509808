import { expect, test } from 'vitest';
import { checkedQuery, type ListQuery, parameters } from '../../../src/collections/list-query.ts';
import { thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const bounds = { 'id[gt]': '1', 'id[gte]': '2', 'id[lt]': '3', 'id[lte]': '4' };

test.each<[ListQuery, object, Record<string, string>]>([
  [{ page: undefined, updatedSince: undefined, id: undefined }, {}, {}],
  [{ updatedSince: '2026-01-31T12:00:00+01:00' }, {}, { updatedSince: '2026-01-31T12:00:00+01:00' }],
  [{ updatedSince: new Date(0) }, {}, { updatedSince: '1970-01-01T00:00:00.000Z' }],
  [{ id: { gt: '1', gte: '2', lt: '3', lte: '4' } }, {}, bounds],
  [{ id: { between: ['1', '9'] } }, {}, { 'id[between]': '1..9' }],
  [{ id: { between: '1,9' } }, {}, { 'id[between]': '1,9' }],
  [{ updatedSince: '2026-01-31' }, { page: 3 }, { _page: '3', updatedSince: '2026-01-31' }],
  [
    { id: { between: '1..9', gt: '2' } },
    { id: { gt: '5', lte: '8' } },
    { 'id[between]': '1..9', 'id[gt]': '5', 'id[lte]': '8' },
  ],
])('the list query %o with %o of the pagination is sent as %j', (query, own, expected) => {
  expect(Object.fromEntries(parameters(checkedQuery(query), own, '_page'))).toEqual(expected);
});

// A service may ignore it and return everything.
test.each<[argument: string, unknown, object?]>([
  ['page', { page: 0 }],
  ['page', { page: '2' }],
  ['updatedSince', { updatedSince: 'yesterday' }],
  ['updatedSince', { updatedSince: new Date(Number.NaN) }],
  // As the dates of some libraries are.
  ['updatedSince', { updatedSince: { toString: () => '2026-01-31T12:00:00Z' } }],
  ['updatedSince', { updatedSince: new Date(Date.UTC(10_000, 0)) }],
  ['id', { id: '100' }],
  ['id.gt', { id: { gt: '' } }],
  ['id.lt', { id: { lt: 'a\nb' } }],
  ['id.between', { id: { between: ['1'] } }],
  // The service would split it in another place.
  ['id.between', { id: { between: ['A.', 'B'] } }],
  ['id.greaterThan', { id: { greaterThan: '1' } }],
  ['updated_since', { updated_since: '2026-01-31' }],
  ['query', '2026-01-31'],
  ['query', null],
  ['pagination', {}, { pagination: { first: {} } }],
  ['resumeFrom', {}, { pagination: 'page', resumeFrom: 'token' }],
  ['page', { page: 2 }, { pagination: 'keyset' }],
  ['page', { page: 2 }, { resumeFrom: 'token' }],
])('%s: the list query %o with the options %j is rejected at once', (argument, query, options = {}) => {
  const fetch = scriptedFetch(jsonResponse([]));
  const error = thrown(() => scriptedClient(fetch).accounts.list(query as ListQuery, options));
  expect(error).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
  expect(fetch.requests).toHaveLength(0);
});

test('a list has the bounds that it was given, whatever becomes of their object', async () => {
  const fetch = scriptedFetch(jsonResponse([]));
  const between: [string, string] = ['1', '9'];
  const list = scriptedClient(fetch).accounts.list({ id: { between } });
  between[0] = '5';
  await list.toArray({ limit: 5 });
  expect(fetch.requests[0]?.url.searchParams.get('id[between]')).toBe('1..9');
});
