import assert from 'node:assert/strict';
import type { SandboxKeys } from 'accounting-data-sdk/testing';
import { type Check, checksOf, UNKNOWN_ID } from '../suite/client.ts';

const authenticationCheck = checksOf('Authentication');
const errorCheck = checksOf('Errors');

const PROBLEM = 'application/problem+json';
const PROBLEM_OR_JSON = /^application\/(problem\+|ld\+)?json$/;

/** An invalid key gets the same response every time, for reads and writes. */
function rejectedKey(what: string, keyOf: (keys: SandboxKeys) => string | null): Check {
  return authenticationCheck(`${what} is 401 unauthenticated, each time`, async (client) => {
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
  rejectedKey('a request without the header', () => null),
  rejectedKey('an unknown key', () => 'no-such-key-0123456789'),
  rejectedKey('an empty key', () => ''),
  rejectedKey('a malformed key', () => 'two words, and a comma'),
  rejectedKey('a key with an extra character', (keys) => `${keys.full}x`),
  rejectedKey('a revoked key', (keys) => keys.revoked),
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
  errorCheck('every error is JSON with a type, and a 401 is application/problem+json', async (client) => {
    const unauthenticated = (await client.list('boms', {}, { key: null })).expectStatus(401);
    const responses = [
      unauthenticated,
      (await client.get('boms', UNKNOWN_ID)).expectStatus(404),
      (await client.get('products', UNKNOWN_ID)).expectStatus(404),
      (await client.list('boms', {}, { key: client.keys.forbidden })).expectStatus(403),
    ];
    for (const { call, mediaType, errorType } of responses) {
      assert.match(mediaType, PROBLEM_OR_JSON, call);
      assert.notEqual(errorType, '', `${call}: the type says what is wrong`);
    }
    assert.equal(unauthenticated.mediaType, PROBLEM);
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
