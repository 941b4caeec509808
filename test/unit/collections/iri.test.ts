import { idFromIri } from 'accounting-data-sdk';
import { expect, test } from 'vitest';

test.each([
  ['/api/public/v1/accounts/2', '2'],
  ['https://books.example.com/api/public/v1/accounts/2', '2'],
  ['https://user@books.example.com:8080/accounts/2?page=1#top', '2'],
  ['/accounts/a%2Fb', 'a/b'],
  ['/accounts/018f3c2e-7b1a-7000-8000-0123456789ab', '018f3c2e-7b1a-7000-8000-0123456789ab'],
  ['2', '2'],
  ['100%', '100%'],
])('the id of %j is %j', (value, id) => {
  expect(idFromIri(value)).toBe(id);
});

test('a reference that is not set stays so', () => {
  expect(idFromIri(null)).toBeNull();
  expect(idFromIri(undefined)).toBeUndefined();
});

test.each([
  '',
  '/',
  '/accounts/',
  '/accounts/%2e%2e',
  '/accounts/%ff',
  'https://books.example.com',
  'https://books.example.com/2',
  ['/accounts/2'],
])('what names no record is rejected: %j', (value) => {
  expect(() => idFromIri(value as string)).toThrow(
    expect.objectContaining({ code: 'invalid_input', argument: 'iri' }),
  );
});
