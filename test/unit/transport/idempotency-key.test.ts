import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { idempotencyKeyFor, newIdempotencyKey } from '../../../src/index.ts';
import { checkIdempotencyKey } from '../../../src/transport/idempotency-key.ts';
import { caught, thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a new key is a UUID, another each time', () => {
  const keys = Array.from({ length: 100 }, newIdempotencyKey);
  expect(new Set(keys).size).toBe(100);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
});

test('a key of several parts is readable', () => {
  expect(idempotencyKeyFor('order', 1042, 'line', 3)).toBe('order:1042:line:3');
  expect(idempotencyKeyFor(12345678901234567890n)).toBe('12345678901234567890');
  expect(idempotencyKeyFor('a b', 'ü', ':')).toBe('a%20b:%C3%BC:%3A');
  expect(idempotencyKeyFor(-0.5, 0)).toBe('-0.5:0');
});

const part = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }), fc.integer());

test('the same parts give the same key, other parts another one, always in visible ASCII', () => {
  const parts = fc.array(part, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      fc.pre([a, b].every((list) => list.map((p) => encodeURIComponent(p)).join(':').length <= 200));
      const [one, other] = [idempotencyKeyFor(...a), idempotencyKeyFor(...b)];
      expect(one).toMatch(/^[!-~]{1,200}$/);
      expect(idempotencyKeyFor(...a)).toBe(one);
      expect(one === other).toBe(a.map(String).join('\u0000') === b.map(String).join('\u0000'));
    }),
    { seed: 2 },
  );
});

test.each([[[]], [['']], [['order', '']], [[Number.NaN]], [['\ud800']], [[null]], [[{}]]])(
  'the parts %o are rejected',
  (parts) => {
    expect(thrown(() => idempotencyKeyFor(...(parts as string[])))).toMatchObject({ argument: 'parts' });
  },
);

test('a key is never truncated: more than 200 characters are rejected', () => {
  expect(idempotencyKeyFor('x'.repeat(200))).toHaveLength(200);
  expect(thrown(() => idempotencyKeyFor('x'.repeat(201)))).toMatchObject({
    code: 'invalid_input',
    argument: 'parts',
    message: expect.stringContaining('201 characters'),
  });
});

test('a key of a caller can have 200 characters', () => {
  expect(checkIdempotencyKey('x'.repeat(200))).toHaveLength(200);
});

test.each(['', ' ', 'a b', 'a\n', 'ü', 'x'.repeat(201), 5, null])(
  'the key %j of a caller is rejected',
  async (key) => {
    expect(thrown(() => checkIdempotencyKey(key))).toMatchObject({ argument: 'idempotencyKey' });
    const fetch = scriptedFetch(jsonResponse({ id: '1' }));
    const create = scriptedClient(fetch).products.create({}, { idempotencyKey: key as string });
    expect(await caught(create)).toMatchObject({ code: 'invalid_input', outcome: 'not_sent' });
    expect(fetch.requests).toHaveLength(0);
  },
);
