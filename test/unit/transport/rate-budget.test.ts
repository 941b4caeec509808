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
  expect(room(budget)).toBeLessThanOrEqual(20);
});

test('more at once with each answer, fewer after a refusal', () => {
  const budget = new Budget();
  answer(budget, send(budget), 99);
  const first = room(budget);
  for (let count = 0; count < 10; count += 1) answer(budget, send(budget), 98 - count);
  expect(room(budget)).toBe(first + 10);
  const refused = send(budget);
  budget.end(refused);
  budget.refused(refused, NOW);
  expect(budget.ramp).toBeLessThan(first);
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
  expect(room(budget)).toBeLessThanOrEqual(60 / 4);
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
