import { describe, expect, test } from 'vitest';
import { type Evidence, explain, judge } from '../../../src/testing/connector/judge-copy.ts';
import { judgeProducts } from '../../../src/testing/connector/judge-products.ts';
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

function findings(given: Given): string[] {
  return judge(evidenceOf(given)).map(({ kind, ids }) => `${kind} ${ids.join(' ')}`);
}

function sentences({ total = 2, ...given }: Given & { total?: number }): string[] {
  const evidence = { ...evidenceOf(given), collection: 'accounts', total };
  return judge(evidence).map((finding) => explain(finding, evidence));
}

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

describe('the sentence', () => {
  const page = { request: 1, ids: ['2'], isLaterPage: true };

  test('about a missing record names the change that moved it to another page', () => {
    const timeline = seen([[A, B], [A]]);
    timeline.addPage(page);
    expect(sentences({ timeline, copy: [B] })).toEqual([
      '1 of 2 accounts is missing from the copy (id 1). No response of the run contained record 1: it moved to a page that had been requested already when record 2 was deleted in state 3.',
    ]);
  });

  test('about a missing record counts the changes if it was not on a later page, and says if there were none', () => {
    const timeline = seen([[A, B], [A], [NEW]]);
    timeline.addPage({ ...page, isLaterPage: false });
    expect(sentences({ timeline, copy: [] })[0]).toContain(
      ' No response of the run contained record 1. During the run, record 2 was deleted in state 3, the first of 2 changes.',
    );
    const quiet = seen([]);
    quiet.addPage(page);
    expect(sentences({ timeline: quiet, copy: [B] })[0]).toContain(
      ' No response of the run contained record 1, and nothing changed meanwhile.',
    );
  });

  test('about a stale record names its change and the response that had the new version', () => {
    const timeline = seen([[NEW, B]], 0);
    expect(sentences({ timeline, copy: [A, B] })).toEqual([
      '1 of 2 accounts is stale in the copy (id 1). Record 1 was changed in state 2; no response of the run contained it.',
    ]);
    timeline.addPage({ ...page, request: 2, ids: ['1'] });
    expect(sentences({ timeline, copy: [A, B] })[0]).toContain(
      ' in state 2; the response to request 2 contained the new version.',
    );
  });

  test('about a wrong value shows both', () => {
    expect(sentences({ copy: [{ ...A, salePrice: 12.6 }, B] })).toEqual([
      '1 of 2 accounts has a wrong value in the copy (id 1). salePrice of record 1 is 12.6 in the copy and "12.5000" in the service.',
    ]);
  });

  test('about a record that is doubled, deleted or unknown says so', () => {
    expect(sentences({ copy: [A, A, B] })[0]).toContain('Record 1 is in the copy 2 times.');
    expect(sentences({ timeline: seen([[B]], 0), copy: [A, B] })[0]).toContain(
      'Record 1 was deleted in state 2.',
    );
    expect(sentences({ copy: [A, B, { id: '9', name: 'C' }] })[0]).toContain(
      'The service never had record 9.',
    );
  });
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

describe('written products', () => {
  const row = { productNumber: 'desk-1', name: 'Desk', salePrice: '129.0' };
  const product = { id: '7', ...row, salePrice: '129.0000' };
  const problems = (
    products: Parameters<typeof judgeProducts>[0]['products'],
    { isComplete = true, locked = new Set<string>() } = {},
  ) => judgeProducts({ rows: [row], products, isComplete, locked });

  test('have no problem if each row has one with its values', () => {
    expect(problems([product])).toEqual([]);
    expect(problems([{ ...product, productNumber: 'DESK-1 ' }])).toEqual([]);
  });

  test('are doubled, missing, different or of no row', () => {
    expect(problems([product, { ...product, id: '8', productNumber: 'DESK-1' }])).toEqual([
      'There are 2 products "desk-1" (ids 7, 8).',
    ]);
    expect(
      problems([
        { ...product, name: 'old' },
        { ...product, id: '8' },
      ]),
    ).toHaveLength(1);
    expect(problems([])).toEqual(['There is no product "desk-1".']);
    expect(problems([{ ...product, salePrice: '129.0001' }])).toEqual([
      'salePrice of product "desk-1" is "129.0001" in the service and "129.0" in the row.',
    ]);
    expect(problems([product, { ...product, id: '8', productNumber: 'desk-2' }])).toEqual([
      'No row has the product "desk-2".',
    ]);
  });

  test('of a failed run may be missing or different, not doubled; locked ones may differ', () => {
    expect(problems([], { isComplete: false })).toEqual([]);
    expect(problems([{ ...product, name: 'old' }], { isComplete: false })).toEqual([]);
    expect(problems([product, { ...product, id: '8' }], { isComplete: false })).toHaveLength(1);
    const locked = new Set(['desk-1']);
    expect(problems([{ ...product, name: 'old' }], { locked })).toEqual([]);
    expect(problems([], { locked })).toEqual(['There is no product "desk-1".']);
  });

  test('keep what no row says: other fields, their id, and other products', () => {
    const stored = { ...product, brand: 'Oak & Co', color: null, updatedAt: '2026-01-31T12:00:00Z' };
    const other = { id: '9', productNumber: 'lamp-1', name: 'Lamp' };
    const wrong = (products: readonly Fields[], isComplete = true) =>
      judgeProducts({ rows: [row], before: [{ ...stored, name: 'old' }, other], products, isComplete });
    expect(wrong([{ ...stored, color: 'red', updatedAt: '2026-02-01T12:00:00Z' }, other])).toEqual([]);
    expect(wrong([{ ...stored, brand: null }, other], false)).toEqual([
      'brand of product "desk-1" is null in the service. It was "Oak & Co", and the row does not have the field.',
    ]);
    expect(wrong([{ ...stored, id: '10' }, other])).toHaveLength(1);
    expect(wrong([stored, { ...other, name: 'new' }], false)).toHaveLength(1);
    expect(wrong([], false)).toEqual(['There is no product "desk-1".', 'There is no product "lamp-1".']);
  });
});
