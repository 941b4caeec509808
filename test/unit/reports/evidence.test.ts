import { describe, expect, test } from 'vitest';
import {
  type Evidence,
  type EvidenceFact,
  equalityOf,
  evidenceFacts,
  evidenceOf,
  isEvidence,
  joinedEvidence,
  NO_EVIDENCE,
  verdictOf,
} from '../../../src/reports/evidence.ts';

const names = Object.keys(evidenceFacts) as EvidenceFact[];
const having = (...facts: EvidenceFact[]): Evidence =>
  evidenceOf(Object.fromEntries(facts.map((name) => [name, true])));
const complete = (...facts: EvidenceFact[]) => verdictOf(having(...facts)).complete;

describe('complete', () => {
  test('is what the table says of a fact alone, and not known without one', () => {
    for (const name of names) expect(complete(name), name).toBe(evidenceFacts[name].complete);
    expect(verdictOf(NO_EVIDENCE)).toEqual({ evidence: { facts: [] }, complete: undefined });
  });

  test('is that of the weakest fact: likely, then not known, then certain', () => {
    for (const a of names) {
      for (const b of names) {
        const both = [evidenceFacts[a].complete, evidenceFacts[b].complete];
        const weakest = both.includes('likely') ? 'likely' : both.includes(undefined) ? undefined : 'certain';
        expect(complete(a, b), `${a} ${b}`).toBe(weakest);
      }
    }
  });
});

test('two reads together have the facts of both, each once, in the order of the table', () => {
  const all = names.reduceRight((sum, name) => joinedEvidence(sum, having(name)), NO_EVIDENCE);
  expect(all).toEqual({ facts: names });
  expect(joinedEvidence(all, all)).toEqual(all);
  expect(joinedEvidence(NO_EVIDENCE, NO_EVIDENCE)).toEqual(NO_EVIDENCE);
});

test.each([
  [{ facts: [] }, true],
  [{ facts: names }, true],
  [{ facts: ['another'] }, false],
  [{ facts: 'first_page' }, false],
  [{}, false],
  [null, false],
])('what a store returns is evidence only if its facts are known: %j', (value, expected) => {
  expect(isEvidence(value)).toBe(expected);
});

describe('a copy', () => {
  const certain = { evidence: having('whole_intervals'), differences: 0, unconfirmed: 0 };

  test.each([
    ['each read is certain', [certain, certain], true],
    ['one read is likely', [certain, { ...certain, evidence: having('hidden_page') }], 'likely'],
    ['of one read nothing is known', [certain, { ...certain, evidence: having('first_page') }], 'likely'],
    ['nothing was read of one', [certain, { ...certain, evidence: NO_EVIDENCE }], 'likely'],
    ['one has records that could not be compared', [certain, { ...certain, unconfirmed: 1 }], 'likely'],
    [
      'one differs',
      [
        { ...certain, unconfirmed: 1 },
        { ...certain, differences: 1 },
      ],
      false,
    ],
  ])('if %s, is equal: %o', (_, collections, expected) => {
    expect(equalityOf(collections)).toEqual({ equal: expected });
  });
});
