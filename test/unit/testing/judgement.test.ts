import { describe, expect, test } from 'vitest';
import { judgeProducts } from '../../../src/testing/connector/judge-products.ts';
import { type Evidence, judge, describe as sentenceOf } from '../../../src/testing/connector/judgement.ts';
import { isSameValue } from '../../../src/testing/connector/same-value.ts';
import { Timeline } from '../../../src/testing/connector/timeline.ts';

const A = { id: '1', name: 'A', salePrice: '12.5000' };
const B = { id: '2', name: 'B', salePrice: '3.0000' };
const NEW = { ...A, name: 'new' };

/** A service that holds A and B from moment 1 on, and then one state at each further moment. */
function heldOver(...states: readonly Parameters<Timeline['observe']>[0][]): Evidence['versions'] {
  const timeline = new Timeline();
  for (const [n, state] of [[A, B], ...states].entries())
    timeline.observe(state, n + 1, `at moment ${n + 1}`);
  return timeline.versions;
}

const page = { isLaterPage: true };

/** The findings of a run that began at moment 1. */
function findings(evidence: Partial<Evidence> & Pick<Evidence, 'copy'>) {
  const complete = {
    collection: 'accounts',
    versions: heldOver(),
    since: 1,
    responses: [],
    deletions: true,
    ...evidence,
  };
  return judge(complete).map(({ kind, ids }) => `${kind} ${ids.join(' ')}`);
}

function reasons(evidence: Partial<Evidence> & Pick<Evidence, 'copy'>) {
  const complete = {
    collection: 'accounts',
    versions: heldOver(),
    since: 1,
    responses: [],
    deletions: true,
    ...evidence,
  };
  return judge(complete).map(({ reason }) => reason);
}

describe('a copy', () => {
  test('with every record once has no findings', () => {
    expect(findings({ copy: [B, A] })).toEqual([]);
  });

  test('without a record lacks it', () => {
    expect(findings({ copy: [B] })).toEqual(['missing 1']);
  });

  test('with a record twice has it doubled, even if both are right', () => {
    expect(findings({ copy: [A, B, A] })).toEqual(['doubled 1']);
  });

  test('with another digit has a wrong value', () => {
    expect(findings({ copy: [{ ...A, salePrice: '12.5001' }, B] })).toEqual(['wrong 1']);
  });

  test('with a record that never existed is not of this service', () => {
    expect(findings({ copy: [A, B, { id: '3', name: 'C' }] })).toEqual(['unknown 3']);
  });

  test('may have the old or the new version of what changed during the run', () => {
    const versions = heldOver([NEW, B]);
    expect(findings({ versions, copy: [A, B] })).toEqual([]);
    expect(findings({ versions, copy: [NEW, B] })).toEqual([]);
    expect(findings({ versions, copy: [B] })).toEqual(['missing 1']);
  });

  test('must have the new version of what changed before the run', () => {
    const versions = heldOver([NEW, B]);
    expect(findings({ versions, since: 2, copy: [A, B] })).toEqual(['stale 1']);
    expect(findings({ versions, since: 2, copy: [NEW, B] })).toEqual([]);
  });

  test('that mixes two versions has a wrong value', () => {
    const versions = heldOver([{ ...NEW, salePrice: '9.0000' }, B]);
    expect(findings({ versions, copy: [NEW, B] })).toEqual(['wrong 1']);
  });

  test('may have or lack what was deleted, inserted or restored during the run', () => {
    const deleted = heldOver([B]);
    expect(findings({ versions: deleted, copy: [A, B] })).toEqual([]);
    expect(findings({ versions: deleted, copy: [B] })).toEqual([]);
    const inserted = heldOver([A, B, { id: '3', name: 'C' }]);
    expect(findings({ versions: inserted, copy: [A, B] })).toEqual([]);
    expect(findings({ versions: inserted, since: 2, copy: [A, B] })).toEqual(['missing 3']);
    const restored = heldOver([B], [NEW, B]);
    expect(findings({ versions: restored, copy: [B] })).toEqual([]);
    expect(findings({ versions: restored, since: 3, copy: [B] })).toEqual(['missing 1']);
    expect(findings({ versions: restored, since: 3, copy: [A, B] })).toEqual(['stale 1']);
  });

  test('has too much of what was deleted before the run, where deletions count', () => {
    const versions = heldOver([B]);
    expect(findings({ versions, since: 2, copy: [A, B] })).toEqual(['extra 1']);
    expect(findings({ versions, since: 2, copy: [A, B], deletions: false })).toEqual([]);
  });

  test('may have or lack hidden records', () => {
    expect(findings({ copy: [B], hidden: new Set(['1']) })).toEqual([]);
    expect(findings({ copy: [{ ...A, name: 'old' }, B], hidden: new Set(['1']) })).toEqual([]);
  });

  test('of a failed run may be stale and incomplete, but keeps what it held', () => {
    const versions = heldOver([NEW, B]);
    expect(findings({ versions, since: 2, copy: [A], heldBefore: new Set(['1']) })).toEqual([]);
    expect(findings({ versions, since: 2, copy: [], heldBefore: new Set(['1']) })).toEqual(['missing 1']);
    expect(findings({ copy: [A, A], heldBefore: new Set() })).toEqual(['doubled 1']);
    expect(findings({ copy: [A, B, { id: '3', name: 'C' }], heldBefore: new Set() })).toEqual(['unknown 3']);
    expect(findings({ copy: [{ ...A, salePrice: '1.0000' }], heldBefore: new Set() })).toEqual(['wrong 1']);
  });

  test('is compared by the fields that it has', () => {
    expect(
      findings({
        copy: [
          { id: 1, name: 'A' },
          { id: '2', sale_price: 3 },
        ],
      }),
    ).toEqual([]);
    expect(findings({ copy: [A, { ID: '2', SALEPRICE: '3.5' }] })).toEqual(['wrong 2']);
  });
});

describe('the reason', () => {
  test('of a missing record names the change that moved it to another page', () => {
    const versions = heldOver([A, B], [A]);
    const responses = [{ at: 1, request: 1, ids: ['2'], ...page }];
    expect(reasons({ versions, copy: [B], responses })).toEqual([
      'No response contained them: they moved to pages that had been requested already when record 2 was deleted at moment 3.',
    ]);
  });

  test('of a missing record names the response that contained it', () => {
    const responses = [{ at: 1, request: 4, ids: ['2', '1'], ...page }];
    expect(reasons({ copy: [B], responses })).toEqual(['The response to request 4 contained record 1.']);
  });

  test('of a missing record says that the collection was not listed', () => {
    expect(reasons({ copy: [B] })).toEqual(['The run did not list the collection.']);
  });

  test('of a stale record names its change and the response that had the new version', () => {
    const versions = heldOver([NEW, B]);
    const responses = [
      { at: 1, request: 1, ids: ['1'], ...page },
      { at: 3, request: 2, ids: ['1'], ...page },
    ];
    const stale = { versions, since: 2, copy: [A, B] };
    expect(reasons({ ...stale, responses })).toEqual([
      'Record 1 was changed at moment 2; the response to request 2 contained the new version.',
    ]);
    expect(reasons({ ...stale, responses: responses.slice(0, 1) })).toEqual([
      'Record 1 was changed at moment 2; no response of the run contained it.',
    ]);
  });

  test('of a wrong value shows both', () => {
    expect(reasons({ copy: [{ ...A, salePrice: 12.6 }, B] })).toEqual([
      'salePrice of record 1 is 12.6 in the copy and "12.5000" in the service.',
    ]);
  });
});

test('a finding is a sentence with a count, some ids and its reason', () => {
  const finding = { kind: 'missing', ids: ['1', '2', '3', '4', '5', '6'], reason: 'Why.' } as const;
  expect(sentenceOf(finding, { collection: 'accounts', total: 120 })).toBe(
    '6 of 120 accounts are missing from the copy (ids 1, 2, 3, 4, 5, …). Why.',
  );
  expect(sentenceOf({ ...finding, kind: 'wrong', ids: ['1'] }, { collection: 'boms', total: 9 })).toBe(
    '1 of 9 boms has a wrong value in the copy (id 1). Why.',
  );
});

test.each([
  ['12.5000', '12.5'],
  ['12.5000', 12.5],
  ['0.0000', 0],
  ['-0.00000001', -1e-8],
  ['1200.0000', 1200],
  ['2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z')],
  ['2026-01-31T12:00:00Z', '2026-01-31T13:00:00+01:00'],
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
      'No row has the products desk-2.',
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
});
