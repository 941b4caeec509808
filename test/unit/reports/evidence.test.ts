import { describe, expect, test } from 'vitest';
import {
  type Evidence,
  type EvidenceFact,
  equalityOf,
  evidenceBeside,
  evidenceFacts,
  evidenceOf,
  isEvidence,
  joinedEvidence,
  NO_EVIDENCE,
  verdictOf,
  verdictOfAll,
} from '../../../src/reports/evidence.ts';

const names = Object.keys(evidenceFacts) as EvidenceFact[];
const having = (...facts: EvidenceFact[]): Evidence =>
  evidenceOf(Object.fromEntries(facts.map((name) => [name, true])));
const complete = (...facts: EvidenceFact[]) => verdictOf(having(...facts)).complete;

describe('complete', () => {
  test('is what the table says of a fact alone, and not known without one', () => {
    for (const name of names) expect(complete(name), name).toBe(evidenceFacts[name].complete);
    expect(verdictOf(NO_EVIDENCE)).toEqual({ evidence: { facts: [], longest: 0 }, complete: undefined });
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

test('complete of several collections is that of the weakest', () => {
  const [certain, open] = [having('one_response'), having('first_page')];
  expect(verdictOfAll([certain, certain]).complete).toBe('certain');
  expect(verdictOfAll([certain, NO_EVIDENCE]).complete).toBeUndefined();
  expect(verdictOfAll([certain, open]).complete).toBeUndefined();
  expect(verdictOfAll([open, certain, having('hidden_page'), NO_EVIDENCE]).complete).toBe('likely');
  expect(verdictOfAll([]).complete).toBeUndefined();
});

test('two reads together have the facts of both, each once, in the order of the table', () => {
  const all = names.reduceRight((sum, name) => joinedEvidence(sum, having(name)), NO_EVIDENCE);
  expect(all).toEqual({ facts: names, longest: 0 });
  expect(joinedEvidence(evidenceOf({}, 30), evidenceOf({}, 47)).longest).toBe(47);
  expect(joinedEvidence(all, all)).toEqual(all);
  expect(joinedEvidence(NO_EVIDENCE, NO_EVIDENCE)).toEqual(NO_EVIDENCE);
});

test.each([
  [{ facts: [], longest: 0 }, true],
  [{ facts: names, longest: 30 }, true],
  [{ facts: [] }, false],
  [{ facts: ['another'], longest: 0 }, false],
  [{ facts: 'first_page', longest: 0 }, false],
  [{}, false],
  [null, false],
])('what a store returns is evidence only if its facts are known: %j', (value, expected) => {
  expect(isEvidence(value)).toBe(expected);
});

describe('one response beside those of other collections', () => {
  const one = (longest: number) => evidenceOf({ one_response: true }, longest);

  test.each([
    ['as long as another one', one(47), [one(3), evidenceOf({ first_page: true }, 47)], 'likely'],
    ['as long as the pages of another list', one(47), [evidenceOf({ whole_intervals: true }, 47)], 'likely'],
    ['longer than the others', one(47), [one(46), NO_EVIDENCE], 'certain'],
    ['alone', one(47), [], 'certain'],
    ['shorter than ten records', one(9), [one(9)], 'certain'],
    ['that says that nothing follows', evidenceOf({ stated_end: true }, 47), [one(47)], 'certain'],
  ])('%s', (_, evidence, others, expected) => {
    expect(verdictOf(evidenceBeside(evidence, others)).complete).toBe(expected);
  });
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
