import { expect, test } from 'vitest';
import { type Evidence, idsByKind, judgeCopy } from '../../../src/testing/connector/judge-copy.ts';
import { judgeProducts, type WrittenEvidence } from '../../../src/testing/connector/judge-products.ts';
import { copyOf, isSameValue } from '../../../src/testing/connector/same-value.ts';
import { type Fields, Timeline } from '../../../src/testing/connector/timeline.ts';

const A = { id: '1', name: 'A', salePrice: '12.5000' };
const B = { id: '2', name: 'B', salePrice: '3.0000' };
const NEW = { ...A, name: 'new' };

/** A service that held A and B at first, and then each of these states, of which a run saw the last so many. */
function seen(states: readonly (readonly (typeof A)[])[], duringRun = states.length): Timeline {
  const timeline = new Timeline();
  for (const [n, state] of [[A, B], ...states].entries()) {
    timeline.observe(state, `in state ${n + 1}`);
    if (n === states.length - duringRun) timeline.beginRun();
  }
  return timeline;
}

/** What is wrong with a copy, given as rows. */
interface Given extends Partial<Omit<Evidence, 'copy' | 'heldBefore'>> {
  readonly copy: readonly Fields[];
  /** The ids that the copy held before a run that failed. */
  readonly heldBefore?: readonly string[];
}

const evidenceOf = ({ copy, heldBefore, ...others }: Given) => ({
  timeline: seen([]),
  copy: copyOf(copy),
  heldBefore: heldBefore && copyOf(heldBefore.map((id) => ({ id }))),
  ...others,
});

const findings = (given: Given) =>
  [...idsByKind(evidenceOf(given))].map(([kind, ids]) => `${kind} ${ids.join(' ')}`);

const sentences = (given: Given, total = 2) => judgeCopy('accounts', total, evidenceOf(given));

const C = { ...A, id: '3', name: 'C' };
/** The record A was changed, deleted, or deleted and restored: during the run, or before it. */
const [changed, changedBefore] = [seen([[NEW, B]]), seen([[NEW, B]], 0)];
const [deleted, deletedBefore] = [seen([[B]]), seen([[B]], 0)];
const [restored, restoredBefore] = [seen([[B], [NEW, B]]), seen([[B], [NEW, B]], 0)];
const twoChanges = seen([[{ ...NEW, salePrice: '9.0000' }, B]]);

test.each<[what: string, given: Given, ...findings: readonly string[]]>([
  ['with every record once', { copy: [B, A] }],
  ['without a record', { copy: [B] }, 'missing 1'],
  ['with a record twice, both of which are right', { copy: [A, B, A] }, 'doubled 1'],
  ['with another digit', { copy: [{ ...A, salePrice: '12.5001' }, B] }, 'wrong 1'],
  ['with a record that never existed', { copy: [A, B, C] }, 'unknown 3'],
  ['with the old version of what changed during the run', { timeline: changed, copy: [A, B] }],
  ['without what changed during the run', { timeline: changed, copy: [B] }, 'missing 1'],
  ['with the old version of what changed before', { timeline: changedBefore, copy: [A, B] }, 'stale 1'],
  ['with the new version of what changed before', { timeline: changedBefore, copy: [NEW, B] }],
  ['that mixes two versions', { timeline: twoChanges, copy: [NEW, B] }, 'wrong 1'],
  ['without what was deleted during the run', { timeline: deleted, copy: [B] }],
  ['with what was deleted before', { timeline: deletedBefore, copy: [A, B] }, 'extra 1'],
  ['that may keep it', { timeline: deletedBefore, copy: [A, B], mayKeepDeleted: true }],
  ['without what was restored during the run', { timeline: restored, copy: [B] }],
  ['with the version before it was restored', { timeline: restoredBefore, copy: [A, B] }, 'stale 1'],
  ['of a failed run that is stale', { timeline: changedBefore, copy: [A], heldBefore: ['1'] }],
  ['of a failed run that lost a record', { copy: [], heldBefore: ['1'] }, 'missing 1'],
  ['of a failed run that deletes nothing', { timeline: deletedBefore, copy: [A, B], heldBefore: ['1'] }],
  ['of a failed run with a record twice', { copy: [A, A], heldBefore: [] }, 'doubled 1'],
  ['of a failed run with 1 wrong digit', { copy: [{ ...A, salePrice: '1.00' }], heldBefore: [] }, 'wrong 1'],
  ['with columns of another case', { copy: [A, { ID: '2', SALEPRICE: '3.5' }] }, 'wrong 2'],
])('a copy %s has the findings that are listed here', (_, given, ...found) => {
  expect(findings(given)).toEqual(found);
});

test('a finding is a sentence with the ids, what happened to the first, and whether a response contained it', () => {
  const stale = seen([[NEW, B]], 0);
  expect(sentences({ copy: [B] })).toEqual([
    '1 of 2 accounts is missing from the copy (id 1). The run did not list the collection.',
  ]);
  expect(sentences({ copy: [], heldBefore: ['1'] })).toEqual([
    '1 of 2 accounts is missing from the copy (id 1). The copy had record 1 before the run, and the service still has it.',
  ]);
  expect(sentences({ copy: [{ ...A, name: 7n }, B] })).toEqual([
    '1 of 2 accounts has a wrong value in the copy (id 1). name of record 1 is 7 in the copy and "A" in the service.',
  ]);
  stale.addPage(5, ['1']);
  expect(sentences({ timeline: stale, copy: [A] })).toEqual([
    '1 of 2 accounts is stale in the copy (id 1). Record 1 was changed in state 2. The response to request 5 of the run contained the new version.',
    '1 of 2 accounts is missing from the copy (id 2). No response of the run contained record 2.',
  ]);
  // A response before the last change did not contain it.
  stale.observe([{ ...NEW, salePrice: '9.0000' }, B], 'in state 3');
  expect(sentences({ timeline: stale, copy: [A, B] })).toEqual([
    '1 of 2 accounts is stale in the copy (id 1). Record 1 was changed in state 3. No response of the run contained the new version.',
  ]);
  const timeline = seen(
    [
      [A, B, C],
      [A, B],
    ],
    0,
  );
  const many = Array.from({ length: 7 }, (_, n) => ({ id: `9${n}`, name: 'X' }));
  expect(sentences({ copy: [{ ...A, salePrice: 12.6 }, B, B, C, ...many], timeline })).toEqual([
    '1 of 2 accounts has a wrong value in the copy (id 1). salePrice of record 1 is 12.6 in the copy and "12.5000" in the service.',
    '1 of 2 accounts is in the copy more than once (id 2). Record 2 is in the copy 2 times.',
    '1 of 2 accounts is still in the copy, but was deleted (id 3). Record 3 was deleted in state 3.',
    '7 of 2 accounts are in the copy, but never existed (ids 90, 91, 92, 93, 94, …). The service never had record 90.',
  ]);
  expect(sentences({ copy: [A, B, ...many.slice(0, 5)] })[0]).toContain('(ids 90, 91, 92, 93, 94)');
});

test.each([
  ['12.5000', '12.5'],
  ['12.5000', 12.5],
  ['0.0000', 0],
  ['1200000000000000.0000', 1.2e15],
  ['2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z')],
  ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00'],
  ['2026-01-31T12:00:00Z', '2026-01-31 12:00:00'],
  ['34', 34],
  [true, 1],
  [true, 'TRUE'],
  [false, 'f'],
  [null, undefined],
  [['a', { b: 1, c: 2 }], '["a",{"c":2,"b":1}]'],
])('a copy may hold %j as %j', (sent, copied) => {
  expect(isSameValue(sent, copied)).toBe(true);
});

test('a copy may hold an id as a bigint', () => {
  expect([isSameValue('34', 34n), isSameValue('34', 35n)]).toEqual([true, false]);
});

test.each([
  ['123456789012345678.12345678', Number('123456789012345678.12345678')],
  ['123456789012345.6', 123456789012345.6],
  ['12.5000', '-12.5000'],
  ['1200.0000', '12'],
  ['12.5000', '12.5 EUR'],
  ['007', 7],
  ['A', 'a'],
  ['A', null],
  [null, ''],
  [true, 0],
  [false, null],
  [7, '7.5'],
  [7, [7]],
  [0, ''],
  [0, ' '],
  [['a'], 'a'],
  ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00Z'],
])('a copy must not hold %j as %j', (sent, copied) => {
  expect(isSameValue(sent, copied)).toBe(false);
});

const row = { productNumber: 'desk-1', name: 'Desk', salePrice: '129.0' };
const product = { id: '7', ...row, salePrice: '129.0000' };
const other = { ...product, id: '8', productNumber: 'lamp-1' };
const locked = { isLocked: () => true };

test.each<[what: string, WrittenEvidence['products'], more: Partial<WrittenEvidence>, ...found: string[]]>([
  ['have no problem if each row has one', [{ ...product, productNumber: 'DESK-1 ' }], {}],
  ['need not exist after a failed run', [], { isComplete: false }],
  ['may differ if they are locked', [{ ...product, name: 'old' }], locked],
  [
    'are those of the last row of a key',
    [product],
    { rows: [{ ...row, name: 'older', salePrice: '1.0' }, row] },
  ],
  [
    'need not exist for a row that the service rejects',
    [product],
    { rows: [row, { ...row, productNumber: 'x', name: '' }] },
  ],
  [
    'may have another time of their last change',
    [{ ...product, updatedAt: '2026-02-01' }],
    { before: [{ ...product, updatedAt: '2026-01-31' }] },
  ],
  [
    'may have a value where they had none',
    [{ ...product, brand: 'Oak' }],
    { before: [{ ...product, brand: null }] },
  ],
  [
    'lose what no row says',
    [{ ...product, brand: null }],
    { before: [{ ...product, brand: 'Oak' }] },
    'brand of product "desk-1" is null in the service. It was "Oak", and the row does not have the field.',
  ],
  [
    'are not as their row says',
    [{ ...product, name: 'X' }],
    { before: [product] },
    'name of product "desk-1" is "X" in the service and "Desk" in the row.',
  ],
  ['are of no row', [product, other], {}, 'No row has the product "lamp-1".'],
  ['are gone without a row', [product], { before: [product, other] }, 'There is no product "lamp-1".'],
])('products %s', (_, products, more, ...found) => {
  expect(judgeProducts({ rows: [row], products, isComplete: true, ...more })).toEqual(found);
});
