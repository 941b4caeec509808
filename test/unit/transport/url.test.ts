import { expect, test } from 'vitest';
import { InvalidInputError } from '../../../src/errors/invalid-input-error.ts';
import { checkId } from '../../../src/input/checks.ts';
import { displayPath, parseBaseUrl, requestUrl } from '../../../src/transport/url.ts';
import { thrown } from '../../support/caught.ts';

test.each([
  ['https://books.example.com', 'https://books.example.com/api/public/v1'],
  ['https://books.example.com/', 'https://books.example.com/api/public/v1'],
  ['https://books.example.com:8443/proxy/', 'https://books.example.com:8443/proxy/api/public/v1'],
  ['https://books.example.com/api/public/v1', 'https://books.example.com/api/public/v1'],
  ['https://books.example.com/proxy/api/public/v1//', 'https://books.example.com/proxy/api/public/v1'],
  ['http://localhost:3000', 'http://localhost:3000/api/public/v1'],
  ['http://127.1.2.3', 'http://127.1.2.3/api/public/v1'],
  ['http://[::1]:3000', 'http://[::1]:3000/api/public/v1'],
])('the base URL %s means %s', (given, expected) => {
  expect(parseBaseUrl(given, false)).toBe(expected);
});

test.each([
  ['', 'is not an absolute URL'],
  ['books.example.com', 'is not an absolute URL'],
  ['file:///etc/books', 'must be https'],
  ['https://user:s3cret@books.example.com', 'must not contain credentials'],
  ['https://books.example.com?token=s3cret', 'must not contain a query'],
  ['https://books.example.com#s3cret', 'must not contain a query or a fragment'],
  [
    'http://books.example.com',
    'must be https, because http sends the key in clear text; allowInsecure: true permits http',
  ],
  ['http://localhost.example.com', 'must be https'],
  ['http://notlocalhost', 'must be https'],
  ['http://127.0.0.1.example.com', 'must be https'],
  ['http://10.0.0.1', 'must be https'],
  ...['\r\n', '\t', ' ', '\u00a0', '\u00ad', '\u200b', '\u2060', '\ufe0f', '\u034f', '\0', '\\'].map(
    (char) => [
      `https://books.example${char}.s3cret.example`,
      'must not contain white space, control or invisible characters, or backslashes',
    ],
  ),
  ['https://books.example.com\n', 'must not contain white space'],
])('the base URL %j is rejected without being quoted: %s', (given, problem) => {
  const error = thrown(() => parseBaseUrl(given, false));
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({ argument: 'baseUrl', outcome: 'not_sent' });
  expect(String(error)).toContain(problem);
  expect(String(error)).not.toContain('s3cret');
});

test('allowInsecure permits http and nothing else', () => {
  expect(parseBaseUrl('http://10.0.0.1', true)).toBe('http://10.0.0.1/api/public/v1');
  for (const url of ['ftp://10.0.0.1', 'http://10.0.0.1\r\n.example', 'http://10.0.0.1 '])
    expect(() => parseBaseUrl(url, true)).toThrow(InvalidInputError);
});

const BASE = 'https://books.example.com/proxy/api/public/v1';

test.each([
  [['accounts', '42'], `${BASE}/accounts/42`],
  [['accounts', 'a/b'], `${BASE}/accounts/a%2Fb`],
  [['accounts', '%2e%2e'], `${BASE}/accounts/%252e%252e`],
  [['accounts', 'ü ✓'], `${BASE}/accounts/%C3%BC%20%E2%9C%93`],
  ['/accounts/42', `${BASE}/accounts/42`],
  ['/accounts/a%2Fb', `${BASE}/accounts/a%2Fb`],
  ['//evil.example', `${BASE}//evil.example`],
])('the path %j goes to %s', (path, expected) => {
  expect(requestUrl(BASE, path)).toBe(expected);
});

test.each([
  [['accounts', '.']],
  [['accounts', '..']],
  [['..', '..', 'admin']],
  ['/../admin'],
  ['/accounts/%2e%2e/%2E./x'],
  ['/accounts\\..\\..'],
  ['/accounts?admin=1'],
  ['/accounts/ü'],
])('the path %j is rejected', (path) => {
  expect(thrown(() => requestUrl(BASE, path))).toMatchObject({ code: 'invalid_input', argument: 'path' });
});

test('a query is encoded, brackets included', () => {
  const query = [
    ['id[gt]', 'a&b=c'],
    ['updatedSince', '2026-01-31T12:00:00+01:00'],
  ] as const;
  expect(requestUrl(BASE, ['accounts'], query)).toBe(
    `${BASE}/accounts?id%5Bgt%5D=a%26b%3Dc&updatedSince=2026-01-31T12%3A00%3A00%2B01%3A00`,
  );
});

test('the path that errors show is encoded and has no base', () => {
  expect(displayPath(['accounts', 'a/b'])).toBe('/accounts/a%2Fb');
  expect(displayPath('/accounts/42')).toBe('/accounts/42');
});

test.each(['42', 'a/b', '...', '-', '018f-uuid', 'ünï'])('the id %j is taken', (id) => {
  expect(checkId(id)).toBe(id);
});

test.each([
  ['', 'must not be empty'],
  ['..', 'must not be empty, "." or ".."'],
  ['a\nb', 'control characters'],
  ['a\u0085', 'control characters'],
  ['\ud800', 'lone surrogates'],
  [42, 'must be a string'],
  [{ toString: () => '42' }, 'must be a string'],
])('the id %j is rejected: %s', (id, problem) => {
  const error = thrown(() => checkId(id));
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'id' });
  expect(String(error)).toContain(problem);
});
