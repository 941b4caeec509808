import { expect, test } from 'vitest';
import { redact, redactText } from '../../../src/transport/redact.ts';

test.each([
  ['as it is', 'plain-key_1.0~', 'rejected: plain-key_1.0~!', 'rejected: [redacted]!'],
  ['more than once', 'k1', 'k1 k1', '[redacted] [redacted]'],
  ['as it stands in a URL', 'a/b+c', '/x?key=a%2Fb%2Bc&y=1', '/x?key=[redacted]&y=1'],
  ['as it stands in a URL in lower case', 'a/b+C', '/x?key=a%2fb%2bC', '/x?key=[redacted]'],
  ['as it stands in quoted JSON', 'a"b\\c', '{"key":"a\\"b\\\\c"}', '{"key":"[redacted]"}'],
  ['not at all', 'k1', 'K1 is another', 'K1 is another'],
])('a key that a string contains %s is redacted', (_, key, text, shown) => {
  expect(redactText(text, key)).toBe(shown);
});

test('a dot in a key stands for itself', () => {
  expect(redactText('a1b a.b', 'a.b')).toBe('a1b [redacted]');
});

test('the key is redacted in every string and every name of a JSON value, and the rest is unchanged', () => {
  const value = {
    detail: 'key s3cret',
    's3cret in a name': [1, true, null, { inner: ['s3cret', 'fine'] }],
    nothing: null,
  };
  expect(redact(value, 's3cret')).toEqual({
    detail: 'key [redacted]',
    '[redacted] in a name': [1, true, null, { inner: ['[redacted]', 'fine'] }],
    nothing: null,
  });
  expect([redact(undefined, 's3cret'), redact(5, 's3cret'), redact('s3cret', 's3cret')]).toEqual([
    undefined,
    5,
    '[redacted]',
  ]);
});

test.each(['a list', 'an object'])('values more than twenty levels deep in %s are redacted', (kind) => {
  const nested = (levels: number, inside: unknown): unknown => {
    let value = inside;
    for (let level = 0; level < levels; level += 1) value = kind === 'a list' ? [value] : { value };
    return value;
  };
  expect(redact(nested(20, {}), 'k')).toEqual(nested(20, {}));
  expect(redact(nested(21, {}), 'k')).toEqual(nested(21, '[redacted]'));
  // A hostile body must not become our stack.
  expect(redact(nested(100_000, {}), 'k')).toEqual(nested(21, '[redacted]'));
});
