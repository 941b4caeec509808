import { describe, expect, test } from 'vitest';
import { nextTurns, othersOf, type Turn, Turns } from '../../../src/sync/turns.ts';

const PLACES = { w: 'waiting', r: 'reading', a: 'aside', '.': 'ended' } as const;

/** `w0 r0 a1`: the place and the level of each. */
const turnsIn = (text: string): Turn[] =>
  text.split(' ').map((turn) => ({ place: PLACES[turn[0] as keyof typeof PLACES], level: Number(turn[1]) }));

test.each<[string, string, number, number[]]>([
  ['as many as may be read', 'w0 w0 w0', 2, [0, 1]],
  ['another one when one ends', '.0 r0 w0', 2, [2]],
  ['none while all places are taken', 'r0 r0 w0', 2, []],
  ['no child while a parent is read', 'r0 .0 w1', 2, []],
  ['no child while a parent waits', 'w0 w1', 2, [0]],
  ['children when the parents have ended', '.0 .0 w1 w1 w2', 2, [2, 3]],
  ['another one when one steps aside', 'a0 r0 w0', 2, [2]],
  ['children while every parent that is left is aside', 'a0 .0 w1', 1, [2]],
  ['a parent before children when it is back', 'w0 r1 w1', 2, [0]],
  ['nothing when all have ended', '.0 .1', 2, []],
  ['nothing while all are aside', 'a0 a1', 2, []],
])('it is the turn of %s', (_, turns, most, next) => {
  expect(nextTurns(turnsIn(turns), most)).toEqual(next);
});

test.each([
  ['can_go', 'a0 w0'],
  ['can_go', 'a0 a0 r1'],
  ['failing', 'a0 a0 .1'],
  ['none', 'a0 .0'],
  ['none', 'a0'],
])('the others of one: %s in %s', (others, turns) => {
  expect(othersOf(turnsIn(turns), 0)).toBe(others);
});

describe('turns', () => {
  const begun = async (promise: Promise<void>) => {
    let isBegun = false;
    promise.then(
      () => (isBegun = true),
      () => undefined,
    );
    for (let turn = 0; turn < 5; turn++) await undefined;
    return isBegun;
  };
  const setUp = (levels: number[], most: number) => {
    const controller = new AbortController();
    const turns = new Turns(levels, { most, signal: controller.signal, changed: () => undefined });
    return { turns, stop: () => controller.abort(new Error('stopped')) };
  };

  test('go on only when no call of a part waits', async () => {
    const { turns } = setUp([0, 0], 1);
    await turns.begin(0);
    const second = turns.begin(1);
    const way = turns.way(0);
    way.leave();
    way.leave();
    expect(await begun(second)).toBe(true);
    const one = way.enter();
    turns.end(1);
    expect(await begun(one)).toBe(false);
    const other = way.enter();
    expect([await begun(one), await begun(other)]).toEqual([true, true]);
  });

  test('keep a call waiting that may go on while another one of its part steps aside again', async () => {
    const { turns } = setUp([0, 0], 1);
    await turns.begin(0);
    const second = turns.begin(1);
    const way = turns.way(0);
    way.leave();
    await second;
    const one = way.enter();
    way.leave();
    turns.end(1);
    expect(await begun(one)).toBe(false);
    const other = way.enter();
    expect([await begun(one), await begun(other)]).toEqual([true, true]);
  });

  test('end with the reason of the signal', async () => {
    const { turns, stop } = setUp([0, 0], 1);
    await turns.begin(0);
    const waiting = [turns.begin(1), turns.way(0).enter()];
    stop();
    for (const one of waiting) await expect(one).rejects.toThrow('stopped');
  });
});
