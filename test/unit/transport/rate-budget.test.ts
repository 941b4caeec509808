import { expect, test } from 'vitest';
import { Budget, type Ticket } from '../../../src/transport/rate-budget.ts';

const LIMIT = 100;
const NOW = 1_700_000_000_000;

/** A budget that has shown a whole window and has room for many calls at once. */
function seasoned(remaining: number): Budget {
  const budget = new Budget();
  for (const first of [true, false]) {
    const ticket = send(budget);
    budget.end(ticket);
    budget.answered(ticket, remaining, LIMIT, NOW);
    budget.opened(0, first);
  }
  budget.ramp = 1_000;
  return budget;
}

function send(budget: Budget, now = NOW): Ticket {
  const ticket = budget.take(now);
  budget.sent(ticket, now);
  return ticket;
}

function answer(budget: Budget, ticket: Ticket, remaining: number, now = NOW + 10): number {
  budget.end(ticket);
  return budget.answered(ticket, remaining, LIMIT, now);
}

/** How many calls still fit. */
function room(budget: Budget): number {
  const tickets: Ticket[] = [];
  while (tickets.length < 1_000 && budget.fits(NOW)) tickets.push(send(budget));
  for (const ticket of tickets) budget.end(ticket);
  return tickets.length;
}

test('what is on its way counts, answers in any order', () => {
  const budget = seasoned(10);
  const tickets = Array.from({ length: 4 }, () => send(budget));
  expect(room(budget)).toBe(6);
  answer(budget, tickets[2] as Ticket, 7);
  answer(budget, tickets[0] as Ticket, 9);
  expect(room(budget)).toBe(5);
  answer(budget, tickets[3] as Ticket, 6);
  answer(budget, tickets[1] as Ticket, 8);
  expect(room(budget)).toBe(6);
});

test('only a part of what is new is sent at once before a whole window was seen', () => {
  const budget = new Budget();
  answer(budget, send(budget), 40);
  budget.ramp = 1_000;
  expect(room(budget)).toBe(40 / 4);
  budget.opened(0, true);
  expect(room(budget)).toBe(40 / 4);
  budget.opened(0, false);
  expect(room(budget)).toBe(40);
});

test('more at once with each answer, fewer after a refusal', () => {
  const budget = new Budget();
  answer(budget, send(budget), 99);
  const first = room(budget);
  expect(first).toBe(5);
  for (let count = 0; count < 10; count += 1) answer(budget, send(budget), 98 - count);
  expect(room(budget)).toBe(first + 10);
  const refused = send(budget);
  budget.end(refused);
  budget.refused(refused, NOW);
  expect(budget.ramp).toBe(2);
});

test('a window that opens in the middle of a burst is seen by how much the budget grew', () => {
  const budget = seasoned(20);
  const [old, first, second] = [send(budget), send(budget), send(budget)];
  expect(answer(budget, first, 99)).toBe(80);
  expect(answer(budget, second, 98)).toBe(0);
  expect(answer(budget, old, 17)).toBe(0);
  expect(room(budget)).toBe(98);
});

test('a small growth that other calls may have used up already is not counted on', () => {
  const budget = seasoned(4);
  const [slow, ...others] = Array.from({ length: 4 }, () => send(budget)) as [Ticket, ...Ticket[]];
  for (const [index, ticket] of others.entries()) answer(budget, ticket, 3 - index);
  // Counted first, answered last: the service had four left then.
  answer(budget, slow, 4);
  expect(room(budget)).toBeLessThanOrEqual(1);
});

test('a call without an answer is taken to have been counted', () => {
  const budget = seasoned(10);
  const ticket = send(budget);
  budget.end(ticket);
  budget.unanswered(ticket);
  expect(room(budget)).toBe(9);
});

test('another user of the key is noticed, and left a part', () => {
  const budget = seasoned(80);
  expect(budget.shared).toBe(false);
  answer(budget, send(budget), 60, NOW + 10);
  expect(budget.shared).toBe(true);
  // A quarter, less the two that are never for use.
  expect(room(budget)).toBe(Math.ceil((60 - 2) / 4));
  for (let window = 0; window < 10; window += 1) budget.opened(0, false);
  expect(budget.shared).toBe(false);
});

test('one call less than expected is put down to rounding, and a smaller limit to the service', () => {
  const rounding = seasoned(80);
  answer(rounding, send(rounding), 78);
  expect(rounding.shared).toBe(false);

  const smaller = seasoned(80);
  const ticket = send(smaller);
  smaller.end(ticket);
  smaller.answered(ticket, 40, 50, NOW + 10);
  expect(smaller.shared).toBe(false);
});

test('half of a window is left to others for a while, and said for how long', () => {
  const budget = seasoned(90);
  answer(budget, send(budget), 80);
  const until = NOW + 1_000;
  budget.opened(until, false);
  const ticket = send(budget);
  answer(budget, ticket, 40);
  expect(budget.isSpent(NOW)).toBe(true);
  expect(budget.moreAt(NOW)).toBe(until);
  expect(budget.isSpent(until)).toBe(false);
  expect(budget.moreAt(until)).toBeUndefined();
});

test('after a silence what is known may be old: one call first, where the key is shared', () => {
  const alone = seasoned(80);
  alone.doubt(NOW + 60_000);
  expect(alone.ramp).toBe(16);

  const shared = seasoned(80);
  answer(shared, send(shared), 60);
  shared.doubt(NOW + 20);
  expect(shared.ramp).toBeGreaterThan(1);
  shared.doubt(NOW + 1_000);
  expect(shared.ramp).toBe(1);
});

test('after a silence the first calls are few, unless some are on their way', () => {
  const silent = (ms: number, change: (budget: Budget) => void = () => {}) => {
    const budget = seasoned(80);
    change(budget);
    budget.doubt(NOW + ms);
    return budget.ramp;
  };
  expect([silent(10_000), silent(10_001)]).toEqual([1_000, 16]);
  expect(silent(60_000, (budget) => void send(budget))).toBe(1_000);
  const few = (budget: Budget) => {
    budget.ramp = 3;
  };
  expect(silent(60_000, few)).toBe(3);
  // What was left to others may have been found by them.
  const left = (budget: Budget) => budget.opened(NOW + 500, false);
  expect([silent(499, left), silent(500, left)]).toEqual([1_000, 1]);
  const shared = (budget: Budget) => void answer(budget, send(budget), 60, NOW);
  expect([silent(100, shared), silent(101, shared)]).toEqual([1_001, 1]);
});

test('growth is a leap from a tenth of the limit on, and from three calls on', () => {
  const leaps = (limit: number) => {
    const budget = new Budget();
    const ticket = send(budget);
    budget.end(ticket);
    budget.answered(ticket, 1, limit, NOW);
    return [1, 2, 3, 9, 10, 99, 100].filter((grown) => budget.isLeap(grown));
  };
  expect(leaps(100)).toEqual([10, 99, 100]);
  expect(leaps(10)).toEqual([3, 9, 10, 99, 100]);
  expect(leaps(1_000)).toEqual([100]);
  expect([new Budget().isLeap(2), new Budget().isLeap(3)]).toEqual([false, true]);
});

test('of a bucket that fills little by little a little is left in it', () => {
  const bucket = seasoned(10);
  bucket.refills = true;
  expect(room(bucket)).toBe(10 - 2);

  const shared = seasoned(20);
  shared.refills = true;
  answer(shared, send(shared), 12);
  expect(room(shared)).toBe(Math.ceil((12 - 2) / 4));

  const small = new Budget();
  const ticket = send(small);
  small.end(ticket);
  small.answered(ticket, 10, 30, NOW);
  small.refills = true;
  small.ramp = 1_000;
  expect(room(small)).toBe(10 - 1);
});

test('a tenth of a new window is left for a while to others who may come', () => {
  const budget = seasoned(90);
  budget.opened(NOW + 1_000, false);
  expect(room(budget)).toBe(90 - 9);
  expect(budget.moreAt(NOW)).toBe(NOW + 1_000);
  answer(budget, send(budget), 0);
  // Nothing is left, so nothing comes back when the time is over.
  expect(budget.moreAt(NOW)).toBeUndefined();
});

test('a call for which there was budget and that was refused shows another user, a probe does not', () => {
  const refuse = (budget: Budget, ticket: Ticket) => {
    budget.end(ticket);
    budget.refused(ticket, NOW);
    return budget.shared;
  };
  const counted = seasoned(10);
  expect(refuse(counted, send(counted))).toBe(true);
  const spent = seasoned(0);
  expect(refuse(spent, send(spent))).toBe(false);

  // Sent in the window before: that one may have been spent.
  const opened = seasoned(10);
  const [old, first] = [send(opened), send(opened)];
  answer(opened, first, 99);
  expect(refuse(opened, old)).toBe(false);
  expect(opened.isSpent(NOW)).toBe(true);
});

test('an early look is taken only where the key is shared and two calls can be spared', () => {
  const alone = seasoned(50);
  expect(alone.canSpare).toBe(false);
  const shared = (remaining: number) => {
    const budget = seasoned(80);
    answer(budget, send(budget), remaining);
    return budget.canSpare;
  };
  expect([shared(2), shared(1)]).toEqual([true, false]);
});

test('a call whose end is never reported counts for half a minute', () => {
  const budget = seasoned(10);
  send(budget, NOW);
  send(budget, NOW + 1_000);
  budget.dropLost(NOW + 29_999);
  expect(budget.inFlight).toBe(2);
  budget.dropLost(NOW + 30_000);
  expect(budget.inFlight).toBe(1);
  budget.dropLost(NOW + 31_000);
  expect(budget.inFlight).toBe(0);
});

test('the answer to a call from before a small growth still holds where it is lower', () => {
  for (const [late, expected] of [
    [3, 3],
    [9, 4],
  ] as const) {
    const budget = seasoned(4);
    const [old, growing] = [send(budget), send(budget)];
    expect(answer(budget, growing, 5)).toBe(2);
    expect(room(budget)).toBe(4);
    answer(budget, old, late);
    expect(room(budget)).toBe(expected);
  }
});

test('a lost call of the window before costs the new one nothing', () => {
  const budget = seasoned(10);
  const [lost, first] = [send(budget), send(budget)];
  answer(budget, first, 99);
  budget.end(lost);
  budget.unanswered(lost);
  expect(room(budget)).toBe(99);
});

test('where others use the key, a late answer from the window before still costs one call', () => {
  const budget = seasoned(80);
  answer(budget, send(budget), 60);
  const [old, first] = [send(budget), send(budget)];
  answer(budget, first, 99);
  answer(budget, old, 17);
  expect(room(budget)).toBe((98 - 2) / 4);
});
