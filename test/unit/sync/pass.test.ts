import { describe, expect, test } from 'vitest';
import { unconfirmedWarning } from '../../../src/sync/deletions.ts';
import { changeOf, type DeletionProof, type Seen, verdict } from '../../../src/sync/pass.ts';
import { NO_DELETIONS } from '../../../src/sync/run-state.ts';

const row = (body: object, invalid = false) => ({ id: '1', body: { id: '1', ...body }, invalid });
const desk = row({ name: 'Desk', salePrice: '50.0000' });

describe('what is seen of a record changes a copy', () => {
  test.each<[Seen, typeof desk | { body: unknown } | undefined, ReturnType<typeof changeOf>]>([
    [desk, undefined, 'add'],
    [desk, desk, 'same'],
    [desk, row({ salePrice: '50.0000', name: 'Desk' }), 'same'],
    [desk, row({ name: 'Desk', salePrice: '50' }), 'change'],
    [desk, row({ name: 'Desk' }), 'change'],
    [desk, row({ name: 'Desk', salePrice: '50.0000' }, true), 'change'],
    [row({ name: 'Desk' }, true), row({ name: 'Desk' }), 'change'],
    [row({ name: 'Desk' }, true), { body: { id: '1', name: 'Desk' } }, 'same'],
    [row({ tags: ['a', 'b'] }), row({ tags: ['b', 'a'] }), 'change'],
    [row({ name: 'a\0' }), row({ name: 'a\ufffd' }), 'same'],
    [row({ 'a\ud800': 1 }), row({ 'a\ufffd': 1 }), 'same'],
    [row({ name: undefined }), row({}), 'same'],
    [row({ name: null }), row({}), 'change'],
    [undefined, desk, 'remove'],
    [undefined, undefined, 'same'],
    [new Error('403'), desk, 'unknown'],
  ])('%j in a copy that has %j: %s', (seen, stored, change) => {
    expect(changeOf(seen, stored)).toBe(change);
  });
});

describe('a pass removes a record', () => {
  /** Ten of a hundred records were not listed, and a record that was is found by its id. */
  const evidence: DeletionProof = {
    local: 100,
    listed: { seen: 92, missing: 2 },
    candidates: 10,
    witness: 'found',
  };
  const judged = (more: Partial<DeletionProof>, maxCandidates = 50) =>
    verdict({ ...evidence, ...more }, maxCandidates);
  const other = { local: 10, listed: { seen: 40, missing: 40 } };

  test.each<[Partial<DeletionProof>, number | undefined]>([
    [{}, undefined],
    [{ candidates: 50 }, 50],
    [{ candidates: 90 }, Number.POSITIVE_INFINITY],
    [other, Number.POSITIVE_INFINITY],
    // Deleted at the service: what it lists is known.
    [{ candidates: 50, listed: { seen: 40, missing: 20 } }, undefined],
    [{ local: 20, listed: { seen: 40, missing: 40 } }, undefined],
    // Nothing to remove: no look at anything else.
    [{ candidates: 0, listed: { seen: 0, missing: 0 }, witness: 'none' }, undefined],
    // Without a list only the records that were requested count.
    [{ listed: undefined, local: 1, candidates: 1 }, Number.POSITIVE_INFINITY],
  ])('by %j, of at most %s candidates', (more, most) => {
    expect(judged(more, most)).toBe('remove');
  });

  test.each<[ReturnType<typeof verdict>, Partial<DeletionProof>, number | undefined]>([
    ['empty_read', { listed: { seen: 0, missing: 0 } }, undefined],
    ['empty_read', { listed: { seen: 0, missing: 0 }, witness: undefined }, Number.POSITIVE_INFINITY],
    ['few_local_ids_seen', other, undefined],
    ['few_local_ids_seen', { ...other, candidates: 6 }, undefined],
    ['few_local_ids_seen', { ...other, listed: { seen: 40, missing: 21 } }, 1_000],
    ['too_many_candidates', { candidates: 51 }, undefined],
    ['too_many_candidates', { candidates: 1, witness: undefined }, 0],
    ['ask_witness', { witness: undefined }, undefined],
    ['ask_witness', { witness: undefined, listed: undefined }, Number.POSITIVE_INFINITY],
    ['first_record_not_found', { witness: 'none' }, undefined],
    ['first_record_not_found', { witness: 'none', listed: undefined }, Number.POSITIVE_INFINITY],
  ])('not, but %s, by %o, of at most %s candidates', (found, more, most) => {
    expect(judged(more, most)).toBe(found);
  });
});

test.each([
  [[], undefined],
  [['7'], 'the record "7" was not listed'],
  [['7', '8', '9'], 'the record "7", and 2 more was not listed'],
])('a warning names the first record that is kept unconfirmed, and counts the others: %j', (ids, says) => {
  const unconfirmed = ids.map((id) => ({ id, error: new Error('403') }));
  const warning = unconfirmedWarning({ ...NO_DELETIONS, unconfirmed });
  if (says === undefined) expect(warning).toBeUndefined();
  else expect(warning).toMatch(new RegExp(`^${says}, .*403`));
});
