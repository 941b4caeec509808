import assert from 'node:assert/strict';
import { type Check, check } from '../suite/check.ts';
import { readOnlySegments } from '../suite/contract-text.ts';
import { UNKNOWN_ID } from '../suite/probe.ts';
import type { Need, TargetKeys } from '../suite/target.ts';

const AUTHENTICATION = 'Authentication';
const ERRORS = 'Errors';

const PROBLEM = 'application/problem+json';

/** A key that is no good is answered the same each time, on reads and on writes. */
function refusedKey(
  holds: string,
  keyOf: (key: (name: keyof TargetKeys) => string) => string | null,
  needs: Need[] = [],
): Check {
  return check(
    AUTHENTICATION,
    holds,
    async (probe) => {
      const key = keyOf((name) => probe.key(name));
      const first = (await probe.list('accounts', {}, { key })).expectProblem(401, 'unauthenticated');
      const again = (await probe.list('accounts', {}, { key })).expectProblem(401, 'unauthenticated');
      assert.equal(again.text, first.text, 'retrying with the same key fails identically');
      assert.equal(first.mediaType, PROBLEM);
      (await probe.get('budgets', '1', { key })).expectProblem(401, 'unauthenticated');
      (await probe.list('products', {}, { key })).expectProblem(401, 'unauthenticated');
    },
    needs,
  );
}

export const authentication: readonly Check[] = [
  check(AUTHENTICATION, 'a call with a key in X-AUTH-TOKEN is let in', async (probe) => {
    (await probe.list('accounts')).expectStatus(200);
  }),
  refusedKey('a call without the header is 401 unauthenticated, each time', () => null),
  refusedKey('an unknown key is 401 unauthenticated, each time', () => 'no-such-key-0123456789'),
  refusedKey('an empty key is 401 unauthenticated, each time', () => ''),
  refusedKey('a malformed key is 401 unauthenticated, each time', () => 'two words, and a comma'),
  refusedKey('a key with something behind it is 401 unauthenticated, each time', (key) => `${key('main')}x`),
  refusedKey('a revoked key is 401 unauthenticated, each time', (key) => key('revoked'), ['revoked key']),
  refusedKey(
    'a key of a company that is not served here is 401 unauthenticated, each time',
    (key) => key('foreign'),
    ['key of a company that is not served here'],
  ),
  check(AUTHENTICATION, 'the key counts in its header alone', async (probe) => {
    const key = probe.key('main');
    const headers = { Authorization: `Bearer ${key}` };
    (await probe.list('accounts', {}, { key: null, headers })).expectProblem(401, 'unauthenticated');
  }),
  check(
    AUTHENTICATION,
    'a key that lacks a permission is 403 forbidden or scope_required',
    async (probe) => {
      const key = probe.key('powerless');
      for (const segment of [...readOnlySegments, 'products']) {
        (await probe.list(segment, {}, { key })).expectProblem(403, 'forbidden', 'scope_required');
      }
    },
    ['key without permission'],
  ),
  check(
    AUTHENTICATION,
    'a key that only reads can read, and a write with it changes nothing',
    async (probe) => {
      const key = probe.key('readOnly');
      const before = await probe.product({ brand: 'one' });
      (await probe.get('products', before.id, { key })).expectStatus(200);
      (await probe.update(before.id, { brand: 'two' }, { key })).expectProblem(
        403,
        'forbidden',
        'scope_required',
      );
      assert.deepEqual((await probe.get('products', before.id)).record, before);
    },
    ['write', 'key that only reads'],
  ),
];

export const errors: readonly Check[] = [
  check(
    ERRORS,
    'every error is a JSON object with a type, under a problem or JSON media type',
    async (probe) => {
      const answers = [
        await probe.get('accounts', UNKNOWN_ID),
        await probe.list('accounts', {}, { key: null }),
        await probe.get('products', UNKNOWN_ID),
      ];
      for (const answer of answers) {
        assert.match(answer.mediaType, /^application\/(problem\+|ld\+)?json$/, answer.asked);
        assert.notEqual(answer.errorType, '', `${answer.asked}: the type says what is wrong`);
      }
    },
  ),
  check(ERRORS, '401 is application/problem+json, 404 one of the three', async (probe) => {
    const media = (await probe.get('boms', UNKNOWN_ID)).expectStatus(404).mediaType;
    assert.ok([PROBLEM, 'application/json', 'application/ld+json'].includes(media), `404 as ${media}`);
    assert.equal((await probe.list('boms', {}, { key: null })).expectStatus(401).mediaType, PROBLEM);
  }),
  check(
    ERRORS,
    '403 is one of the three media types',
    async (probe) => {
      const media = (await probe.list('boms', {}, { key: probe.key('powerless') })).expectStatus(
        403,
      ).mediaType;
      assert.ok([PROBLEM, 'application/json', 'application/ld+json'].includes(media), `403 as ${media}`);
    },
    ['key without permission'],
  ),
  check(
    ERRORS,
    'a record of another company is no such record',
    async (probe) => {
      const [theirs] = await probe.some('accounts', 1, { key: probe.key('otherCompany') });
      (await probe.get('accounts', theirs?.id ?? '')).expectProblem(404, 'not_found');
    },
    ['key of another company'],
  ),
  check(
    ERRORS,
    'a record that refuses the operation is 403, and stays as it is',
    async (probe) => {
      const id = probe.target.lockedProduct ?? '';
      const before = (await probe.get('products', id)).record;
      (await probe.update(id, { name: 'Changed' })).expectProblem(403, 'forbidden', 'scope_required');
      (await probe.delete(id)).expectProblem(403, 'forbidden', 'scope_required');
      assert.deepEqual((await probe.get('products', id)).record, before);
    },
    ['locked product'],
  ),
];
