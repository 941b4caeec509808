import { expect, test } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import type { ResumePosition } from '../../../src/pagination/page.ts';
import {
  decodeResumeToken,
  encodeResumeToken,
  type ResumeScope,
  scopeFingerprint,
} from '../../../src/pagination/resume-token.ts';
import { thrown } from '../../support/caught.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const scope: ResumeScope = {
  baseUrl: 'https://books.example.com',
  collection: 'accounts',
  filters: { updatedSince: '2026-01-01T00:00:00Z', 'id[gt]': '5' },
};
const position: ResumePosition = {
  pagination: 'keyset',
  direction: 'asc',
  id: '9007199254740993',
  longest: 30,
};

/** base64url of a text, as a token is one. */
const encoded = (text: string) => Buffer.from(text).toString('base64url');
const decoded = (token: string) => Buffer.from(token, 'base64url').toString();

test('a resume token gives a position back to the same scope', () => {
  const token = encodeResumeToken(scope, position);
  expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(decodeResumeToken(token, structuredClone(scope))).toEqual(position);
});

test('a resume token accepts the filters in any order, and one that is undefined', () => {
  const filters = { 'id[lt]': undefined, 'id[gt]': '5', updatedSince: '2026-01-01T00:00:00Z' };
  expect(scopeFingerprint({ ...scope, filters })).toBe(scopeFingerprint(scope));
});

test.each([
  ['base URL', { baseUrl: 'https://other.example.com' }],
  ['collection', { collection: 'budgets' }],
  ['filter', { filters: { ...scope.filters, 'id[gt]': '6' } }],
  ['set of filters', { filters: {} }],
])('a resume token of another %s is rejected', (_, other) => {
  const token = encodeResumeToken({ ...scope, ...other }, position);
  expect(() => decodeResumeToken(token, scope)).toThrow(CheckpointError);
  expect(() => decodeResumeToken(token, scope)).toThrow('belongs to another');
});

test('a resume token of another version is rejected as such', () => {
  const token = encoded(decoded(encodeResumeToken(scope, position)).replace('"v":5', '"v":4'));
  expect(() => decodeResumeToken(token, scope)).toThrow('version');
});

test.each<[string, unknown]>([
  ['nothing', ''],
  ['JSON that is not an object', encoded('42')],
  ['an invalid position', encoded('{"v":4,"of":"x","at":[],"ok":"y"}')],
  ['a position with depth', encoded('{"v":4,"of":"x","at":{"a":{}},"ok":"y"}')],
  ['bytes that are not text', Buffer.from([0xff, 0xfe, 0]).toString('base64url')],
  ['far too much', 'A'.repeat(1_000_000)],
  ...[undefined, null, 7, {}, []].map((value): [string, unknown] => [`${JSON.stringify(value)}`, value]),
])('a resume token that is %s is rejected (%#)', (_, token) => {
  expect(() => decodeResumeToken(token as string, scope)).toThrow(CheckpointError);
});

test('every damaged character of a resume token is a CheckpointError', () => {
  const token = encodeResumeToken(scope, position);
  const random = new SeededRandom(1);
  for (let at = 0; at < token.length; at++) {
    for (const char of ['A', 'z', '=', '%', String.fromCharCode(random.int(0, 400))]) {
      const damaged = token.slice(0, at) + char + token.slice(at + 1);
      if (decoded(damaged) === decoded(token)) continue;
      expect(() => decodeResumeToken(damaged, scope)).toThrow(CheckpointError);
    }
    expect(() => decodeResumeToken(token.slice(0, at), scope)).toThrow(CheckpointError);
  }
});

test('an error never quotes the resume token', () => {
  const token = encoded('{"secret":"value"}');
  expect(String(thrown(() => decodeResumeToken(token, scope)))).not.toMatch(/secret|value/);
});
