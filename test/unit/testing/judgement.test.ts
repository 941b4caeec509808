import { expect, test } from 'vitest';
import { type Evidence, idsByKind, judgeCopy } from '../../../src/testing/connector/judge-copy.ts';
import { judgeProducts, type WrittenEvidence } from '../../../src/testing/connector/judge-products.ts';
import { copyOf, isSameValue } from '../../../src/testing/connector/same-value.ts';
import { type Fields, Timeline } from '../../../src/testing/connector/timeline.ts';

const A = { id: '1', name: 'A', salePrice: '12.5000' };
const B = { id: '2', name: 'B', salePrice: '3.0000' };
const NEW = { ...A, name: 'new' };

/** A service that held A and B at first, and then each of these states. */
function held(...states: readonly (readonly (typeof A)[])[]): Timeline {
  const timeline = new Timeline();
  for (const [n, state] of [[A, B], ...states].entries()) timeline.observe(state, `in state ${n + 1}`);
  return timeline;
}

/** The same, with a run that began in the last but so many states. */
function seen(states: readonly (readonly (typeof A)[])[], duringRun = states.length): Timeline {
  const before = states.slice(0, states.length - duringRun);
  const timeline = held(...before);
  timeline.beginRun();
  for (const [n, state] of states.slice(before.length).entries())
    timeline.observe(state, `in state ${before.length + n + 2}`);
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
  ['with the new version of what changed during the run', { timeline: changed, copy: [NEW, B] }],
  ['without what changed during the run', { timeline: changed, copy: [B] }, 'missing 1'],
  ['with the old version of what changed before', { timeline: changedBefore, copy: [A, B] }, 'stale 1'],
  ['with the new version of what changed before', { timeline: changedBefore, copy: [NEW, B] }],
  ['that mixes two versions', { timeline: twoChanges, copy: [NEW, B] }, 'wrong 1'],
  ['with what was deleted during the run', { timeline: deleted, copy: [A, B] }],
  ['without what was deleted during the run', { timeline: deleted, copy: [B] }],
  ['with what was deleted before', { timeline: deletedBefore, copy: [A, B] }, 'extra 1'],
  ['that may keep it', { timeline: deletedBefore, copy: [A, B], mayKeepDeleted: true }],
  ['without what was inserted during the run', { timeline: seen([[A, B, C]]), copy: [A, B] }],
  ['without what was inserted before', { timeline: seen([[A, B, C]], 0), copy: [A, B] }, 'missing 3'],
  ['without what was restored during the run', { timeline: restored, copy: [B] }],
  ['without what was restored before', { timeline: restoredBefore, copy: [B] }, 'missing 1'],
  ['with the version before it was restored', { timeline: restoredBefore, copy: [A, B] }, 'stale 1'],
  ['of a failed run that is stale', { timeline: changedBefore, copy: [A], heldBefore: ['1'] }],
  ['of a failed run that lost a record', { copy: [], heldBefore: ['1'] }, 'missing 1'],
  [
    'of a failed run that keeps what was deleted',
    { timeline: deletedBefore, copy: [A, B], heldBefore: ['1'] },
  ],
  ['of a failed run with a record twice', { copy: [A, A], heldBefore: [] }, 'doubled 1'],
  ['of a failed run with a record that never existed', { copy: [A, B, C], heldBefore: [] }, 'unknown 3'],
  [
    'of a failed run with another digit',
    { copy: [{ ...A, salePrice: '1.0000' }], heldBefore: [] },
    'wrong 1',
  ],
  [
    'with other fields and types',
    {
      copy: [
        { id: 1, name: 'A' },
        { id: '2', sale_price: 3 },
      ],
    },
  ],
  ['with columns of another case', { copy: [A, { ID: '2', SALEPRICE: '3.5' }] }, 'wrong 2'],
])('a copy %s has the findings that are listed here', (_, given, ...found) => {
  expect(findings(given)).toEqual(found);
});

test('a finding is a sentence with the ids, what happened to the first, and whether a response contained it', () => {
  const changedBefore = seen([[NEW, B]], 0);
  expect(sentences({ copy: [B] })).toEqual([
    '1 of 2 accounts is missing from the copy (id 1). The run did not list the collection.',
  ]);
  changedBefore.addPage(2, ['2']);
  expect(sentences({ timeline: changedBefore, copy: [] })).toEqual([
    '2 of 2 accounts are missing from the copy (ids 1, 2). No response of the run contained record 1.',
  ]);
  expect(sentences({ timeline: changedBefore, copy: [A, B] })).toEqual([
    '1 of 2 accounts is stale in the copy (id 1). Record 1 was changed in state 2. No response of the run contained the new version.',
  ]);
  changedBefore.addPage(5, ['1']);
  expect(sentences({ timeline: changedBefore, copy: [A, B] })[0]).toContain(
    ' The response to request 5 contained the new version.',
  );
  expect(
    sentences({
      copy: [{ ...A, salePrice: 12.6 }, B, B, C],
      timeline: seen(
        [
          [A, B, C],
          [A, B],
        ],
        0,
      ),
    }),
  ).toEqual([
    '1 of 2 accounts has a wrong value in the copy (id 1). salePrice of record 1 is 12.6 in the copy and "12.5000" in the service.',
    '1 of 2 accounts is in the copy more than once (id 2). Record 2 is in the copy 2 times.',
    '1 of 2 accounts is still in the copy, but was deleted (id 3). Record 3 was deleted in state 3.',
  ]);
  const many = Array.from({ length: 7 }, (_, n) => ({ id: `9${n}`, name: 'X' }));
  expect(sentences({ copy: [A, B, ...many] })).toEqual([
    '7 of 2 accounts are in the copy, but never existed (ids 90, 91, 92, 93, 94, …). The service never had record 90.',
  ]);
  expect(sentences({ copy: [], heldBefore: ['1'] })).toEqual([
    '1 of 2 accounts is missing from the copy (id 1). The copy had record 1 before the run, and the service still has it.',
  ]);
});

test.each([
  ['12.5000', '12.5'],
  ['12.5000', 12.5],
  ['0.0000', 0],
  ['-0.00000001', -1e-8],
  ['1200.0000', 1200],
  ['2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z')],
  ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00'],
  ['2026-01-31T12:00:00Z', '2026-01-31 12:00:00'],
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000'],
  ['34', 34],
  [true, 1],
  [false, 'f'],
  [null, undefined],
  [7, '7'],
  [['a', { b: 1, c: 2 }], '["a",{"c":2,"b":1}]'],
])('a copy may hold %j as %j', (sent, copied) => {
  expect(isSameValue(sent, copied)).toBe(true);
});

test.each([
  ['123456789012345678.12345678', Number('123456789012345678.12345678')],
  ['12345678901234567.8901', '12345678901234567.89'],
  ['12.5000', '-12.5000'],
  ['1200.0000', '12'],
  ['0.10', '0.01'],
  ['12.5000', '12.5 EUR'],
  ['12.5000', ''],
  ['007', '7'],
  ['007', 7],
  ['34', 35],
  ['034', 34],
  ['A', 'a'],
  ['A', null],
  [null, ''],
  [null, 0],
  [true, 0],
  [false, 'no'],
  [false, null],
  [7, '7.5'],
  [['a'], '["b"]'],
  [['a'], 'a'],
  ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00Z'],
])('a copy must not hold %j as %j', (sent, copied) => {
  expect(isSameValue(sent, copied)).toBe(false);
});

const row = { productNumber: 'desk-1', name: 'Desk', salePrice: '129.0' };
const product = { id: '7', ...row, salePrice: '129.0000' };
const old = { ...product, name: 'old', brand: 'Oak & Co', color: null };
const other = { id: '9', productNumber: 'lamp-1', name: 'Lamp' };
const failed = { isComplete: false };
const existing = { before: [old, other] };

test.each<
  [what: string, products: WrittenEvidence['products'], given: Partial<WrittenEvidence>, ...found: string[]]
>([
  ['have no problem if each row has one', [product], {}],
  ['may have a key in another form', [{ ...product, productNumber: 'DESK-1 ' }], {}],
  [
    'are doubled, in a failed run too',
    [product, { ...product, id: '8', productNumber: 'DESK-1' }],
    failed,
    'There are 2 products "desk-1" (ids 7, 8).',
  ],
  ['are missing', [], {}, 'There is no product "desk-1".'],
  ['may be missing after a failed run', [], failed],
  [
    'need not exist for a row without a name',
    [product],
    { rows: [row, { ...row, productNumber: 'b', name: '' }] },
  ],
  [
    'have another digit',
    [{ ...product, salePrice: '129.0001' }],
    {},
    'salePrice of product "desk-1" is "129.0001" in the service and "129.0" in the row.',
  ],
  ['may differ after a failed run', [{ ...product, name: 'old' }], failed],
  ['may differ if they are locked', [{ ...product, name: 'old' }], { isLocked: ({ id }) => id === '7' }],
  [
    'are of no row',
    [product, { ...product, id: '8', productNumber: 'x' }],
    {},
    'No row has the product "x".',
  ],
  ['keep what no row says', [{ ...old, ...product, color: 'red', updatedAt: 'now' }, other], existing],
  [
    'lost a field that no row has',
    [{ ...old, ...product, brand: null }, other],
    { ...existing, ...failed },
    'brand of product "desk-1" is null in the service. It was "Oak & Co", and the row does not have the field.',
  ],
  [
    'are other ones than before',
    [{ ...old, ...product, id: '10' }, other],
    existing,
    'id of product "desk-1" is "10" in the service. It was "7", and the row does not have the field.',
  ],
  [
    'changed without a row, or are gone',
    [{ ...other, name: 'new' }],
    { ...existing, ...failed },
    'There is no product "desk-1".',
    'name of product "lamp-1" is "new" in the service. It was "Lamp", and the row does not have the field.',
  ],
])('products %s', (_, products, given, ...found) => {
  expect(judgeProducts({ rows: [row], products, isComplete: true, ...given })).toEqual(found);
});
