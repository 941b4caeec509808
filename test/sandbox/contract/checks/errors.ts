import assert from 'node:assert/strict';
import type { SandboxKeys } from 'accounting-data-sdk/testing';
import { type Check, checksOf } from '../suite/check.ts';
import { UNKNOWN_ID } from '../suite/client.ts';

const authenticationCheck = checksOf('Authentication');
const errorCheck = checksOf('Errors');

const PROBLEM = 'application/problem+json';

/** An invalid key gets the same response every time, for reads and writes. */
function rejectedKey(title: string, keyOf: (keys: SandboxKeys) => string | null): Check {
  return authenticationCheck(title, async (client) => {
    const key = keyOf(client.keys);
    const first = (await client.list('accounts', {}, { key })).expectUnauthenticated();
    const again = (await client.list('accounts', {}, { key })).expectUnauthenticated();
    assert.deepEqual(again.json, first.json, 'retrying with the same key fails identically');
    assert.equal(first.mediaType, PROBLEM);
    (await client.get('budgets', '1', { key })).expectUnauthenticated();
    (await client.list('products', {}, { key })).expectUnauthenticated();
  });
}

export const authentication: readonly Check[] = [
  authenticationCheck('a request with a key in X-AUTH-TOKEN succeeds', async (client) => {
    (await client.list('accounts')).expectStatus(200);
  }),
  rejectedKey('a request without the header is 401 unauthenticated, each time', () => null),
  rejectedKey('an unknown key is 401 unauthenticated, each time', () => 'no-such-key-0123456789'),
  rejectedKey('an empty key is 401 unauthenticated, each time', () => ''),
  rejectedKey('a malformed key is 401 unauthenticated, each time', () => 'two words, and a comma'),
  rejectedKey('a key with an extra character is 401 unauthenticated, each time', (keys) => `${keys.full}x`),
  rejectedKey('a revoked key is 401 unauthenticated, each time', (keys) => keys.revoked),
  authenticationCheck('the key is read only from its header', async (client) => {
    const key = client.keys.full;
    const headers = { Authorization: `Bearer ${key}` };
    (await client.list('accounts', {}, { key: null, headers })).expectUnauthenticated();
  }),
  authenticationCheck('a key that lacks a permission is 403 forbidden or scope_required', async (client) => {
    (await client.list('products', {}, { key: client.keys.forbidden })).expectForbidden();
  }),
];

export const errors: readonly Check[] = [
  errorCheck(
    'every error is a JSON object with a type, under a problem or JSON media type',
    async (client) => {
      const responses = [
        await client.get('accounts', UNKNOWN_ID),
        await client.list('accounts', {}, { key: null }),
        await client.get('products', UNKNOWN_ID),
      ];
      for (const response of responses) {
        assert.match(response.mediaType, /^application\/(problem\+|ld\+)?json$/, response.call);
        assert.notEqual(response.errorType, '', `${response.call}: the type says what is wrong`);
      }
    },
  ),
  errorCheck('401 is application/problem+json, 404 one of the three', async (client) => {
    const media = (await client.get('boms', UNKNOWN_ID)).expectStatus(404).mediaType;
    assert.ok([PROBLEM, 'application/json', 'application/ld+json'].includes(media), `404 as ${media}`);
    assert.equal((await client.list('boms', {}, { key: null })).expectStatus(401).mediaType, PROBLEM);
  }),
  errorCheck('403 is one of the three media types', async (client) => {
    const media = (await client.list('boms', {}, { key: client.keys.forbidden })).expectStatus(403).mediaType;
    assert.ok([PROBLEM, 'application/json', 'application/ld+json'].includes(media), `403 as ${media}`);
  }),
  errorCheck('a record that denies the operation is 403 and stays unchanged', async (client) => {
    const before = await client.product();
    const { id } = before;
    client.sandbox.store.products.lock(id);
    (await client.update(id, { name: 'Changed' })).expectForbidden();
    (await client.delete(id)).expectForbidden();
    assert.deepEqual((await client.get('products', id)).record, before);
  }),
];
