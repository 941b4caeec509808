import { describe, expect, it } from 'vitest';
import { IdSet } from '../../../src/sync/id-set.ts';

function idSet(ids: Iterable<string>): IdSet {
  const set = new IdSet();
  for (const id of ids) set.add(id);
  set.seal();
  return set;
}

describe('a set of ids', () => {
  it('knows what was not seen, in whatever order it came', () => {
    const ids = Array.from({ length: 5000 }, (_, n) => String((n * 7919) % 100_003));
    const set = idSet(ids);
    expect(set.size).toBe(5000);
    for (const id of ids.slice(10)) expect(set.see(id)).toBe(true);
    expect([...set.unseen()].toSorted()).toEqual(ids.slice(0, 10).toSorted());
    expect(set.countUnseen()).toBe(10);
  });

  it('counts each id once', () => {
    const set = idSet(['1', '1', 'a', 'a', '0', '0', '01']);
    expect([...set.unseen()]).toEqual(['0', '1', 'a', '01']);
    expect(set.size).toBe(4);
  });

  it('tells numbers apart that a double does not', () => {
    const set = idSet(['9007199254740992', '9007199254740993']);
    expect(set.see('9007199254740993')).toBe(true);
    expect([...set.unseen()]).toEqual(['9007199254740992']);
  });

  it('knows nothing that was not taken in', () => {
    const set = idSet(['5', '7']);
    for (const id of ['4', '6', '8', '05', '5.0', 'x']) expect(set.see(id)).toBe(false);
    expect(idSet([]).see('1')).toBe(false);
  });
});
