import { describe, expect, test } from 'vitest';
import { IdSet } from '../../../src/sync/id-set.ts';

function idSet(ids: Iterable<string>): IdSet {
  const set = new IdSet();
  for (const id of ids) set.add(id);
  set.seal();
  return set;
}

describe('a set of ids', () => {
  test('knows what was not seen, in whatever order it came', () => {
    const ids = Array.from({ length: 5000 }, (_, n) => String((n * 7919) % 100_003));
    const set = idSet(ids);
    expect(set.size).toBe(5000);
    for (const id of ids.slice(10)) expect(set.see(id)).toBe(true);
    expect([...set.unseen()].toSorted()).toEqual(ids.slice(0, 10).toSorted());
    expect(set.countUnseen()).toBe(10);
  });

  test.each([1023, 1024, 1025, 2049])('holds %i ids, all of them', (count) => {
    const ids = Array.from({ length: count }, (_, n) => String(count - n));
    const set = idSet(ids);
    expect(set.size).toBe(count);
    expect(set.countUnseen()).toBe(count);
    for (const id of ids) expect(set.see(id)).toBe(true);
    expect(set.countUnseen()).toBe(0);
  });

  test('notes one id and none of its neighbours', () => {
    for (const seen of ['1', '8', '9', '16', '20']) {
      const set = idSet(Array.from({ length: 20 }, (_, n) => String(n + 1)));
      expect(set.see(seen)).toBe(true);
      expect([...set.unseen()]).toEqual(
        Array.from({ length: 20 }, (_, n) => String(n + 1)).filter((id) => id !== seen),
      );
    }
  });

  test.each([1, 2, 3, 4, 5])('finds each of %i ids', (count) => {
    const ids = Array.from({ length: count }, (_, n) => String(n + 5));
    for (const id of ids) expect(idSet([...ids, ...ids]).see(id)).toBe(true);
  });

  test('knows its greatest and its least number', () => {
    const set = idSet(['999999999999999', '0']);
    expect([set.see('0'), set.see('999999999999999'), set.see('1000000000000000')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('has seen other ids only when they were shown', () => {
    const set = idSet(['a', 'b', '1000000000000000']);
    expect([set.see('a'), set.see('c'), set.see('1000000000000000')]).toEqual([true, false, true]);
    expect([...set.unseen()]).toEqual(['b']);
    expect(set.size).toBe(3);
  });

  test('counts each id once', () => {
    const set = idSet(['1', '1', 'a', 'a', '0', '0', '01']);
    expect([...set.unseen()]).toEqual(['0', '1', 'a', '01']);
    expect(set.size).toBe(4);
  });

  test('tells numbers apart that a double does not', () => {
    const set = idSet(['9007199254740992', '9007199254740993']);
    expect(set.see('9007199254740993')).toBe(true);
    expect([...set.unseen()]).toEqual(['9007199254740992']);
  });

  test('knows nothing that was not taken in', () => {
    const set = idSet(['5', '7']);
    for (const id of ['4', '6', '8', '05', '5.0', 'x']) expect(set.see(id)).toBe(false);
    expect(idSet([]).see('1')).toBe(false);
  });
});
