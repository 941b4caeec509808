import { describe, expect, it } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { decodeState, encodeState, type SyncState } from '../../../src/sync/state.ts';
import { collectionName, stateKey } from '../../../src/sync/state-key.ts';

const state: SyncState = {
  scope: 'a1b2',
  by: 'run1',
  watermark: '2026-01-05T08:00:00Z',
  full: '2026-01-04T08:00:00Z',
  pageSize: 30,
  run: { watermark: '2026-01-05T09:00:00Z', since: '2026-01-05T07:58:00Z', token: 'abc' },
};

describe('a state', () => {
  it('is read back as it was written', () => {
    expect(decodeState(encodeState(state), 'k')).toEqual({ v: 1, ...state });
  });

  it('may come back parsed, as some stores do', () => {
    expect(decodeState(JSON.parse(encodeState(state)), 'k')).toMatchObject(state);
  });

  it('is the same text whatever the order of its members', () => {
    const reordered = JSON.parse(
      `{"run":${JSON.stringify(state.run)},"pageSize":30,"watermark":"2026-01-05T08:00:00Z","by":"run1","scope":"a1b2","full":"2026-01-04T08:00:00Z","v":1}`,
    );
    expect(encodeState(decodeState(reordered, 'k') as SyncState)).toBe(encodeState(state));
  });

  it.each([undefined, null])('is none where the store has %s', (nothing) => {
    expect(decodeState(nothing, 'k')).toBeUndefined();
  });

  it.each([
    '',
    'not json',
    '[]',
    '42',
    '{}',
    42,
    true,
    JSON.stringify({ v: 1, scope: 'a' }),
    JSON.stringify({ v: 1, scope: 'a', by: 'b', watermark: 'yesterday' }),
    JSON.stringify({ v: 1, scope: 'a', by: 'b', pageSize: -1 }),
    JSON.stringify({ v: 1, scope: 'a', by: 'b', run: {} }),
    JSON.stringify({ v: 1, scope: 'a', by: 'b', run: { watermark: '2026-01-05T08:00:00Z', token: 7 } }),
  ])('that cannot be read is a CheckpointError that does not quote it: %j', (stored) => {
    expect(() => decodeState(stored, 'p:acme:accounts')).toThrow(
      expect.objectContaining({ code: 'checkpoint', message: expect.stringContaining('p:acme:accounts') }),
    );
  });

  it('of a later version says so', () => {
    expect(() => decodeState('{"v":2}', 'k')).toThrow(/later version/);
  });
});

describe('the key of a state', () => {
  it('is prefix, tenant and collection', () => {
    expect(stateKey({ prefix: 'app:sync', tenant: 'acme-1', collection: 'accounts' })).toBe(
      'app:sync:acme-1:accounts',
    );
  });

  it.each(['', 'a b', 'a:b', 'ä', '..', 'a..b', 'x'.repeat(101), '/etc'])(
    'refuses the tenant %j',
    (tenant) => {
      expect(() => stateKey({ prefix: 'p', tenant, collection: 'accounts' })).toThrow(
        expect.objectContaining({ code: 'invalid_input', argument: 'tenant' }),
      );
    },
  );

  it.each(['', ':', 'a::b', 'a:', 'a/b', '..'])('refuses the prefix %j', (prefix) => {
    expect(() => stateKey({ prefix, tenant: 't', collection: 'accounts' })).toThrow(
      expect.objectContaining({ code: 'invalid_input', argument: 'prefix' }),
    );
  });

  it('names a collection as the client does', () => {
    for (const [name, { segment }] of Object.entries(collections)) expect(collectionName(segment)).toBe(name);
  });
});
