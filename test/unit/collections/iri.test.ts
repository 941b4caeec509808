import { idFromIri } from 'accounting-data-sdk';
import { expect, test } from 'vitest';

test.each([
  ['/api/public/v1/accounts/2', '2'],
  ['https://user@books.example.com:8080/accounts/2?page=1#top', '2'],
  ['/accounts/a%2Fb', 'a/b'],
  ['2', '2'],
  ['100%', '100%'],
  // A reference that is not set.
  [null, null],
  [undefined, undefined],
])('the id of %j is %j', (value, id) => {
  expect(idFromIri(value)).toBe(id);
});

test.each([
  '',
  '/accounts/',
  '/accounts/%2e%2e',
  '/accounts/%ff',
  'https://books.example.com/2',
  // An embedded object without an address.
  '/.well-known/genid/57d2',
  ['/accounts/2'],
])('what names no record is rejected: %j', (value) => {
  const error = expect.objectContaining({ code: 'invalid_input', argument: 'iri' });
  expect(() => idFromIri(value as string)).toThrow(error);
});
